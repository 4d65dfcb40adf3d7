"""From what users say ("rbf", a kernel, a function) to a kernel with numbers in it."""

from typing import Any

import numpy as np

from mercer_old import kernels
from mercer_old.arrays import Array
from mercer_old.errors import in_short, joined
from mercer_old.kernel_names import BY_NAME, NAMES
from mercer_old.kernels.base import Held, Kernel
from mercer_old.kernels.given import Pairwise
from mercer_old.sources.items import Items

__all__ = ["as_said", "learned_from", "resolve_kernel"]


def resolve_kernel(
    kernel: Any,
    X: Held,
    rng: np.random.Generator,
    *,
    gamma: Any = None,
    degree: float = 3,
    coef0: float = 1,
    params: dict[str, Any] | None = None,
) -> Kernel:
    """The kernel with every parameter resolved once, so that fit, transform and the inverse use the same."""
    return as_said(kernel, gamma=gamma, degree=degree, coef0=coef0, params=params).resolved(X, rng)


def as_said(
    kernel: Any, *, gamma: Any = None, degree: float = 3, coef0: float = 1, params: dict[str, Any] | None = None
) -> Kernel:
    """The kernel that is meant, with what is left to the data left to it."""
    if isinstance(kernel, Kernel):
        return kernel
    if callable(kernel):
        return Pairwise(kernel, dict(params or {}))
    named = BY_NAME.get(kernel) if isinstance(kernel, str) else None
    if named is None:
        raise ValueError(
            f"Unknown kernel {in_short(kernel)}; choose one of {', '.join(NAMES)}, a mercer.kernels object or a "
            "function."
        )
    said: dict[str, Any] = {"gamma": gamma, "degree": degree, "coef0": coef0}
    if named.compares != "rows":
        said = params or {}
        if unknown := [name for name in said if name not in named.takes]:
            raise ValueError(f"kernel={kernel!r} has no parameter {unknown[0]!r}; it has {joined(named.takes)}.")
    made: Kernel = getattr(kernels, named.kernel)(**{name: said[name] for name in named.takes if name in said})
    return made


def learned_from(
    kernel: Kernel, items: Items, rng: np.random.Generator, weights: Array | None, memory: float
) -> Kernel:
    """The kernel with numbers in it: those of all items, or of the sample of a table in chunks that is at hand.

    What is left open by a kernel of texts is an alphabet, which has to have the letters of all of them: texts in chunks
    are brought here for it, if they fit.
    """
    of_these = weights if weights is None or items.numbers is None else weights[items.numbers]
    found = kernel.resolved_by(items.at_hand, rng, of_these)
    if items.numbers is None or items.kind != "texts" or found == kernel:
        return found
    return kernel.resolved_by(items.within(memory), rng, weights)
