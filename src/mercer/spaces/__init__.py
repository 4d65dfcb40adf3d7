"""Who is near: items with distances.

`base` is the contract, and `points`, `by_kernel` and `given` answer it for coordinates, kernels and matrices of
distances. `nearest` finds neighbours rigorously: whom rounding might have misplaced is measured again. Neighbourhoods
ask a space for Gram matrices, never for rows.
"""
