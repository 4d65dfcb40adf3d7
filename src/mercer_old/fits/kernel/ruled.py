"""How many kernel components a rule keeps, inside a fit."""

from dataclasses import replace

import numpy as np

from mercer_old.arrays import Array
from mercer_old.errors import BadData, warn
from mercer_old.fits.kernel.task import Task
from mercer_old.readings.rules.drawn import drawn_numbers, kernel_parallel
from mercer_old.readings.rules.keeping import number_to_keep
from mercer_old.readings.rules.known import KERNEL_RULES
from mercer_old.readings.rules.scree import Opinion, Scree, explains_all
from mercer_old.readings.rules.shape import about_flat

__all__ = ["number_by_rule"]


def number_by_rule(task: Task, values: Array, total: float, weight: float) -> int:
    """By the rule that was asked for, on the leading eigenvalues that were found; one at least."""
    values = np.maximum(values, 0.0)
    scree = Scree(
        values=values,
        total=total,
        weight=weight,
        width=task.problem.n_features or task.problem.n,
        whole=explains_all(values, total),
        by_kernel=True,
    )
    k = number_to_keep(task.asked, values, total, by_rule=lambda name: _asked(task, name, scree))
    if k < 1:
        warn(f"No component is more than noise by n_components={task.asked!r}: the first is kept all the same.")
    return max(k, 1)


def _asked(task: Task, name: str, scree: Scree) -> Opinion:
    ask, items = KERNEL_RULES[name].ask, task.training.items
    if ask is not None:
        if flat := about_flat(scree):
            warn(f"n_components={name!r} means little here: {flat}.")
        return ask(replace(scree, by_kernel=False))
    if items.kind != "rows" or items.by_matrix:
        raise BadData(
            'n_components="parallel" permutes columns of numbers, and the items of this kernel have none: give '
            '"elbow", a number or a share.'
        )
    if task.training.weights is not None:
        raise BadData('n_components="parallel" permutes rows that count alike; with sample_weight give "elbow".')
    rng = task.rng()
    return kernel_parallel(task.kernel, items[drawn_numbers(len(items), rng)], len(items), rng)
