"""How an answer is found: from a task to all that a model keeps.

A fit makes a plan, builds the matrix the plan names, has its solver work on it and certifies what comes out; `kernel`,
`linear` and `local` do so for the three families. `door` is the one way in for rows and items, `training` weighs them,
`spectrum` and `scale` are shared, and `working` is what every fit goes on in. No fit knows a model but by its
parameters.
"""

from mercer.fits.door import open_items
from mercer.fits.foretold import with_linear_share, with_share
from mercer.fits.scale import about_unit, about_units, divided, in_units, in_units_of_input, refuse_matrix, standardized
from mercer.fits.spectrum import (
    ALL_THE_SAME,
    MatrixSpectrum,
    TooMany,
    about_directions,
    find_spectrum,
    grow_to_share,
    rule_out_missed,
)
from mercer.fits.training import Training, per_degree_of_freedom, weigh

__all__ = [
    "ALL_THE_SAME",
    "MatrixSpectrum",
    "TooMany",
    "Training",
    "about_directions",
    "about_unit",
    "about_units",
    "divided",
    "find_spectrum",
    "grow_to_share",
    "in_units",
    "in_units_of_input",
    "open_items",
    "per_degree_of_freedom",
    "refuse_matrix",
    "rule_out_missed",
    "standardized",
    "weigh",
    "with_linear_share",
    "with_share",
]
