"""From what users say ("rbf", a kernel, a function) to a kernel with numbers in it."""

from typing import Any

import numpy as np

from mercer.errors import in_short
from mercer.kernels.base import Held, Kernel
from mercer.kernels.distance import RBF, Laplacian, resolve_gamma
from mercer.kernels.dot import Cosine, Linear, Polynomial, Sigmoid
from mercer.kernels.given import Pairwise, Precomputed

NAMES = ("linear", "poly", "rbf", "sigmoid", "cosine", "precomputed")


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
    if isinstance(kernel, Kernel):
        return kernel.resolved(X, rng)
    if callable(kernel):
        return Pairwise(kernel, dict(params or {}))
    if isinstance(kernel, str) and kernel in ("poly", "polynomial", "sigmoid", "rbf", "laplacian"):
        gamma = resolve_gamma(gamma, X, rng)
    match kernel:
        case "linear":
            return Linear()
        case "poly" | "polynomial":
            return Polynomial(degree=degree, gamma=gamma, coef0=coef0)
        case "rbf":
            return RBF(gamma=gamma)
        case "laplacian":
            return Laplacian(gamma=gamma)
        case "sigmoid":
            return Sigmoid(gamma=gamma, coef0=coef0)
        case "cosine":
            return Cosine()
        case "precomputed":
            return Precomputed()
    raise ValueError(
        f"Unknown kernel {in_short(kernel)}; choose one of {', '.join(NAMES)}, a mercer.kernels object or a function."
    )
