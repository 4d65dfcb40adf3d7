"""Kernels and bandwidths compared by cross-validation, and the choice among them.

All kernels are compared on the same samples and folds. Distances are computed once, and the components without a fold
start from those without the fold before.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from mercer.analysis.kernel_criteria import Criterion
from mercer.data.dataset import ArrayDataset, Kind
from mercer.errors import DataError
from mercer.kernels.base import GammaMixin, Kernel, raise_nonfinite_values
from mercer.kernels.distance import RBF, EuclideanKernel, Laplacian, Matern, RationalQuadratic
from mercer.kernels.dot import Cosine, Linear, Polynomial, choose_origin
from mercer.linalg.dense import leading_eigenpairs
from mercer.linalg.gram import Centered, PrecomputedGram, StoredGram
from mercer.linalg.krylov import GUARD, BlockKrylov
from mercer.numerics.distances import center_and_scale, kernel_squares
from mercer.numerics.products import row_squares
from mercer.numerics.rounding import TINY
from mercer.numerics.threads import working
from mercer.progress import ProgressListener

BANDWIDTH_FACTORS = np.logspace(-2, 2, 15)  # gamma, in units of one over the median distance
NAMED_KERNELS: dict[str, tuple[Kernel, ...]] = {
    "linear": (Linear(),),
    "cosine": (Cosine(),),
    "poly": (Polynomial(2, gamma="median"), Polynomial(3, gamma="median")),
    "rbf": (RBF(),),
    "matern": (Matern(),),
    "laplacian": (Laplacian(),),
}
_LOWEST_RANK, _HIGHEST_RANK = 2.0, 0.2  # effective ranks of bandwidths that are compared; the second times n
_DENSE_SAMPLES, _MOST_PASSES = 300, 8  # up to which LAPACK is as fast; of block Lanczos from a start that is near
_NO_VARIANCE = 1e-10  # of the largest eigenvalue or singular value: smaller ones are rounding
_EQUAL_LOSSES, _EQUAL_STABILITY = 1e-9, 0.05  # differences up to these do not count
_EACH, _NUMBERS = 5, 12  # numbers of components that are compared: all up to 5, then about 12

# ---------------------------------------------------------------------- kernel matrices


@dataclass(frozen=True)
class Candidate:
    """A kernel with all parameters set; with the factor of its bandwidth if that was left to the search."""

    name: str
    kernel: Kernel
    gamma: float | None = None
    factor: float | None = None

    @property
    def is_at_edge(self) -> bool:
        """Whether its bandwidth is the first or the last of those that are compared."""
        return self.factor is not None and bool(np.isclose(self.factor, BANDWIDTH_FACTORS[[0, -1]]).any())


class PairwiseDistances:
    """Samples and their distances of each kind, which are computed once for all kernels that need them."""

    def __init__(self, samples: Any, kind: Kind = "vectors", n_threads: int = 1) -> None:
        self.samples, self.kind, self.n_threads, self.n = samples, kind, n_threads, samples.shape[0]

    @cached_property
    def squares(self) -> NDArray:
        """‖x − y‖² of all pairs."""
        rows, _, scale = center_and_scale(self.samples)
        norms = row_squares(rows)
        squares = kernel_squares(rows @ rows.T, norms, norms)
        squares[np.diag_indices(self.n)] = 0.0
        squares *= scale**2
        return squares

    @cached_property
    def cityblock(self) -> NDArray:
        """Σ|xᵢ − yᵢ| of all pairs."""
        return np.asarray(cdist(self.samples, self.samples, "cityblock"))

    def median(self, kernel: Kernel) -> float:
        """Median of the positive distances that the bandwidth of this kernel multiplies."""
        if isinstance(kernel, Laplacian):
            found = self.cityblock
        elif isinstance(kernel, GammaMixin) and type(kernel).distances is not GammaMixin.distances:
            found = kernel.distances(self.samples)
        else:
            found = self.squares
        positive = found[found > 0]
        if not len(positive):
            raise DataError(
                "All distances between rows of X are zero but for rounding. Subtract the mean, or scale X up."
            )
        return float(np.median(positive))

    def centered_matrix(self, kernel: Kernel) -> NDArray:
        """The centered kernel matrix."""
        with np.errstate(over="ignore", invalid="ignore"):
            K = self._matrix(kernel)
        raise_nonfinite_values(K, kernel, np.arange(self.n), self.samples)
        means = K.mean(axis=0)
        K -= means
        K -= (means - means.mean())[:, None]
        return K

    def _matrix(self, kernel: Kernel) -> NDArray:
        """k − 1 as a function of distances, with the digits that centering leaves; others entry by entry."""
        if self.kind == "vectors" and isinstance(kernel, EuclideanKernel):
            K = self.squares * -kernel.scale
            kernel.profile(K, 1.0)
            return K
        if self.kind == "vectors" and isinstance(kernel, Laplacian):
            return np.asarray(np.expm1(self.cityblock * -kernel.gamma_value))
        origin = choose_origin(kernel, self.samples) if self.kind == "vectors" else None
        return StoredGram(kernel if origin is None else kernel.with_origin(origin), self.samples, self.n_threads).values


def named_kernels(requested: Sequence[str | Kernel]) -> list[tuple[str, Kernel]]:
    """Kernels with the names that results have; a name may stand for several kernels."""
    found: list[tuple[str, Kernel]] = []
    for each in requested:
        if isinstance(each, str):
            found += [(each, kernel) for kernel in NAMED_KERNELS[each]]
        else:
            is_default = has_open_bandwidth(each) and each == type(each)()
            found.append((type(each).__name__ if is_default else repr(each), each))
    return found


def make_candidates(
    kernels: Sequence[tuple[str, Kernel]], distances: PairwiseDistances, rng: np.random.Generator
) -> Iterator[Candidate]:
    """Every kernel with every bandwidth, or as it is if its bandwidth is set or does not exist."""
    for name, kernel in kernels:
        if has_open_bandwidth(kernel):
            median = distances.median(kernel)
            for factor in BANDWIDTH_FACTORS:
                gamma = float(factor / median)
                yield Candidate(name, _with_bandwidth(kernel, gamma), gamma, float(factor))
        else:
            resolved = kernel.resolve(ArrayDataset(distances.samples, distances.kind), lambda: rng)
            yield Candidate(name, resolved, resolved.gamma_value if isinstance(resolved, GammaMixin) else None)


def has_open_bandwidth(kernel: Kernel) -> bool:
    """Whether gamma is None, or the length scale is the default."""
    if isinstance(kernel, GammaMixin):
        return kernel.gamma is None
    return isinstance(kernel, (Matern, RationalQuadratic)) and kernel.length_scale == 1.0


def _with_bandwidth(kernel: Kernel, gamma: float) -> Kernel:
    """The kernel with this gamma, or with the length scale ℓ of exp(−‖x − y‖²/(2ℓ²))."""
    if isinstance(kernel, GammaMixin):
        return kernel.with_params(gamma=gamma)
    return kernel.with_params(length_scale=float(1 / np.sqrt(2 * gamma)))


# ---------------------------------------------------------------------- folds


def split_folds(groups: NDArray, n_folds: int, rng: np.random.Generator, classes: NDArray | None = None) -> NDArray:
    """The fold of every sample: random, the same for duplicates, of even sizes, also within each class."""
    _, first, group = np.unique(groups, return_index=True, return_inverse=True)
    by_appearance = np.argsort(first)  # so that the unit of the rows does not matter
    order = by_appearance[rng.permutation(len(first))]
    if classes is not None:
        order = order[np.argsort(np.unique(classes, return_inverse=True)[1].ravel()[first[order]], kind="stable")]
    fold = np.empty(len(first), dtype=int)
    fold[order] = np.arange(len(first)) % n_folds
    return fold[group.ravel()]


class FoldScores:
    """Scores of all samples by kernel PCA without one of the folds, for one kernel matrix after the other.

    A fold that is left out has weight zero, so the matrix is not copied. The solver starts from the scores that were
    found last.
    """

    def __init__(
        self, fold: NDArray, n_components: int, rng: np.random.Generator, n_threads: int = 1, tol: float = 1e-3
    ) -> None:
        self.fold, self.n_components, self.rng, self.n_threads = fold, n_components, rng, n_threads
        self.tol = tol  # coarse: what is left of another fold's start is much less than folds differ by
        self._start: NDArray | None = None

    def compute(self, K: NDArray) -> list[NDArray]:
        """Scores of shape (n, k) for every fold; of components without variance, zeros."""
        gram = PrecomputedGram(K, self.n_threads)
        return [self._without(gram, number) for number in range(int(self.fold.max()) + 1)]

    def _without(self, gram: PrecomputedGram, number: int) -> NDArray:
        A = Centered(gram, (self.fold != number).astype(np.float64))
        values, vectors = self._leading(A)
        values = np.where(values > _NO_VARIANCE * max(float(values[0]), 0.0), values, 0.0)
        alpha, offset = A.centering().dual(values, vectors)
        scores = gram.matmat(alpha) - offset
        self._start = scores if values.any() else None
        return scores

    def _leading(self, A: Centered) -> tuple[NDArray, NDArray]:
        k = min(self.n_components, A.n)
        if A.n <= _DENSE_SAMPLES:
            pairs = leading_eigenpairs(A.to_dense(), k, 0.0)
        else:
            start = None if self._start is None else A.times_root(self._start)
            pairs = BlockKrylov(self.tol, k + GUARD, _MOST_PASSES).solve(A, k, lambda: self.rng, start=start)
        return pairs.values, pairs.vectors


# ---------------------------------------------------------------------- search


@dataclass(frozen=True)
class Trial:
    """A candidate and what was found; candidates that were skipped have no loss."""

    candidate: Candidate
    effective_rank: float
    loss: float = np.inf
    standard_error: float = 0.0
    stability: float | None = None  # agreement of the subspaces of different folds
    skipped: str = ""  # why it was not compared


@dataclass(frozen=True)
class SearchResult:
    """All trials, the best, those within its standard error, and the one of them that was chosen."""

    trials: list[Trial]
    best: Trial
    within_one_se: list[Trial]
    chosen: Trial
    numbers: list[int]  # of components of the chosen kernel
    losses: NDArray  # by so many of them (numbers × folds)

    @property
    def n_components(self) -> int:
        """The smallest number whose loss is within a standard error of the best number's."""
        means = self.losses.mean(axis=1)
        best = int(np.argmin(means))
        error = float(np.std(self.losses[best], ddof=1) / np.sqrt(self.losses.shape[1]))
        return self.numbers[int(np.flatnonzero(means <= means[best] + error)[0])]

    @property
    def is_flat(self) -> bool:
        """Whether all kernels that were compared are within two standard errors of the best."""
        losses = [trial.loss for trial in self.trials if not trial.skipped]
        return len(losses) > 1 and max(losses) <= self.best.loss + 2 * self.best.standard_error


