"""Batch after batch: what they are added to, in which unit, and how many components that is asked for."""

from mercer_old.errors import NoRoom, counted
from mercer_old.fits.linear.axes import from_square
from mercer_old.fits.linear.sketching import from_sketch
from mercer_old.fits.linear.task import Axes, LinearTask
from mercer_old.plans.linear import scatter_plan, sketch_plan
from mercer_old.sweeps.sketch import Sketch
from mercer_old.sweeps.square import Square

__all__ = ["Sums", "from_sums", "number_by_batch", "refuse_to_go_on", "share_unit"]

Sums = Square | Sketch


def from_sums(task: LinearTask, sums: Sums) -> Axes:
    """The axes of all batches so far."""
    if isinstance(sums, Sketch):
        return from_sketch(task, sketch_plan(task.problem, "a few rows stand for all batches."), sums)
    plan = scatter_plan(task.problem, task.limits, "batches are summed up, and nothing of them is lost.")
    return from_square(task, plan, sums)


def number_by_batch(k: int | None, n: int, d: int, before: int | None, size: int | None) -> int:
    """How many components, by scikit-learn's rules; and no more than a sketch has rows for certain.

    `before` is how many there are, if this is not the first batch.
    """
    if k is not None and k > d:
        raise ValueError(
            f"n_components={k!r} invalid for n_features={d}, need more rows than columns for IncrementalPCA processing"
        )
    if k is not None and size is not None and k > size:
        raise ValueError(f"n_components={k} needs a sketch_size of at least {k}, better {4 * k}; it is {size}.")
    if k is not None and k > n and before is None:
        raise ValueError(
            f"n_components={k} must be less or equal to the batch number of samples {n} for the first partial_fit call."
        )
    if before is None:
        return min(n, d, size or d) if k is None else int(k)
    if k is not None and k != before:
        raise ValueError(
            f"Number of input features has changed from {before} to {k} between calls to partial_fit! "
            "Try setting n_components to a fixed value."
        )
    return before


def refuse_to_go_on(sums: Sums | None, size: int | None, columns: int) -> None:
    """A batch more, where nothing was kept that it could be added to, or something else."""
    if sums is None:
        raise NoRoom(
            f"fit found the components of {counted(columns, 'column')} without a scatter matrix, so "
            "there is none to go on from; begin with partial_fit."
        )
    before = sums.size if isinstance(sums, Sketch) else None
    if before != size:
        raise ValueError(
            f"sketch_size has changed from {before} to {size}, so a batch cannot be added to those before: keep it, or "
            "fit anew."
        )


def share_unit(sums: Sums, unit: float, batch: Sums, its_unit: float) -> float:
    """The same unit for all rows so far and a batch: the larger, of those that are not all zero."""
    if its_unit == unit:
        return unit
    units = [u for u, rows in ((its_unit, batch), (unit, sums)) if rows.squares.any() or rows.mean.any()]
    larger = max(units, default=1.0)
    batch.in_other_units(its_unit / larger)
    sums.in_other_units(unit / larger)
    return larger
