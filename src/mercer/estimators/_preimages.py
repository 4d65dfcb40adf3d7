"""Pre-images: samples whose images come near points of the feature space.

A point has the coordinates of scores y, p(y) = Σᵢcᵢφ(xᵢ) with c = αy + m (`contract.KernelExpansion`). Few points are
images of a sample, so each method looks for another one:

- "fixed-point" (Mika et al. 1998): the sample whose image is nearest to p(y);
- "kwok-tsang" (Kwok and Tsang 2004): the sample at the distances from its neighbors that p(y) has from their images;
- "ridge" (Bakır, Weston and Schölkopf 2004): what a regression from scores to samples predicts.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse

from mercer.budget import Budget
from mercer.contract import KernelExpansion
from mercer.errors import DataError, ParameterError, Remedy
from mercer.estimators._kernel_fit import learn_inverse
from mercer.kernels.algebra import Scaled
from mercer.kernels.base import Kernel
from mercer.kernels.distance import RBF, EuclideanKernel
from mercer.kernels.dot import Linear
from mercer.kernels.origin import MovedRows
from mercer.linalg.tiles import multiply_rows, multiply_symmetric
from mercer.numerics.blocking import slices
from mercer.numerics.distances import smallest
from mercer.numerics.rounding import TINY, power_of_two
from mercer.numerics.threads import parallel
from mercer.text import counted, joined, short_repr

if TYPE_CHECKING:
    from mercer.estimators._denoising import Denoiser

N_NEIGHBORS = 15
_ENTRIES = 4_000_000  # of a matrix between points and samples
_BALANCED = 1e-10  # deviation of Σc from 1, relative to Σ|c|, that is rounding

# ---------------------------------------------------------------------- the feature space


class Geometry:
    """Distances between points p(y) and images φ(z) in the feature space.

    By exact components Σc = 1 for any y. A constant taken off the kernel and another origin of φ then change no
    distance, and keep digits. By landmarks Σc is any number, and the kernel is taken as it is.

    Parameters
    ----------
    expansion : KernelExpansion
        Kernel, samples, α and m.
    """

    def __init__(self, expansion: KernelExpansion) -> None:
        self.alpha, self.center = expansion.coefficients, expansion.center
        self.samples, self.kernel, self.n_threads = expansion.samples, expansion.kernel, expansion.n_threads
        self._coefficients = coefficients = np.column_stack([self.alpha, self.center])
        sums, moduli = coefficients.sum(axis=0), np.abs(coefficients).sum(axis=0)
        sums[-1] -= 1
        balanced = bool(np.all(np.abs(sums) <= _BALANCED * moduli))
        if balanced and isinstance(self.samples, np.ndarray) and self.kernel.input_kind == "vectors":
            self.kernel = self.kernel.with_origin(self.samples.mean(axis=0, dtype=np.float64))
        self._prepared = self.kernel.prepare(self.samples, shift=None if balanced else 0.0)
        self.shift = self._prepared.shift
        if self.features is None:
            products = multiply_symmetric(self._prepared, coefficients, self.n_threads)[0]
        else:
            products = self.features @ self.axes - self.shift * coefficients.sum(axis=0)
        self._products, self._means = products[:, :-1], products[:, -1]
        gram = coefficients.T @ products
        self._gram = (gram + gram.T) / 2

    @cached_property
    def feature_map(self) -> Any:
        """Exact features of strings, which are cheaper than the kernel between all of them."""
        return self.kernel.feature_map(self.samples) if self.kernel.input_kind == "strings" else None

    @cached_property
    def features(self) -> Any:
        """Features of the samples."""
        return None if self.feature_map is None else self.feature_map.transform(self.samples)

    @cached_property
    def axes(self) -> NDArray:
        """Φᵀ[α m]."""
        return np.asarray(self.features.T @ self._coefficients)

    @cached_property
    def scores(self) -> NDArray:
        """Scores of the samples of the expansion."""
        return self._products - self.alpha.T @ self._means

    @property
    def norms(self) -> NDArray:
        """k(x, x) − shift of the samples."""
        return self._prepared.diag

    def blocks(self, n_points: int, width: int = 0, entries: int = _ENTRIES) -> list[slice]:
        """So many points at once that a number for each sample, and `width` numbers, of all of them fit."""
        return slices(n_points, max(min(entries, _ENTRIES) // max(len(self.center), width, 1), 16))

    def coefficients(self, Y: NDArray) -> NDArray:
        """c of every point."""
        return np.asarray(Y @ self.alpha.T + self.center)

    def squared_norms(self, Y: NDArray) -> NDArray:
        """‖p(y)‖², by k − shift."""
        Y = np.column_stack([Y, np.ones(len(Y))])
        return np.einsum("ij,ij->i", Y @ self._gram, Y)

    def squared_distances(self, Y: NDArray) -> NDArray:
        """‖p(y) − φ(xᵢ)‖² to every sample. No kernel is evaluated, as K[α m] is known."""
        products = Y @ self._products.T
        products += self._means
        products *= -2.0
        products += self.norms
        products += self.squared_norms(Y)[:, None]
        return np.maximum(products, 0.0, out=products)

    def objective(self, Z: Any, C: NDArray) -> NDArray:
        """k(z, z) − 2Σᵢcᵢk(z, xᵢ) − shift·(1 − 2Σc): ‖p − φ(z)‖² less ‖p‖²."""
        K = np.empty(C.shape)
        self._prepared.against(Z).fill(slice(None), slice(None), K)
        return np.asarray(self.kernel.diag(Z)) - self.shift - 2 * np.einsum("ij,ij->i", C, K)

    def scores_of(self, Z: Any) -> NDArray:
        """Scores of samples."""
        return multiply_rows(self._prepared.against(Z), self.alpha, self.n_threads) - self.alpha.T @ self._means

    def errors(self, Z: Any, Y: NDArray) -> NDArray:
        """‖p(y) − φ(z)‖ of every sample z and its scores y."""
        out = np.empty(len(Y))
        with np.errstate(over="ignore", invalid="ignore"):
            for rows in self.blocks(len(Y)):
                out[rows] = self.objective(Z[rows], self.coefficients(Y[rows])) + self.squared_norms(Y[rows])
        return np.sqrt(np.maximum(out, 0.0))


def nearest(squared: NDArray, count: int) -> tuple[NDArray, NDArray]:
    """Columns of the smallest entries of every row, smallest first, and these entries; of equals the first columns."""
    count = min(count, squared.shape[1])
    columns = np.sort(smallest(squared, count), axis=1) if len(squared) else np.empty((0, count), dtype=np.intp)
    values = np.take_along_axis(squared, columns, axis=1)
    order = np.argsort(values, axis=1, kind="stable")
    return np.take_along_axis(columns, order, axis=1), np.take_along_axis(values, order, axis=1)


class RadialKernel:
    """k(z, x) = factor·κ(‖z − x‖²) between rows that are centered and the samples."""

    _LARGEST, _HALVINGS = 1e20, 100  # exponent that is searched for, by halving

    def __init__(self, kernel: EuclideanKernel, factor: float, samples: NDArray) -> None:
        self.kernel, self.factor, self.samples = kernel, factor, samples
        self.mean = samples.mean(axis=0, dtype=np.float64)
        self.centered = np.asarray(samples - self.mean, dtype=np.float64)
        self._prepared: Any = kernel.prepare(self.centered)
        self.length = float(1 / np.sqrt(kernel.scale))  # distance at which the exponent is 1

    @classmethod
    def of(cls, kernel: Kernel, samples: Any) -> Self | None:
        """None if the kernel is not a function of the Euclidean distance, or the samples are not dense rows."""
        factor = 1.0
        while isinstance(kernel, Scaled):
            factor, kernel = factor * kernel.factor, kernel.kernel
        radial = isinstance(kernel, EuclideanKernel) and isinstance(samples, np.ndarray)
        return cls(kernel, factor, samples) if radial else None  # type: ignore[arg-type]

    def values_and_slopes(self, Z: NDArray) -> tuple[NDArray, NDArray]:
        """κ − κ(0) and −κ'/scale of centered rows against all samples. The first keeps its digits for flat kernels."""
        slopes = np.empty((len(Z), len(self.centered)))
        self._prepared.against(Z).exponents(slice(None), slice(None), slopes)
        np.minimum(slopes, 0.0, out=slopes)
        values = slopes.copy()
        self.kernel.profile(values, 1.0)
        if isinstance(self.kernel, RBF):
            np.add(values, 1.0, out=slopes)
        else:
            self.kernel.slope(slopes)
        return values, slopes

    def squared_distances_at(self, drops: NDArray) -> NDArray:
        """‖z − x‖² at which κ has dropped by so much from κ(0) = 1."""
        if isinstance(self.kernel, RBF):
            return np.asarray(-np.log1p(-drops) / self.kernel.scale)
        low, high = np.zeros(drops.shape), np.full(drops.shape, self._LARGEST)
        for _ in range(self._HALVINGS):  # the geometric mean of exponents that are far apart
            middle = np.where(high > 4 * low, np.sqrt(np.maximum(low, 1 / self._LARGEST) * high), (low + high) / 2)
            values = -middle
            self.kernel.profile(values, 1.0)
            beyond = values < -drops
            high, low = np.where(beyond, middle, high), np.where(beyond, low, middle)
        return np.asarray(np.where(drops > 0, (low + high) / 2, 0.0) / self.kernel.scale)


