"""From a sketch of the rows to axes, with the intervals that Frequent Directions proves."""

from dataclasses import replace

import numpy as np

from mercer_old.certificates.residuals import certify
from mercer_old.certificates.sketches import about_sketched_directions, certify_sketch
from mercer_old.fits.linear.axes import as_axes, of_one_half
from mercer_old.fits.linear.task import Axes, LinearTask
from mercer_old.operators.held import Dilation
from mercer_old.plans.plan import Plan
from mercer_old.solvers.svd import Svd
from mercer_old.sweeps.sketch import Sketch

__all__ = ["from_sketch"]


def from_sketch(task: LinearTask, plan: Plan, sketch: Sketch) -> Axes:
    """The leading singular vectors of B, which is left as it is; values are the middles of their intervals."""
    k = task.problem.wanted
    rows = np.zeros((max(k, len(sketch.rows)), sketch.width))  # directions beyond the rows there are vary by nothing
    rows[: len(sketch.rows)] = sketch.rows
    pairs = Svd().solve(Dilation(rows), k, task.rng())
    inner = of_one_half(
        certify(pairs, tol=plan.tol / 2, bound=float(pairs.beyond.max(initial=0.0)), level="").squared()
    )
    values, total = pairs.values**2, float(sketch.squares.sum())
    noise = float(sketch.own_noise.sum()) + 8 * np.finfo(float).eps * total
    zeros = np.zeros(1 if len(rows) < sketch.width else 0)
    certificate = certify_sketch(
        values,
        size=sketch.size,
        lost=sketch.shrinkage,
        off=np.maximum(inner.upper - values, values - inner.lower),
        others=np.concatenate([pairs.beyond**2, zeros]),
        angles=inner.angles,
        total=(max(total - noise, 0.0), total + noise),
        rounding=sketch.doubtful,
    )
    middle = values + sketch.shrinkage / 2
    axes = np.sqrt(2) * pairs.vectors[len(rows) :]
    settled = replace(inner, lower=certificate.lower, unresolved=())
    found = as_axes(task, plan, sketch, None, middle, axes, total, settled)
    return replace(
        found,
        certificate=certificate,
        warnings=[*found.warnings, *about_sketched_directions(certificate, found.values)],
    )