def search_kernels(
    distances: PairwiseDistances,
    kernels: Sequence[str | Kernel],
    n_components: int,
    criterion: Criterion,
    rng: np.random.Generator,
    progress: ProgressListener = False,
) -> SearchResult:
    """Compare all kernels with all bandwidths, but those whose effective rank shows that they are far off."""
    named = named_kernels(kernels)
    n_candidates = sum(len(BANDWIDTH_FACTORS) if has_open_bandwidth(kernel) else 1 for _, kernel in named)
    n_components = max(1, min(n_components, distances.n - int(np.bincount(criterion.fold).max()) - 1))
    folds = FoldScores(criterion.fold, n_components, rng, distances.n_threads)
    with working(progress, n_candidates, "comparing kernels", distances.n_threads) as counter:
        trials = []
        for candidate in make_candidates(named, distances, rng):
            trials.append(_try(candidate, distances, criterion, folds, may_skip=True))
            if counter:
                counter(1.0)
        for i in _nearest_of_skipped(trials, distances.n):  # of kernels that would have no trial
            trials[i] = _try(trials[i].candidate, distances, criterion, folds, may_skip=False)
        best, within_one_se, chosen = choose(trials)
        scores = folds.compute(distances.centered_matrix(chosen.candidate.kernel))
        few, spread = np.arange(1, min(n_components, _EACH) + 1), np.geomspace(1, n_components, _NUMBERS)
        numbers = [int(number) for number in np.union1d(few, np.rint(spread))]
        losses = [criterion.losses_of_scores([each[:, :number] for each in scores]) for number in numbers]
    return SearchResult(trials, best, within_one_se, chosen, numbers, np.array(losses))


