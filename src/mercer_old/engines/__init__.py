"""Where work on chunks of rows is done: here, one after the other, or by the workers of a cluster.

`base` has the contract, three verbs: map over chunks, reduce by a fixed tree, share with all. `loop` is a plain loop,
`cluster` hands the same tasks to Dask's workers, in `boxes` that they open; `waiting` waits for workers, any of which
may die. No algorithm knows whether it runs on a loop or a cluster, and both give the same bits, as the tree depends on
the number of chunks alone. `local` starts workers for commands.
"""

from mercer_old.engines.base import Engine, Handle, leaving_nothing_behind
from mercer_old.engines.loop import Loop

__all__ = ["Engine", "Handle", "Loop", "leaving_nothing_behind"]