# ---------------------------------------------------------------------- fixed points

_MAX_STEPS = 100
_MAX_HALVINGS = 8  # of a step, one after the other: the last digits are reached
_SHORT_STEP = 1e-5  # of the length of the kernel: a full step that is shorter ends the search
_LEAST_WEIGHT = 0.05  # of Σ|w|, by which a step is divided if Σw is smaller


def fixed_point(radial: RadialKernel, C: NDArray, start: NDArray) -> tuple[NDArray, NDArray]:
    """Minima z = Σwᵢxᵢ/Σwᵢ, w = −cᵢκ'(‖z − xᵢ‖²), of f(z) = −2Σcᵢκ(‖z − xᵢ‖²), and f + 2Σcᵢ there.

    The step to Σwᵢxᵢ/Σwᵢ is −∇f/(4·scale·Σw), downhill if Σw > 0. Negative coefficients may leave little of Σw or
    less; the step, still downhill, is then divided by a fraction of Σ|w|. A step that raises f is halved.
    """
    Z = np.asarray(start - radial.mean, dtype=np.float64)
    heights, steps = _heights_and_steps(radial, C, Z)
    factors, n_halved = np.ones(len(Z)), np.zeros(len(Z), dtype=int)
    active = np.arange(len(Z))
    for _ in range(_MAX_STEPS):
        long = np.linalg.norm(steps[active], axis=1) > _SHORT_STEP * radial.length
        active = active[long & (n_halved[active] < _MAX_HALVINGS)]
        if not len(active):
            break
        trial = Z[active] + factors[active, None] * steps[active]
        new_heights, new_steps = _heights_and_steps(radial, C[active], trial)
        lower = new_heights < heights[active]
        taken, refused = active[lower], active[~lower]
        Z[taken], heights[taken], steps[taken] = trial[lower], new_heights[lower], new_steps[lower]
        factors[taken], n_halved[taken] = np.minimum(1.0, 2 * factors[taken]), 0
        factors[refused] /= 2
        n_halved[refused] += 1
    return Z + radial.mean, heights