def _try(
    candidate: Candidate, distances: PairwiseDistances, criterion: Criterion, folds: FoldScores, *, may_skip: bool
) -> Trial:
    K = distances.centered_matrix(candidate.kernel)
    trial = Trial(candidate, effective_rank(K))
    if may_skip and candidate.factor is not None:
        low, high = trial.effective_rank < _LOWEST_RANK, trial.effective_rank > _HIGHEST_RANK * distances.n
        trial = replace(trial, skipped="too wide" if low else "too narrow" if high else "")
    if trial.skipped:
        return trial
    scores = folds.compute(K) if criterion.uses_scores else []
    losses = criterion.losses(K, scores)
    return replace(
        trial,
        loss=criterion.loss(K, losses),
        standard_error=criterion.standard_error(losses),
        stability=subspace_agreement(scores) if scores else None,
    )


def effective_rank(K: NDArray) -> float:
    """(tr K)²/‖K‖² of a centered matrix: 1 if one eigenvalue has all the variance, n if all are equal; 0 of zero."""
    unit = float(np.abs(K).max())
    return float((np.trace(K) / unit) ** 2 / np.sum(np.square(K / unit))) if unit else 0.0


def subspace_agreement(scores: Sequence[NDArray]) -> float:
    """Mean cos² of the principal angles between the subspaces that columns of scores span, over all pairs.

    A direction that one has and the other lacks counts as 0.
    """
    found = []
    for Q, R in combinations([_orthonormal_basis(each) for each in scores], 2):
        n_angles = max(Q.shape[1], R.shape[1])
        found.append(float(np.sum((Q.T @ R) ** 2)) / n_angles if n_angles else 1.0)
    return float(np.mean(found)) if found else 1.0


