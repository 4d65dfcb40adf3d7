"""Kernels to compare, and their matrices between the same rows: distances once, then a new shape for each bandwidth."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy

from mercer_old.arrays import Array, Held
from mercer_old.errors import BadData
from mercer_old.kernels import RBF, Cosine, Kernel, Laplacian, Linear, Matern, Polynomial, RationalQuadratic
from mercer_old.kernels.bandwidth import ByGamma
from mercer_old.kernels.base import n_rows
from mercer_old.kernels.check import refuse_non_finite
from mercer_old.kernels.euclidean import EuclideanKernel
from mercer_old.readings.origin import seen_from_mean
from mercer_old.squares import Moved, multiply

__all__ = ["FACTORS", "NAMED", "USUAL", "Candidate", "KnownDistances", "candidates_of"]

FACTORS = np.logspace(-2, 2, 15)  # of 1/median: bandwidths from far too wide to far too narrow
DEGREES = (2, 3)
NAMED: dict[str, tuple[Kernel, ...]] = {
    "linear": (Linear(),),
    "cosine": (Cosine(),),
    "poly": tuple(Polynomial(degree, gamma="median") for degree in DEGREES),
    "rbf": (RBF(),),
    "matern": (Matern(),),
    "laplacian": (Laplacian(),),
}
USUAL = tuple(NAMED)


@dataclass(frozen=True)
class Candidate:
    """A kernel with all its numbers; of a bandwidth, which multiple of one over the median distance γ is."""

    name: str
    kernel: Kernel
    gamma: float | None = None
    factor: float | None = None

    @property
    def at_edge(self) -> bool:
        """Whether its bandwidth is the first or the last that is tried."""
        return self.factor is not None and bool(np.isclose(self.factor, FACTORS[[0, -1]]).any())


class KnownDistances:
    """Rows, and the distances between them that kernels are functions of: each kind computed once."""

    def __init__(self, rows: Held) -> None:
        self.rows, self.n, self.evaluations = rows, n_rows(rows), 0

    @cached_property
    def squares(self) -> Array:
        """‖x − y‖² of all pairs."""
        self.evaluations += self.n**2
        X = np.asarray(self.rows, dtype=np.float64)
        moved, out = Moved(X, X.mean(axis=0)), np.empty((self.n, self.n))
        multiply(moved.left(-2.0), moved.right(), out)
        out[np.diag_indices(self.n)] = 0.0
        return np.maximum(out, 0.0, out=out)

    @cached_property
    def cityblock(self) -> Array:
        """Σ|xᵢ − yᵢ| of all pairs."""
        self.evaluations += self.n**2
        X = np.asarray(self.rows, dtype=np.float64)
        return np.asarray(scipy.spatial.distance.cdist(X, X, metric="cityblock"))

    def median(self, kernel: Kernel) -> float:
        """The median distance of different rows, of the kind that γ of this kernel multiplies."""
        if isinstance(kernel, Laplacian):
            distances = self.cityblock[np.triu_indices(self.n, 1)]
        elif isinstance(kernel, ByGamma) and type(kernel).distances is not ByGamma.distances:
            distances = kernel.distances(np.asarray(self.rows, dtype=np.float64))
        else:
            distances = self.squares[np.triu_indices(self.n, 1)]
        distances = distances[distances > 0]
        if not len(distances):
            raise BadData("All rows are the same, so there is no distance for a bandwidth to be compared with.")
        return float(np.median(distances))

    def matrix(self, kernel: Kernel) -> Array:
        """k(x, y) of all pairs, from distances if it is a function of them; of the linear kernel, around the mean."""
        self.evaluations += self.n**2
        with np.errstate(over="ignore", invalid="ignore"):
            K = self._shaped(kernel)
        refuse_non_finite(K, kernel)
        return K

    def _shaped(self, kernel: Kernel) -> Array:
        if isinstance(kernel, EuclideanKernel):
            K = self.squares * -kernel.scale
            kernel.shape(K)
            return K
        if isinstance(kernel, Laplacian):
            K = self.cityblock * -kernel.known_gamma
            return np.exp(K, out=K)
        if isinstance(kernel, Linear):  # a constant in every entry is nothing to what is centred
            X = seen_from_mean(kernel, np.asarray(self.rows, dtype=np.float64))
            return kernel.block(X, X)
        return kernel.block(self.rows, self.rows)


def candidates_of(kernels: Sequence[Any], distances: KnownDistances, rng: np.random.Generator) -> Iterator[Candidate]:
    """Every kernel with every bandwidth; of those that have none, or a number for it, just the one."""
    for said in kernels:
        for kernel in NAMED[said] if isinstance(said, str) else (said,):
            name = said if isinstance(said, str) else type(said).__name__ if _is_open(said) else repr(said)
            if _is_open(kernel):
                median = distances.median(kernel)
                for factor in FACTORS:
                    gamma = float(factor / median)
                    yield Candidate(name, _with_gamma(kernel, gamma), gamma, float(factor))
            else:
                known = kernel.resolved(distances.rows, rng)
                yield Candidate(name, known, getattr(known, "gamma", None))


def _is_open(kernel: Kernel) -> bool:
    """Whether its bandwidth is left to the search."""
    if isinstance(kernel, ByGamma):
        return kernel.gamma is None
    return kernel in (Matern(), RationalQuadratic())


def _with_gamma(kernel: Kernel, gamma: float) -> Kernel:
    """γ, or of a kernel with a length scale that of exp(−‖x − y‖²/(2ℓ²)): ℓ = 1/√(2γ)."""
    if isinstance(kernel, ByGamma):
        return replace(kernel, gamma=gamma)  # type: ignore[type-var]
    return replace(kernel, length_scale=float(1 / np.sqrt(2 * gamma)))  # type: ignore[type-var]