def _heights_and_steps(radial: RadialKernel, C: NDArray, Z: NDArray) -> tuple[NDArray, NDArray]:
    values, weights = radial.values_and_slopes(Z)
    heights = -2 * np.einsum("ij,ij->i", C, values)
    weights *= C
    total = weights.sum(axis=1)
    steps = weights @ radial.centered - total[:, None] * Z
    divisors = np.maximum(total, _LEAST_WEIGHT * np.abs(weights).sum(axis=1))[:, None]
    return heights, np.divide(steps, divisors, out=np.zeros_like(steps), where=divisors > 0)


# ---------------------------------------------------------------------- Kwok and Tsang

_LEAST_VALUE = 1e-6  # of k(x, x), that a neighbor and a pre-image have in common at least
_FAINT = 1e-3  # of the k of the nearest neighbor: one with less says nothing
_RANK = 1e-10  # of the largest eigenvalue of the neighbors' Gram matrix: below, they span nothing


def kwok_tsang(radial: RadialKernel, neighbors: NDArray, squared: NDArray, excess: NDArray) -> NDArray:
    """The points at the distances from their neighbors that p has from their images in the feature space.

    Images lie on the sphere ‖φ(z)‖² = k(0), and p mostly inside, by `excess` = ‖p‖²/k(0) − 1. The image is taken in the
    direction of p: k(z, xᵢ) = √k(0)·⟨p, φ(xᵢ)⟩/‖p‖, with ⟨p, φ(xᵢ)⟩ from ‖p − φ(xᵢ)‖² (`squared`). That gives
    distances to the neighbors, and these a point. The smaller k, the less it says of a distance, so a neighbor
    counts by k².
    """
    excess = np.maximum(excess, _LEAST_VALUE - 1)[:, None]
    longer = excess / (np.sqrt(1 + excess) + 1)  # ‖p‖/√k(0) − 1, with all its digits
    drops = (longer - (excess - squared / radial.factor) / 2) / (1 + longer)
    drops = np.clip(drops, 0.0, 1 - _LEAST_VALUE)
    relative = (1 - drops) / (1 - drops).max(axis=1, keepdims=True)
    weights = np.where(relative < _FAINT, 0.0, relative**2)
    return locate(radial.samples[neighbors], radial.squared_distances_at(drops), weights)


