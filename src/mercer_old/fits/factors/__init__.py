"""Fits of factor analysis: columns that share a few factors, each with a noise of its own.

`columns` sums up the rows, in the units in which every column has variance one. `profile` is the likelihood as a
function of the noises alone, `search` takes it to its top, and `rotation` turns the factors so that they are easier to
read. `distribution` is what the found parameters say of rows. No model is known here, and no row is looked at twice.
"""

from mercer_old.fits.factors.columns import Columns, sum_up_columns
from mercer_old.fits.factors.distribution import FactorNormal
from mercer_old.fits.factors.profile import FLOOR, Profile
from mercer_old.fits.factors.rotation import rotated
from mercer_old.fits.factors.search import Factors, find_factors

__all__ = ["FLOOR", "Columns", "FactorNormal", "Factors", "Profile", "find_factors", "rotated", "sum_up_columns"]
