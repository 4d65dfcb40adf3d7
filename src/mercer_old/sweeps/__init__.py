"""What one pass over the rows sums up.

An accumulator takes in blocks, and two of them merge into one that has seen the rows of both: `scatter` is the
contract, and `square`, `triangle`, `spread` and `sketch` are what may be kept. `lanes` deals blocks out so that sums
are the same to the last bit on any number of threads. `landmarks` sums up what a few rows see of all others, and `gaps`
what rows say of factors although numbers are missing: of those in memory, or (`chunked_gaps`) where their chunks lie.
"""

from mercer_old.sweeps.landmarks import LandmarkMap, Moments, sweep_moments
from mercer_old.sweeps.lanes import Kind, Maker, origin_of, squares_along, sweep_scatter
from mercer_old.sweeps.scatter import ENTRY, Scatter
from mercer_old.sweeps.sketch import Sketch, Sketches
from mercer_old.sweeps.spread import Spread
from mercer_old.sweeps.square import Square, add_square, mirror
from mercer_old.sweeps.triangle import Triangle

__all__ = [
    "ENTRY",
    "Kind",
    "LandmarkMap",
    "Maker",
    "Moments",
    "Scatter",
    "Sketch",
    "Sketches",
    "Spread",
    "Square",
    "Triangle",
    "add_square",
    "mirror",
    "origin_of",
    "squares_along",
    "sweep_moments",
    "sweep_scatter",
]