def locate(points: NDArray, squared: NDArray, weights: NDArray) -> NDArray:
    """Locate the point of every neighborhood (m × q × d) that has these squared distances (m × q) to its q points.

    With x̄ their weighted mean and A = points − x̄, ‖z − xᵢ‖² = sᵢ says A(z − x̄) = b with bᵢ = ½(‖Aᵢ‖² − sᵢ) less its
    mean, a problem of least squares. ‖z − x̄‖² is known as well; what the span of A does not explain of it, divided
    among the d − r dimensions beside it, is a variance σ² of points around the data. The same noise lies inside the
    span, where points have the variances eⱼ/q: each coordinate is multiplied by eⱼ/(eⱼ + qσ²), the best linear guess.
    """
    total = weights.sum(axis=1)
    mean = np.einsum("ij,ijk->ik", weights, points, dtype=np.float64) / total[:, None]
    A = points - mean[:, None]
    gram = A @ A.transpose(0, 2, 1)
    own = np.einsum("ijj->ij", gram).copy()
    radius = np.sum(weights * (squared - own), axis=1) / total  # ‖z − x̄‖²
    root = np.sqrt(weights)
    gram *= root[:, :, None] * root[:, None]
    values, U = np.linalg.eigh(gram)
    spanned = values > _RANK * np.maximum(values[:, -1:], TINY)
    along = np.einsum("ijk,ij->ik", U, root * (own - squared + radius[:, None]) / 2)
    explained = np.sum(along**2 * np.divide(1.0, values, out=np.zeros_like(values), where=spanned), axis=1)
    n_beside = np.maximum(points.shape[2] - spanned.sum(axis=1), 0)
    left = np.maximum(radius - explained, 0.0)
    noise = total * np.divide(left, n_beside, out=np.zeros(len(left)), where=n_beside > 0)
    shrunk = np.divide(along, values + noise[:, None], out=np.zeros_like(values), where=spanned)
    z = np.einsum("ij,ijk->ik", root * np.einsum("ijk,ik->ij", U, shrunk), A)
    most, lengths = np.sum(weights * squared, axis=1) / total, np.einsum("ij,ij->i", z, z)
    within = np.divide(most, lengths, out=np.ones_like(lengths), where=lengths > most)  # ‖z − x̄‖² ≤ mean of s
    return np.asarray(mean + z * np.sqrt(within)[:, None])


# ---------------------------------------------------------------------- ridge regression

