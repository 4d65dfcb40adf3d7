"""The matrix, held or not: symmetric operators for solvers to multiply with.

Every operator answers the questions of `mercer.symmetric`, whether its entries are in memory, evaluated anew or never
formed. Operators and solvers do not know each other. An operator holds data and no settings, and says how far rounding
can have moved what it returns.
"""

from mercer_old.operators.alignment import align, over_blocks
from mercer_old.operators.centering import Centered, Weighted, inverse_root
from mercer_old.operators.elsewhere import GramElsewhere
from mercer_old.operators.features import FeatureGram
from mercer_old.operators.gram import Gram, HeldGram, RecomputedGram
from mercer_old.operators.held import BlackBox, Dilation, HeldMatrix
from mercer_old.operators.local_methods import residuals, weights
from mercer_old.operators.products import ScatterProducts
from mercer_old.operators.projection import ByKernel, Centring, Projection, as_projection
from mercer_old.operators.tiles import STRIP, TILE, apply, fill_symmetric, plan_symmetric

__all__ = [
    "STRIP",
    "TILE",
    "BlackBox",
    "ByKernel",
    "Centered",
    "Centring",
    "Dilation",
    "FeatureGram",
    "Gram",
    "GramElsewhere",
    "HeldGram",
    "HeldMatrix",
    "Projection",
    "RecomputedGram",
    "ScatterProducts",
    "Weighted",
    "align",
    "apply",
    "as_projection",
    "fill_symmetric",
    "inverse_root",
    "over_blocks",
    "plan_symmetric",
    "residuals",
    "weights",
]
