"""Who is near: items with distances.

`base` is the contract, and `points`, `by_kernel` and `given` answer it for coordinates, kernels and matrices of
distances. `nearest` finds neighbours rigorously: whom rounding might have misplaced is measured again. Neighbourhoods
ask a space for Gram matrices, never for rows.
"""

from mercer_old.spaces.base import Neighbors, Space, graph_of
from mercer_old.spaces.by_kernel import KernelRows
from mercer_old.spaces.given import Distances
from mercer_old.spaces.points import Points, SparsePoints

__all__ = ["Distances", "KernelRows", "Neighbors", "Points", "Space", "SparsePoints", "graph_of"]