_TUNING_ROWS, _LEARNING_ROWS = 400, 3000  # rows that choose kernel and penalty, and that the regression is learned from
_PENALTIES = 10.0 ** np.arange(-8, 2)  # times the mean of k(y, y)
_WIDTHS = 0.03, 0.1, 0.3, 1.0, 3.0  # γ times the median squared distance of scores
_BYTES = 32  # of each entry of a matrix between rows


@dataclass(frozen=True, eq=False)
class RidgeInverse:
    """x̂ = mean + k(y − origin, scores) C: kernel ridge regression from scores to rows.

    The kernel compares scores and is not that of the fit: linear, or RBF of several widths. Kernel and penalty are
    those of the least error of leave-one-out, among 400 rows.
    """

    kernel: Kernel
    scores: NDArray
    origin: NDArray
    coefficients: NDArray
    mean: NDArray
    penalty: float

    @classmethod
    def fit(
        cls, scores: NDArray, rows: NDArray, weights: NDArray, n_threads: int = 1, like: Self | None = None
    ) -> Self:
        """Learn from all rows, with the kernel and the penalty of another regression if there is one."""
        mean, origin = np.average(rows, axis=0, weights=weights), np.average(scores, axis=0, weights=weights)
        scores, rows = scores - origin, rows - mean
        if like is None:
            some = spread(len(rows), _TUNING_ROWS)
            kernel, penalty = _best_by_leave_one_out(scores[some], rows[some], weights[some])
        else:
            kernel, penalty = like.kernel, like.penalty
        coefficients = learn_inverse(kernel, scores, rows, penalty, weights, n_threads)
        return cls(kernel, scores, origin, coefficients, mean, penalty)

    def predict(self, Y: NDArray, n_threads: int = 1) -> NDArray:
        """Rows of scores Y."""
        prepared = self.kernel.prepare(self.scores).against(Y - self.origin)
        return multiply_rows(prepared, self.coefficients, n_threads) + self.mean


def spread(n: int, most: int) -> NDArray:
    """Indices of at most so many of n rows, evenly spaced."""
    count = max(1, min(n, most))
    return np.arange(count) * n // count


def _best_by_leave_one_out(scores: NDArray, rows: NDArray, weights: NDArray) -> tuple[Kernel, float]:
    if rows.shape[1] > len(rows):  # errors depend on the lengths and angles of rows alone
        rows = linalg.qr(rows.T, mode="r", check_finite=False)[0][: len(rows)].T
    rows = rows / power_of_two(np.abs(rows).max())  # squares of errors must neither overflow nor vanish
    best: tuple[float, Kernel, float] = (np.inf, Linear(), 1.0)
    for kernel in _kernels_of_scores(scores):
        K = kernel(scores, scores)
        unit = float(np.mean(np.diag(K)))
        if unit > 0:
            errors = leave_one_out(K, rows, unit * _PENALTIES, weights)
            least = int(np.argmin(errors))
            if errors[least] < best[0]:
                best = float(errors[least]), kernel, float(unit * _PENALTIES[least])
    return best[1:]


def _kernels_of_scores(scores: NDArray) -> list[Kernel]:
    squared = RBF(1.0).distances(scores)
    squared = squared[squared > 0]
    widths = [width / float(np.median(squared)) for width in _WIDTHS] if len(squared) else []
    return [Linear(), *(RBF(gamma=gamma) for gamma in widths if 0 < gamma < np.inf)]


def leave_one_out(K: NDArray, rows: NDArray, penalties: NDArray, weights: NDArray) -> NDArray:
    """Weighted means of ‖xᵢ − x̂ᵢ‖² for every penalty λ, x̂ᵢ predicted from all rows but the i-th.

    With A = K + λW⁻¹ and C = A⁻¹X that error is Cᵢ/(A⁻¹)ᵢᵢ. One eigendecomposition of W^½KW^½ serves all λ.
    """
    root = np.sqrt(weights)
    values, U = linalg.eigh(root[:, None] * K * root, check_finite=False)
    values = np.maximum(values, 0.0)
    inner, squares, errors = U.T @ (root[:, None] * rows), U**2, np.empty(len(penalties))
    for i, penalty in enumerate(penalties):
        inverse = 1 / (values + penalty)
        C = root[:, None] * (U @ (inverse[:, None] * inner))
        e = C / (weights * (squares @ inverse))[:, None]
        errors[i] = weights @ np.einsum("ij,ij->i", e, e) / weights.sum()
    return errors


