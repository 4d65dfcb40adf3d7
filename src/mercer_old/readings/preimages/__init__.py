"""Back to input space: for a point of feature space, the row, or the text, whose image comes nearest to it.

`expansion` says where scores lie in feature space, and how far an image is from there. `fixed_point`, `neighbours`,
`learned` and `descent` have the ways back to rows of numbers, `ways` chooses among them, `cleaning` learns
to take noise off, and `texts` searches for texts. `radial` reads distances off kernels.
"""

from mercer_old.readings.preimages.expansion import Expansion, distances_reached
from mercer_old.readings.preimages.learned import Learned, conformal_map, learn_ridge, leave_one_out
from mercer_old.readings.preimages.texts import nearest_items, search_texts
from mercer_old.readings.preimages.ways import PREIMAGES, WaysBack, are_numbered, is_linear, number_outside

__all__ = [
    "PREIMAGES",
    "Expansion",
    "Learned",
    "WaysBack",
    "are_numbered",
    "conformal_map",
    "distances_reached",
    "is_linear",
    "learn_ridge",
    "leave_one_out",
    "nearest_items",
    "number_outside",
    "search_texts",
]
