"""How an answer is found: from a task to all that a model keeps.

A fit makes a plan, builds the matrix the plan names, has its solver work on it and certifies what comes out; `kernel`,
`linear` and `local` do so for the three families. `factors`, `latent` and `networks` are fits of their relatives, which
end at an optimum near their start: `descent` takes them there, and `frame` brings rows to size one for them. `door` is
the one way in for rows and items, `training` weighs them, `spectrum` and `scale` are shared. No fit knows a model but
by its parameters.
"""

from mercer_old.fits.door import file_of, one_or_more, open_items
from mercer_old.fits.foretold import with_linear_share, with_share
from mercer_old.fits.scale import divided, in_units, in_units_of_input, refuse_matrix, standardized
from mercer_old.fits.spectrum import MatrixSpectrum, TooMany, find_spectrum, grow_to_share
from mercer_old.fits.training import Training, weigh

__all__ = [
    "MatrixSpectrum",
    "TooMany",
    "Training",
    "divided",
    "file_of",
    "find_spectrum",
    "grow_to_share",
    "in_units",
    "in_units_of_input",
    "one_or_more",
    "open_items",
    "refuse_matrix",
    "standardized",
    "weigh",
    "with_linear_share",
    "with_share",
]