# ---------------------------------------------------------------------- all methods

METHODS = ("auto", "fixed-point", "kwok-tsang", "ridge")
_OUTSIDE, _DEVIATIONS = 2.0, 6.0  # times the largest known score, and standard deviations: beyond, a score is outside


class Preimages:
    """Samples for scores, by any method; what a method learns is learned once.

    Parameters
    ----------
    expansion : KernelExpansion
        The components.
    weights : ndarray of shape (n_samples,) or None
        Sample weights.
    budget : Budget
        Limits of memory and threads.
    """

    def __init__(self, expansion: KernelExpansion, weights: NDArray | None, budget: Budget) -> None:
        self.expansion, self.weights, self.memory = expansion, weights, budget.memory

    @property
    def kernel(self) -> Kernel:
        """Of the expansion."""
        return self.expansion.kernel

    @cached_property
    def geometry(self) -> Geometry:
        """Distances in the feature space."""
        return Geometry(self.expansion)

    @cached_property
    def radial(self) -> RadialKernel | None:
        """The kernel as a function of the Euclidean distance."""
        return RadialKernel.of(self.kernel, self.expansion.samples)

    @cached_property
    def learning(self) -> NDArray:
        """Indices of the samples that regressions are learned from."""
        return spread(len(self.expansion.center), min(_LEARNING_ROWS, int(np.sqrt(self.memory / _BYTES))))

    @cached_property
    def learning_rows(self) -> NDArray:
        """These samples."""
        return np.asarray(self.expansion.samples[self.learning], dtype=np.float64)

    @cached_property
    def learning_weights(self) -> NDArray:
        """Their weights."""
        return np.ones(len(self.learning)) if self.weights is None else self.weights[self.learning]

    @cached_property
    def ridge(self) -> RidgeInverse:
        """The regression from scores."""
        scores = self.geometry.scores[self.learning]
        return RidgeInverse.fit(scores, self.learning_rows, self.learning_weights, self.geometry.n_threads)

    @cached_property
    def denoiser(self) -> "Denoiser":
        """Of radial kernels."""
        from mercer.estimators._denoising import Denoiser

        return Denoiser(self)

    def invert(self, Y: NDArray, method: str) -> NDArray:
        """Rows for scores."""
        if is_linear(self.kernel) and method == "auto":
            return self._in_the_plane(Y)
        self._check(method)
        return self._checked(Y, lambda: self._invert(Y, method))

    def denoise(self, rows: Any, Y: NDArray) -> NDArray:
        """Rows without their noise, given their scores; for kernels that are not radial, those of "auto"."""
        if self.radial is None:
            return self.invert(Y, "auto")
        return self._checked(Y, lambda: self._denoise(Y, self.denoiser.levels(rows)))

    def _checked(self, Y: NDArray, compute: Any) -> NDArray:
        """Finite numbers, or an error; no negative ones for kernels of counts."""
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            try:
                found = compute()
                finite = bool(np.isfinite(found).all() and np.isfinite(self.geometry.squared_norms(Y)).all())
            except np.linalg.LinAlgError:  # of numbers that are not finite
                finite = False
        if not finite:
            raise DataError(
                "The inverse transform overflows: the squares of the scores or of the training rows are too large. "
                "Pass scores like those of the training rows, or scale the data down."
            )
        return np.maximum(found, 0.0) if self.kernel.non_negative else found

    def _check(self, method: str) -> None:
        """Raise an error for a kernel, or samples, that a method cannot use."""
        if sparse.issparse(self.expansion.samples):
            raise ParameterError(
                "preimage",
                method,
                "",
                message=f"Pre-images are dense rows, and the model was fitted to sparse ones, which only "
                f"preimage='auto' with the linear kernel takes, not {short_repr(self.kernel)}. Fit X.toarray().",
            )
        if method in ("fixed-point", "kwok-tsang") and self.radial is None:
            raise ParameterError(
                "preimage",
                method,
                "",
                message=f"preimage={method!r} needs a function of the Euclidean distance (RBF, Matern, "
                f"RationalQuadratic), and {short_repr(self.kernel)} is not one.",
                remedies=[Remedy("preimage", "auto")],
            )

    def _invert(self, Y: NDArray, method: str) -> NDArray:
        if method == "kwok-tsang":
            return self.by_distances(Y)
        return self.fixed_points(Y) if method == "fixed-point" else self.ridge.predict(Y, self.geometry.n_threads)

    def _denoise(self, Y: NDArray, levels: NDArray) -> NDArray:
        out = np.empty((len(Y), self.expansion.samples.shape[1]))
        for level in np.unique(levels):
            rows = np.flatnonzero(levels == level)
            out[rows] = self.ridge.predict(Y[rows]) if level < 0 else self.denoiser.denoise(Y[rows], level)
        return out

    def by_distances(self, Y: NDArray, own: NDArray | None = None) -> NDArray:
        """`kwok_tsang` of every point; `own`: samples that are not taken for neighbors of their own."""
        geometry, radial = self.geometry, self.radial
        assert radial is not None
        out = np.empty((len(Y), radial.samples.shape[1]))

        def find(rows: slice) -> None:
            columns, squared = self._neighbors(Y[rows], None if own is None else own[rows])
            out[rows] = kwok_tsang(radial, columns, squared, self._excess(Y[rows]))

        parallel(find, self._pieces(len(Y)), geometry.n_threads)
        return out

    def _neighbors(self, Y: NDArray, own: NDArray | None) -> tuple[NDArray, NDArray]:
        """The nearest samples of every point, and squared distances to their images."""
        squared = self.geometry.squared_distances(Y)
        if own is None or squared.shape[1] == 1:
            return nearest(squared, N_NEIGHBORS)
        squared[np.arange(len(squared)), own] = np.inf
        return nearest(squared, min(N_NEIGHBORS, squared.shape[1] - 1))

    def _excess(self, Y: NDArray) -> NDArray:
        """‖p‖²/k(0) − 1."""
        assert self.radial is not None
        top = self.radial.factor
        return (self.geometry.squared_norms(Y) + (self.geometry.shift - top)) / top

    def fixed_points(self, Y: NDArray, own: NDArray | None = None) -> NDArray:
        """`fixed_point` from `kwok_tsang`, and from the nearest sample where that ends lower."""
        geometry, radial = self.geometry, self.radial
        assert radial is not None
        out = np.empty((len(Y), radial.samples.shape[1]))

        def find(rows: slice) -> None:
            C, y = geometry.coefficients(Y[rows]), Y[rows]
            columns, squared = self._neighbors(y, None if own is None else own[rows])
            if own is not None:
                C[np.arange(len(C)), own[rows]] = 0.0
            Z, heights = fixed_point(radial, C, kwok_tsang(radial, columns, squared, self._excess(y)))
            of_nearest = (squared[:, 0] - geometry.squared_norms(y) - geometry.shift) / radial.factor - 1
            again = np.flatnonzero(of_nearest + 2 * C.sum(axis=1) < heights)
            if len(again):
                Z[again] = fixed_point(radial, C[again], radial.samples[columns[again, 0]])[0]
            out[rows] = Z

        parallel(find, self._pieces(len(Y)), geometry.n_threads)
        return out

    def _pieces(self, n_points: int) -> list[slice]:
        """Points that a thread works on at once, with ten arrays of numbers to all samples."""
        entries = self.memory // (80 * self.geometry.n_threads)
        return self.geometry.blocks(n_points, N_NEIGHBORS * self.expansion.samples.shape[1], entries)

    def _in_the_plane(self, Y: NDArray) -> NDArray:
        """Σcᵢxᵢ + (1 − Σcᵢ)·origin: by the linear kernel, p is the image of a row."""
        alpha, center, samples = self.expansion.coefficients, self.expansion.center, self.expansion.samples
        if sparse.issparse(samples):
            return np.asarray(Y @ (samples.T @ alpha).T + samples.T @ center)
        mean = samples.mean(axis=0, dtype=np.float64)
        centered, moved = samples - mean, mean - _origin(self.kernel)
        missing = Y @ alpha.sum(axis=0) + (center.sum() - 1)
        return np.asarray(mean + Y @ (centered.T @ alpha).T + missing[:, None] * moved + centered.T @ center)

    def count_outside(self, Y: NDArray, deviations: NDArray) -> int:
        """How many points have a score beyond twice the largest known one and six standard deviations."""
        most = np.maximum(_OUTSIDE * np.abs(self.geometry.scores).max(axis=0), _DEVIATIONS * deviations)
        return int(np.any(np.abs(Y) > most, axis=1).sum())