def _orthonormal_basis(columns: NDArray) -> NDArray:
    U, sizes, _ = np.linalg.svd(columns - columns.mean(axis=0), full_matrices=False)
    return np.asarray(U[:, sizes > _NO_VARIANCE * max(float(sizes.max(initial=0.0)), TINY)])


def _nearest_of_skipped(trials: Sequence[Trial], n: int) -> list[int]:
    """For every kernel whose bandwidths were all skipped, the one whose effective rank is nearest to the others."""
    compared = {trial.candidate.name for trial in trials if not trial.skipped}
    high = max(_HIGHEST_RANK * n, _LOWEST_RANK)
    nearest: dict[str, tuple[float, int]] = {}
    for i, trial in enumerate(trials):
        rank, name = max(trial.effective_rank, TINY), trial.candidate.name
        outside = max(float(np.log(rank / high)), float(np.log(_LOWEST_RANK / rank)), 0.0)
        if name not in compared:
            nearest[name] = min((outside, i), nearest.get(name, (np.inf, i)))
    return [i for _, i in nearest.values()]


def choose(trials: Sequence[Trial]) -> tuple[Trial, list[Trial], Trial]:
    """The best trial, those within its standard error, and the chosen one.

    Of those within the standard error and as stable as any of them, the kernel that comes first is chosen with its
    best bandwidth. Losses that differ by rounding are equal; of equal ones, the bandwidth nearest to the median is
    taken.
    """
    compared = [trial for trial in trials if not trial.skipped]
    best = min(compared, key=lambda trial: trial.loss)
    most = best.loss + max(best.standard_error, _EQUAL_LOSSES)
    within_one_se = [trial for trial in compared if trial.loss <= most]
    stability = max(trial.stability or 0.0 for trial in within_one_se) - _EQUAL_STABILITY
    stable = [trial for trial in within_one_se if (trial.stability or 0.0) >= stability]
    names = [trial.candidate.name for trial in trials]
    first = min((trial.candidate.name for trial in stable), key=names.index)
    own = [trial for trial in stable if trial.candidate.name == first]
    least = min(trial.loss for trial in own) + _EQUAL_LOSSES
    equal = [trial for trial in own if trial.loss <= least]
    return best, within_one_se, min(equal, key=lambda trial: abs(float(np.log(trial.candidate.factor or 1.0))))