def find_preimages(model: Any, preimages: Preimages, Y: NDArray, return_error: bool, rows: Any = None) -> Any:
    """Samples for scores, as the model returns them; of given rows, without their noise."""
    method = "auto" if model.preimage is None else model.preimage
    if method not in METHODS:  # set since the fit
        raise ParameterError("preimage", method, f"{joined([repr(name) for name in METHODS], 'or')} or None")
    kernel, samples = preimages.kernel, preimages.expansion.samples
    found: Any
    if model.input_kind != "vectors" or are_item_numbers(kernel, samples):
        if method != "auto":
            what = model.input_kind if model.input_kind != "vectors" else "items by their numbers"
            raise ParameterError(
                "preimage",
                method,
                "'auto'",
                message=f"preimage={method!r} computes with rows of numbers, and {short_repr(kernel)} compares {what}.",
                remedies=[Remedy("preimage", "auto")],
            )
        from mercer.estimators._string_preimages import nearest_items, search_strings

        if model.input_kind == "strings" and rows is None:
            found = search_strings(preimages.geometry, Y)
        else:
            found = samples[nearest_items(preimages.geometry, Y)]
        result = found
    else:
        found = preimages.denoise(rows, Y) if rows is not None and method == "auto" else preimages.invert(Y, method)
        scale = preimages.expansion.scale
        result = (found if scale is None else found * scale).astype(model.eigenvalues_.dtype, copy=False)
    return (result, preimages.geometry.errors(found, Y)) if return_error else result


def outside_warning(model: Any, preimages: Preimages, Y: NDArray) -> str:
    """That scores are far outside; "" if they are not."""
    if is_linear(preimages.kernel):  # every score is that of a row
        return ""
    variances = np.asarray(model.explained_variance_[: Y.shape[1]], dtype=np.float64)
    n_outside = preimages.count_outside(Y, np.sqrt(np.maximum(variances, 0.0)))
    if not n_outside:
        return ""
    return (
        f"{counted(n_outside, 'row')} of X {'is' if n_outside == 1 else 'are'} far outside: with a score more than "
        "twice as large as any of the fit. The samples found for them mean little."
    )


def is_linear(kernel: Kernel) -> bool:
    """Whether φ(x) is a multiple of x − origin: every point of the feature space is then the image of a row."""
    return isinstance(_without_factor(kernel), Linear)


def _without_factor(kernel: Kernel) -> Kernel:
    """The kernel that is multiplied or moved to another origin."""
    while isinstance(kernel, (Scaled, MovedRows)):
        kernel = kernel.kernel
    return kernel


def _origin(kernel: Kernel) -> NDArray | float:
    """The origin of a linear kernel, which is that of landmarks far from zero."""
    while isinstance(kernel, Scaled):
        kernel = kernel.kernel
    return kernel.origin if isinstance(kernel, MovedRows) else 0.0


def are_item_numbers(kernel: Kernel, samples: Any) -> bool:
    """Whether samples are numbers by which a function looks up items, so that an average means nothing."""
    if kernel.input_kind != "any" or not isinstance(samples, np.ndarray) or samples.ndim != 2 or samples.shape[1] != 1:
        return False
    numbers = samples.ravel()
    whole = bool(np.all((numbers >= 0) & (numbers == np.floor(numbers))))
    return whole and len(np.unique(numbers)) == len(numbers)
