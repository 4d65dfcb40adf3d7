"""Probabilistic PCA of rows with missing values: EM over rows that are grouped by their observed columns.

A row is x = mean + Wz + e with z ~ N(0, I) and e ~ N(0, σ²I). Given the observed columns O, with y = x_O − mean_O,

  z | x_O ~ N(C W_Oᵀy/σ², C),  C = (I + W_OᵀW_O/σ²)⁻¹,  log|W_OW_Oᵀ + σ²I| = |O| log σ² − log|C|,

so no matrix is larger than k x k, and rows with the same O share it. With a prior w_j ~ N(0, diag(α)⁻¹) on the rows of
W, EM is variational: w_j has a posterior covariance S_j, W_OᵀW_O stands for its expectation, and α is learned, one for
all factors ("normal") or one each, which switches factors off that the data do not support ("ard"; Bishop 1999; Ilin
and Raiko 2010). The objective is the bound on the evidence

  Σ log p(x_O | W, S, σ², mean) − ½ Σ_j [Σ_l α_l(w_jl² + S_j,ll) − log|S_j| − Σ_l log α_l − k],

or without a prior its first term. No EM step decreases it; SQUAREM steps (Varadhan and Roland 2008) are kept only if
they do not either.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from mercer.certificates.optimum import MissingDataCertificate
from mercer.errors import MercerWarning, Remedy
from mercer.estimators._linear import completed
from mercer.estimators._linear_solve import Moments, PrincipalAxes
from mercer.linalg.eigen import column_signs
from mercer.numerics.rounding import power_of_two
from mercer.numerics.threads import parallel
from mercer.planning.plan import Plan
from mercer.text import counted

MAX_TRIED = 100  # components that n_components="cv" compares at most
_LONGEST = 512  # rows of one pattern that are treated together
_ENTRIES = 1_000_000  # of the arrays that a thread holds
_JITTER = 1e-14  # of the diagonal: keeps precision matrices positive definite
_LITTLE_NOISE = 1e-9  # of the largest variance: below, W_OᵀW_O/σ² has too few digits
_LEAST_NOISE, _SWITCHED_OFF = 1e-7, 1e10  # σ² at least, and α at most, in units of the variance of a column
_LONGEST_STEP = 2.0  # change of log σ² by one SQUAREM step
_PATIENCE, _WORSE = 12, 1.01  # passes with an error above this multiple of the least one, before EM is stopped
_ROUNDING = 1e-9  # of the objective
_ENOUGH, _MOST, _FOLDS = 1000, 0.1, 5  # values to hold out: at least, but at most this fraction; repetitions
_LOOSE, _TRIES = 10.0, 3  # factor on the tolerance while k is searched; larger k without improvement before it ends
_AFTERWARDS = 5  # passes over all values after an early stop
_FAR_APART = 30.0  # ratio of standard deviations of columns that deserves a warning


# ---------------------------------------------------------------------- rows and models


@dataclass(frozen=True, eq=False)
class PatternRows:
    """Rows sorted by pattern of observed columns; missing values are 0. `order` holds their original positions."""

    values: NDArray  # (n, d)
    masks: NDArray  # (g, d): whether a column is observed
    starts: NDArray  # (g + 1,): first row of each pattern
    weights: NDArray
    order: NDArray

    @classmethod
    def from_array(cls, rows: NDArray, weights: NDArray | None = None) -> Self:
        """From rows with NaN for missing values."""
        observed = ~np.isnan(rows)
        bits = np.packbits(observed, axis=1)
        keys = np.ascontiguousarray(bits).view([("", bits.dtype, bits.shape[1])]).reshape(-1)
        pattern = np.unique(keys, return_inverse=True)[1].reshape(-1)
        order = np.argsort(pattern, kind="stable")
        firsts = np.searchsorted(pattern[order], pattern[order])
        starts = np.flatnonzero((np.arange(len(rows)) - firsts) % _LONGEST == 0)
        values = np.where(observed, rows, 0.0)[order]
        weights = np.ones(len(rows)) if weights is None else weights[order]
        return cls(values, observed[order[starts]], np.append(starts, len(rows)), weights, order)

    @cached_property
    def observed_weight(self) -> NDArray:
        """Sum of the weights of the rows in which each column is observed."""
        return np.add.reduceat(self.weights, self.starts[:-1]) @ self.masks

    @cached_property
    def sums(self) -> NDArray:
        return self.weights @ self.values

    @cached_property
    def total_squares(self) -> float:
        return float(self.weights @ np.einsum("ij,ij->i", self.values, self.values))

    @property
    def variance(self) -> float:
        """Mean square of the observed values."""
        return max(self.total_squares / float(self.observed_weight.sum()), 1e-300)

    def pieces(self, k: int) -> list[slice]:
        """Patterns that a thread treats at once with k factors; they depend on shapes only."""
        most = max(1, _ENTRIES // (self.values.shape[1] + 3 * k * (k + 1)))
        edges = np.flatnonzero(np.diff(self.starts[:-1] // most, prepend=-1)).tolist()
        return [slice(a, b) for a, b in pairwise([*(edges or [0]), len(self.masks)])]

    def restore(self, parts: list[NDArray]) -> NDArray:
        """Results of all rows, in the original order."""
        found = np.concatenate(parts)
        out = np.empty_like(found)
        out[self.order] = found
        return out


@dataclass(frozen=True, eq=False)
class FactorModel:
    """The distribution N(mean, WWᵀ + σ²I); `loadings_cov` (d, k, k) is the posterior covariance of the rows of W."""

    loadings: NDArray
    noise: float
    mean: NDArray
    loadings_cov: NDArray | None = None

    @property
    def k(self) -> int:
        return int(self.loadings.shape[1])

    @cached_property
    def squares(self) -> NDArray:
        """⟨wwᵀ⟩ of each column, packed."""
        i, j = np.triu_indices(self.k)
        squares = self.loadings[:, i] * self.loadings[:, j]
        return squares if self.loadings_cov is None else squares + self.loadings_cov[:, i, j]

    @cached_property
    def peak(self) -> float:
        """Largest variance along an axis, without the noise."""
        return float((self.loadings**2).sum(axis=0).max(initial=0.0))

    def posteriors(self, rows: PatternRows) -> "Iterator[Posterior]":
        return (Posterior(rows, self, piece) for piece in rows.pieces(self.k))

    def scores(self, rows: PatternRows) -> NDArray:
        """E[z | x_O] of each row."""
        return rows.restore([posterior.means for posterior in self.posteriors(rows)])

    def covariances(self, rows: PatternRows) -> NDArray:
        """Cov[z | x_O] of each row, (n, k, k)."""
        return rows.restore([p.covariances[p.pattern] for p in self.posteriors(rows)])

    def log_density(self, rows: PatternRows) -> NDArray:
        """log p(x_O) of each row; 0 if nothing is observed."""
        return rows.restore([posterior.log_density for posterior in self.posteriors(rows)])

    def predictive_variances(self, rows: PatternRows, observed_weight: NDArray) -> NDArray:
        """Variance of each value as if it were missing, including the uncertainty of the mean and of W.

        Column j is a regression on (1, z) over m_j rows, whose coefficients have about the covariance σ²/m_j. This
        acts like more noise, σ²(1 + q/m_j) with q = 1 + E‖z‖², also in the observed columns, by which
        C grows by (q/m)(C − C²) to first order, with m the mean of m_j.
        """
        model, parts = self._unbiased(observed_weight), []
        for p in model.posteriors(rows):
            q = 1 + np.einsum("ij,ij->i", p.means, p.means) + np.einsum("pkk->p", p.covariances)[p.pattern]
            products = self.loadings @ p.covariances
            spread = np.maximum(np.einsum("pjk,jk->pj", products, self.loadings), 0.0)
            growth = np.maximum(spread - np.einsum("pjk,pjk->pj", products, products), 0.0) / observed_weight.mean()
            parts.append(
                spread[p.pattern] + model.noise + q[:, None] * (growth[p.pattern] + model.noise / observed_weight)
            )
        return rows.restore(parts)

    def draw(self, rows: PatternRows, observed_weight: NDArray, rng: np.random.Generator) -> NDArray:
        """A random value of each entry given the observed ones of its row, after drawing σ², W and the mean."""
        noise = self._unbiased(observed_weight).noise
        d, k = self.loadings.shape
        n_free = max(observed_weight.mean() - k - 1, 1.0) * max(d - k, 1)
        noise *= n_free / rng.chisquare(n_free)
        changes = np.sqrt(noise / observed_weight)[:, None] * rng.standard_normal((d, k + 1))
        model = FactorModel(self.loadings + changes[:, 1:], noise, self.mean + changes[:, 0])
        z = rng.standard_normal((len(rows.order), k))[rows.order]
        scores = rows.restore([p.means + p.times(p.roots, z[p.rows]) for p in model.posteriors(rows)])
        rest = np.sqrt(noise) * rng.standard_normal((len(z), d))
        return scores @ model.loadings.T + model.mean + rest

    def _unbiased(self, observed_weight: NDArray) -> "FactorModel":
        """The model without the bias of σ²: each column loses k + 1 degrees of freedom."""
        m = float(observed_weight.mean())
        return replace(self, noise=self.noise * m / max(m - self.k - 1, 1.0))


class Posterior:
    """Distribution of the factors, given the observed values, for the rows of some patterns."""

    def __init__(self, rows: PatternRows, model: FactorModel, patterns: slice) -> None:
        first, last = int(rows.starts[patterns.start]), int(rows.starts[patterns.stop])
        self.model, self.rows = model, slice(first, last)
        self.values, self.weights = rows.values[self.rows], rows.weights[self.rows]
        self.masks = rows.masks[patterns].astype(np.float64)
        self.starts = rows.starts[patterns.start : patterns.stop + 1] - first
        self.pattern = np.repeat(np.arange(len(self.masks)), np.diff(self.starts))
        self.y = self.values - (self.masks * model.mean)[self.pattern] if model.mean.any() else self.values
        degenerate = model.loadings_cov is None and model.noise <= _LITTLE_NOISE * model.peak
        (self._decompose if degenerate else self._invert)()

    def _invert(self) -> None:
        """C by LAPACK."""
        k, noise = self.model.k, self.model.noise
        precisions, own = _unpack(self.masks @ (self.model.squares / noise), k), np.arange(k)
        precisions[:, own, own] = 1.0 + (1 + _JITTER * k) * precisions[:, own, own]
        self.covariances, self.cholesky = np.linalg.inv(precisions), np.linalg.cholesky(precisions)
        pulls = self.y @ (self.model.loadings / noise)
        self.means = self.times(self.covariances, pulls)
        logs = self.masks.sum(axis=1) * np.log(2 * np.pi * noise)
        logs += 2 * np.log(np.diagonal(self.cholesky, axis1=1, axis2=2)).sum(axis=1)
        if self.model.loadings_cov is None:  # ‖y − Wz‖²/σ² + ‖z‖² at its minimum: nothing cancels
            rest = self.y - (self.means @ self.model.loadings.T) * self.masks[self.pattern]
            distances = np.einsum("ij,ij->i", rest, rest) / noise + np.einsum("ij,ij->i", self.means, self.means)
        else:
            distances = np.einsum("ij,ij->i", self.y, self.y) / noise - np.einsum("ij,ij->i", pulls, self.means)
        self.log_density = -(logs[self.pattern] + distances) / 2

    def _decompose(self) -> None:
        """The same by the SVD of W_O, also without any noise; the density leaves out directions without variance."""
        noise, peak = self.model.noise, self.model.peak
        U, s, Vt = np.linalg.svd(self.masks[:, :, None] * self.model.loadings, full_matrices=False)
        variances, floor = s**2 + noise, np.finfo(float).eps * (peak + noise)
        inside = (s > 1e-13 * np.sqrt(peak)) & (variances > floor)
        variances = np.where(inside, variances, 1.0)
        shrunk = np.where(inside, noise / variances, 1.0)
        self.covariances = np.matmul(Vt.transpose(0, 2, 1) * shrunk[:, None, :], Vt)
        self.roots = Vt.transpose(0, 2, 1) * np.sqrt(shrunk)[:, None, :]
        along = self.times((U * inside[:, None, :]).transpose(0, 2, 1), self.y)
        scaled = along / variances[self.pattern]
        self.means = self.times(Vt.transpose(0, 2, 1), scaled * s[self.pattern])
        logs, distances = (inside * np.log(2 * np.pi * variances)).sum(axis=1), np.einsum("ij,ij->i", along, scaled)
        if noise > floor:
            logs += (self.masks.sum(axis=1) - inside.sum(axis=1)) * np.log(2 * np.pi * noise)
            rest = self.y - self.times(U, along)
            distances += np.einsum("ij,ij->i", rest, rest) / noise
        self.log_density = -(logs[self.pattern] + distances) / 2

    @cached_property
    def roots(self) -> NDArray:
        """Matrices H with C = HHᵀ."""
        return np.linalg.inv(self.cholesky).transpose(0, 2, 1)

    def times(self, matrices: NDArray, vectors: NDArray) -> NDArray:
        """The matrix of its pattern times the vector of each row."""
        if len(self.masks) == 1:
            return vectors @ matrices[0].T
        if len(self.masks) < len(vectors):
            matrices = matrices[self.pattern]
        return np.einsum("ikl,il->ik", matrices, vectors)

    def statistics(self) -> "ExpectedStatistics":
        weighted = self.means * self.weights[:, None]
        i, j = np.triu_indices(self.model.k)
        if len(self.masks) == 1:
            squares = (weighted.T @ self.means)[i, j][None]
        else:
            squares = self._by_pattern(weighted[:, i] * self.means[:, j])
        squares += self._by_pattern(self.weights)[:, None] * self.covariances[:, i, j]
        return ExpectedStatistics(
            log_likelihood=float(self.weights @ self.log_density),
            second=self.masks.T @ squares,
            first=self.masks.T @ self._by_pattern(weighted),
            cross=self.values.T @ weighted,
            latent=squares.sum(axis=0),
        )

    def _by_pattern(self, of_rows: NDArray) -> NDArray:
        return of_rows if len(self.masks) == len(of_rows) else np.add.reduceat(of_rows, self.starts[:-1], axis=0)


class ExpectedStatistics(NamedTuple):
    """Sums over the rows in which column j is observed: ⟨zzᵀ⟩ (packed), ⟨z⟩, x_j⟨z⟩; over all rows ⟨zzᵀ⟩ (packed)."""

    log_likelihood: float
    second: NDArray
    first: NDArray
    cross: NDArray
    latent: NDArray


def expected_statistics(rows: PatternRows, model: FactorModel, n_threads: int) -> ExpectedStatistics:
    """One pass over all rows. A few pieces at a time, added in fixed order: equal bits on any number of threads."""
    pieces, total = rows.pieces(model.k), list[Any]()
    for first in range(0, len(pieces), 2 * n_threads):
        some = pieces[first : first + 2 * n_threads]
        for found in parallel(lambda piece: Posterior(rows, model, piece).statistics(), some, n_threads):
            total = [one + more for one, more in zip(total, found, strict=True)] if total else list(found)
    return ExpectedStatistics._make(total)


def _unpack(triangles: NDArray, k: int) -> NDArray:
    """Symmetric matrices from their upper triangles, each in one row."""
    i, j = np.triu_indices(k)
    out = np.empty((len(triangles), k, k))
    out[:, i, j] = triangles
    out[:, j, i] = triangles
    return out


# ---------------------------------------------------------------------- EM


@dataclass(frozen=True, eq=False)
class State:
    """An iterate. The objective is defined after one step, when W has a covariance."""

    model: FactorModel
    prior: str | None = None
    alpha: NDArray | None = None  # (k,)

    @property
    def has_objective(self) -> bool:
        return self.prior is None or self.model.loadings_cov is not None

    @property
    def penalty(self) -> float:
        cov = self.model.loadings_cov
        if self.alpha is None or cov is None:
            return 0.0
        d, k = self.model.loadings.shape
        lengths = _expected_squares(self.model.loadings, cov)
        logs = np.linalg.slogdet(cov)[1].sum() + d * (np.log(self.alpha).sum() + k)
        return float(self.alpha @ lengths - logs) / 2


def initial_state(rows: PatternRows, k: int, prior: str | None) -> State:
    """Principal axes of the rows with column means in place of missing values."""
    Y = rows.values * np.sqrt(rows.weights / rows.weights.sum())[:, None]
    if len(Y) < Y.shape[1]:
        _, roots, axes = np.linalg.svd(Y, full_matrices=False)
        values, axes = roots**2, axes.T
    else:
        values, axes = np.linalg.eigh(Y.T @ Y)
        values, axes = np.maximum(values[::-1], 0.0), axes[:, ::-1]
    variance, d = rows.variance, Y.shape[1]
    noise = max(variance - float(values[:k].sum()) / d, 0.05 * variance)
    W = axes[:, :k] * np.sqrt(np.maximum(values[:k], 1e-6 * variance))
    return State(FactorModel(W, noise, np.zeros(d)), prior, _relevance(W, None, prior, variance) if prior else None)


def em_step(rows: PatternRows, state: State, n_threads: int) -> tuple[State, float]:
    """The next state, and the objective of this one: W with the mean, then σ², the factor space, and α."""
    model, alpha = state.model, state.alpha
    k, own = model.k, np.arange(model.k)
    found = expected_statistics(rows, model, n_threads)
    second = _unpack(found.second, k)
    precisions = second / model.noise
    if alpha is not None:
        precisions[:, own, own] += alpha
    inverses = np.linalg.inv(precisions)
    # each column regressed on the factors and a constant
    solved = np.matmul(inverses / model.noise, np.stack([found.cross, found.first], axis=2))
    explained = np.einsum("jk,jk->j", found.first, solved[:, :, 0])
    free = rows.observed_weight - np.einsum("jk,jk->j", found.first, solved[:, :, 1])
    mean = (rows.sums - explained) / np.maximum(free, 1e-12 * rows.observed_weight)
    W = solved[:, :, 0] - mean[:, None] * solved[:, :, 1]
    cov = None if alpha is None else inverses
    # ⟨(x − Wz − mean)²⟩ over all observed values
    squares = W[:, :, None] * W[:, None, :]
    spread = np.einsum("jkl,jkl->", second, squares if cov is None else squares + cov)
    cross = np.sum(W * found.cross) + mean @ rows.sums - mean @ np.einsum("jk,jk->j", W, found.first)
    rest = rows.total_squares - 2 * cross + spread + mean**2 @ rows.observed_weight
    noise = float(max(rest / rows.observed_weight.sum(), _LEAST_NOISE * rows.variance))
    strength = float(alpha[0]) if state.prior == "normal" and alpha is not None else None
    W, cov = _expand_parameters(W, cov, _unpack(found.latent[None], k)[0], float(rows.weights.sum()), strength)
    alpha = None if alpha is None else _relevance(W, cov, state.prior, rows.variance)
    return State(FactorModel(W, noise, mean, cov), state.prior, alpha), found.log_likelihood - state.penalty


def _expand_parameters(
    W: NDArray, cov: NDArray | None, latent: NDArray, n: float, alpha: float | None
) -> tuple[NDArray, NDArray | None]:
    """z → R⁻¹z and W → WR with the best R: parameter-expanded EM (Liu, Rubin and Wu 1998).

    With Φ = Σ⟨zzᵀ⟩ over n rows and Ω = ⟨WᵀW⟩ of d columns, R changes the objective by −½tr(R⁻¹ΦR⁻ᵀ) − (n − d)log|R|
    and by the prior: −½α tr(RᵀΩR) for one α, −d/2·Σ log(RᵀΩR)_ll for the best α of each factor. The optimum makes Φ and
    Ω diagonal together; Φ becomes nI, for one α divided by 2n/(n − d + √((n − d)² + 4αωn)) with ω the entry of Ω.
    """
    d, k = W.shape
    R = np.linalg.cholesky(latent / n + _JITTER * np.trace(latent) / n * np.eye(k))
    W = W @ R
    cov = None if cov is None else R.T @ cov @ R
    lengths, Q = np.linalg.eigh(W.T @ W + (0.0 if cov is None else cov.sum(axis=0)))
    lengths, Q = np.maximum(lengths[::-1], 0.0), Q[:, ::-1]
    if alpha is not None:
        Q = Q * np.sqrt(2 * n / (n - d + np.sqrt((n - d) ** 2 + 4 * alpha * n * lengths)))
    return W @ Q, None if cov is None else Q.T @ cov @ Q


def _expected_squares(W: NDArray, cov: NDArray | None) -> NDArray:
    return (W**2).sum(axis=0) + (0.0 if cov is None else np.einsum("jll->l", cov))


def _relevance(W: NDArray, cov: NDArray | None, prior: str | None, variance: float) -> NDArray:
    """α_l = d/Σ_j⟨w_jl²⟩, or the same for all factors."""
    (d, k), lengths = W.shape, _expected_squares(W, cov)
    lengths = np.full(k, lengths.mean()) if prior == "normal" else lengths
    return d / np.maximum(lengths, d * variance / _SWITCHED_OFF)


def squarem_step(first: State, second: State, third: State) -> State | None:
    """Extrapolation of three iterates in a row; None if they do not lead further than the third."""

    def vector(state: State) -> NDArray:
        W = _aligned(state.model.loadings, first.model.loadings)
        return np.concatenate([W.ravel(), state.model.mean, [np.log(state.model.noise)]])

    start = vector(first)
    step = vector(second) - start
    bend = vector(third) - start - 2 * step
    length, curvature = float(np.linalg.norm(step)), float(np.linalg.norm(bend))
    if not length > curvature > 0:
        return None
    a, last = length / curvature, third.model
    found = start + 2 * a * step + a * a * bend
    d, k = last.loadings.shape
    W = _aligned(found[: d * k].reshape(d, k), last.loadings)  # as in its covariances
    change = np.clip(found[-1] - np.log(last.noise), -_LONGEST_STEP, _LONGEST_STEP)
    model = replace(last, loadings=W, mean=found[d * k : -1], noise=last.noise * float(np.exp(change)))
    return replace(third, model=model)


def _aligned(W: NDArray, like: NDArray) -> NDArray:
    """W with the sign of each column chosen such that it points like the same column of another matrix."""
    return W * np.where(np.einsum("jk,jk->k", W, like) < 0, -1.0, 1.0)


class Ascent(NamedTuple):
    """How EM ended. `gain` is that of the last step per observed value, `error` the validation error of the state."""

    state: State
    n_passes: int
    gain: float
    converged: bool
    stopped_early: bool = False
    error: float = np.nan
    objectives: tuple[float, ...] = ()


def maximize(
    rows: PatternRows,
    start: State,
    *,
    tol: float,
    max_iter: int,
    n_threads: int,
    validate: Callable[[State], float] | None = None,
    progress: Any = None,
) -> Ascent:
    """EM steps, and a SQUAREM step after each two of them, until a step gains at most `tol` per observed value."""
    n_observed, objectives = float(rows.observed_weight.sum()), list[float]()
    best, least, n_worse, gain = start, np.inf, 0, np.inf
    path, jump, kept = [start], None, start  # consecutive iterates, where they lead to, the last that was kept
    n_passes, converged = 0, False
    while n_passes < max_iter and not converged and n_worse < _PATIENCE:
        n_passes += 1
        state = path[-1] if jump is None else jump
        try:
            following, objective = em_step(rows, state, n_threads)
        except np.linalg.LinAlgError:  # singular to rounding
            following, objective = state, -np.inf
        if progress:
            progress(1.0)
        if jump is not None and not objective >= objectives[-1]:
            jump, path = None, path[-1:]
            continue
        if not np.isfinite(objective) or (objectives and objective < objectives[-1] - _ROUNDING * abs(objectives[-1])):
            break  # hardly any noise is left to divide by: what follows is rounding
        kept = state
        if state.has_objective:
            gain = (objective - objectives[-1]) / n_observed if objectives else np.inf
            objectives.append(objective)
        if validate is not None:
            error = validate(state)
            n_worse = n_worse + (error > _WORSE * least) if error >= least else 0
            best, least = (state, error) if error < least else (best, least)
        converged = jump is None and gain <= tol and n_worse < _PATIENCE
        path = [*path, following] if jump is None else [following]
        jump = squarem_step(*path) if len(path) == 3 and path[0].has_objective else None
        path = path[-1:] if len(path) == 3 and jump is None else path
    if n_worse >= _PATIENCE:
        return Ascent(best, n_passes, gain, False, True, least, tuple(objectives))
    error = np.nan if validate is None else validate(kept)
    return Ascent(kept, n_passes, gain, converged, False, error, tuple(objectives))


# ---------------------------------------------------------------------- validation on held-out values


class HeldOut(NamedTuple):
    """Rows around `center` without some observed values; the rows that lost some, and what they lost."""

    rows: PatternRows
    center: NDArray
    tested: PatternRows
    places: NDArray  # rows of `tested`
    columns: NDArray
    truth: NDArray

    def error(self, state: State) -> float:
        """Root mean squared error of the predictions, divided by that of the column means."""
        model = replace(state.model, loadings_cov=None)  # as the fitted model will predict
        found = np.einsum("ik,ik->i", model.scores(self.tested)[self.places], model.loadings[self.columns])
        return float(np.linalg.norm(found + model.mean[self.columns] - self.truth) / np.linalg.norm(self.truth))


def hold_out(X: NDArray, weights: NDArray, fraction: float, rng: np.random.Generator) -> list[HeldOut]:
    """Hold out observed values, as often as it takes to see enough; no row and no column loses its last one."""
    observed = ~np.isnan(X)
    known = rng.permutation(np.flatnonzero(observed))
    size = int(max(fraction * len(known), min(_ENOUGH, _MOST * len(known))))
    found = []
    for fold in range(min(_FOLDS, -(-_ENOUGH // size)) if size else 0):
        taken = np.zeros(X.shape, dtype=bool)
        taken.flat[known[fold * size : (fold + 1) * size]] = True
        left = observed & ~taken
        taken &= left.any(axis=1)[:, None] & (left.sum(axis=0) > 1)
        left = observed & ~taken
        center = weights @ np.where(left, X, 0.0) / (weights @ left)
        rest = np.where(left, X - center, np.nan)
        tested = np.flatnonzero(taken.any(axis=1))
        places, columns = np.nonzero(taken[tested])
        truth = (X - center)[taken]
        if truth.any():
            rows, some = PatternRows.from_array(rest, weights), PatternRows.from_array(rest[tested])
            found.append(HeldOut(rows, center, some, places, columns, truth))
    return found


def _validate(
    held_out: list[HeldOut], candidates: list[int], prior: str | None, tol: float, options: dict[str, Any]
) -> tuple[Ascent, dict[str, Any]]:
    """EM without the held-out values, for each number of components until larger ones stop to improve the error.

    Returns where it ended with the best of them, around the means of all values, and fields of the certificate.
    """
    if len(candidates) > 1:
        tol *= _LOOSE
    else:
        held_out = held_out[:1]
    errors, best, n_worse = dict[int, float](), None, 0
    for k in candidates:
        ascents = [
            maximize(held.rows, initial_state(held.rows, k, prior), tol=tol, validate=held.error, **options)
            for held in held_out
        ]
        error = float(np.sqrt(np.mean([ascent.error**2 for ascent in ascents])))
        improved = best is None or error < min(errors.values())  # of equal errors the fewest components win
        best, n_worse = (ascents[0], 0) if improved else (best, n_worse + 1)
        errors[k] = error
        if n_worse >= _TRIES:
            break
    assert best is not None
    model = best.state.model
    best = best._replace(state=replace(best.state, model=replace(model, mean=model.mean + held_out[0].center)))
    return best, {
        "n_validation": sum(len(held.truth) for held in held_out),
        "validation_error": min(errors.values()),
        "tried": tuple(errors),
        "errors": tuple(errors.values()),
    }


def _ladder(most: int) -> list[int]:
    """1, 2, 3, 4, 6, 8, 12, 16, 24 … and `most`."""
    steps = {factor * 2**i for i in range(most.bit_length()) for factor in (1, 3)}
    return sorted(k for k in {*steps, most} if k <= most)


# ---------------------------------------------------------------------- the fit


class MissingDataFit(NamedTuple):
    """The distribution along its principal axes, and what does not follow from these."""

    axes: PrincipalAxes
    noise: float  # divided by unit²
    log_likelihood: float
    observed_weight: NDArray


def fit_missing(
    X: NDArray,
    weights: NDArray,
    plan: Plan,
    *,
    n_components: int | str,
    validation_fraction: float,
    standardize: bool,
    n_empty: int,
    n_threads: int,
    rng: np.random.Generator,
    progress: Any,
) -> MissingDataFit:
    """Fit a factor model to X, in which no row and no column lacks all values, with positive weights.

    `n_components` is an integer or "cv". EM uses at most d − 1 factors, since the smallest variance is the noise;
    further ones have zero loadings. `n_empty` rows without any value were left out.
    """
    center, scale, deviations = _center_columns(X, weights, standardize)
    Z, missing, d = (X - center) / scale, np.isnan(X), X.shape[1]
    rows = PatternRows.from_array(Z, weights)
    k = None if n_components == "cv" else min(int(n_components), max(1, d - 1))
    validation: dict[str, Any] = {}
    if rows.total_squares == 0 or k == 0:  # in closed form
        noise = rows.total_squares / float(rows.observed_weight.sum())
        W = np.zeros((d, 1 if k is None else k))
        ascent = Ascent(State(FactorModel(W, noise, np.zeros(d))), 1, 0.0, True)
    else:
        held_out = hold_out(Z, weights, validation_fraction, rng) if validation_fraction or k is None else []
        options = {"max_iter": plan.solver.max_iter, "n_threads": n_threads, "progress": progress}
        ascent, validation = _search(rows, held_out, k, plan, options)
    certificate = MissingDataCertificate(
        n_samples=len(X) + n_empty,
        n_features=d,
        n_missing=int(missing.sum()) + n_empty * d,
        n_incomplete=int(missing.any(axis=1).sum()) + n_empty,
        n_empty=n_empty,
        n_patterns=len(np.unique(rows.masks, axis=0)),
        prior=plan.solver.prior,
        n_iter=ascent.n_passes,
        gain=float(ascent.gain),
        converged=bool(ascent.converged),
        stopped_early=bool(ascent.stopped_early),
        **validation,
    )
    model = replace(ascent.state.model, loadings_cov=None)
    weight, mean = float(weights.sum()), center + scale * model.mean
    squares = weight * ((model.loadings**2).sum(axis=1) + model.noise)
    moments = Moments(mean, squares, deviations == 0, weight, len(X), len(X), scale if standardize else None)
    found = _principal_axes(
        model,
        moments,
        n_more=0 if k is None else int(n_components) - model.k,
        certificate=certificate,
        plan=plan,
        warnings=tuple(_warnings(rows, deviations, standardize, ascent)),
        unit=1.0 if standardize else float(scale[0]),
    )
    log_likelihood = float(weights @ model.log_density(rows) - rows.observed_weight @ np.log(scale))
    return MissingDataFit(found, model.noise, log_likelihood, rows.observed_weight)


def _search(
    rows: PatternRows, held_out: list[HeldOut], k: int | None, plan: Plan, options: dict[str, Any]
) -> tuple[Ascent, dict[str, Any]]:
    """EM, first without the held-out values if there are any; and fields of the certificate."""
    prior = plan.solver.prior or None
    if not held_out:
        return maximize(rows, initial_state(rows, k or 1, prior), tol=plan.tol, **options), {}
    n, d = rows.values.shape
    candidates = [k] if k is not None else _ladder(max(1, min(n, d, MAX_TRIED + 1) - 1))
    before, validation = _validate(held_out, candidates, prior, plan.tol, options)
    if before.stopped_early:
        options = {**options, "max_iter": _AFTERWARDS}
    ascent = maximize(rows, before.state, tol=plan.tol, **options)
    return ascent._replace(
        n_passes=before.n_passes + ascent.n_passes,
        converged=ascent.converged and not before.stopped_early,
        stopped_early=before.stopped_early,
    ), validation


def _principal_axes(model: FactorModel, moments: Moments, n_more: int, **fields: Any) -> PrincipalAxes:
    """The distribution along its principal axes, and `n_more` components with no variance but the noise."""
    d, weight = len(model.mean), moments.total_weight
    V, lengths, _ = np.linalg.svd(model.loadings, full_matrices=False)
    axes, lengths = np.pad((V * column_signs(V)).T, ((0, n_more), (0, 0))), np.pad(lengths, (0, n_more))
    return PrincipalAxes(
        axes=completed(axes, lengths > 0),
        eigenvalues=weight * (lengths**2 + model.noise),
        total=weight * (float((lengths**2).sum()) + d * model.noise),
        dropped=weight * (d - len(lengths)) * model.noise,
        n_possible=min(moments.n_samples, d),
        moments=moments,
        units=None,
        **fields,
    )


def _center_columns(X: NDArray, weights: NDArray, standardize: bool) -> tuple[NDArray, NDArray, NDArray]:
    """Means, divisors (equal for all columns unless standardized) and standard deviations of the observed values.

    In units of the largest distance of each column from its first value, so that no square over- or underflows.
    """
    observed = ~np.isnan(X)
    first = X[np.argmax(observed, axis=0), np.arange(X.shape[1])]
    peaks = np.nanmax(np.abs(X - first), axis=0)
    unit, counts = power_of_two(peaks), weights @ observed
    moved = np.where(observed, (X - first) / unit, 0.0)
    mean = weights @ moved / counts
    squares = weights @ np.where(observed, moved - mean, 0.0) ** 2
    deviations = np.sqrt(squares / np.where(counts > 1, counts - 1, counts)) * unit
    scale = np.where(deviations > 0, deviations, 1.0)
    if not standardize:
        largest = float(deviations.max(initial=0.0)) or 1.0
        scale = np.full(len(scale), largest * (float(np.sqrt(np.mean((deviations / largest) ** 2))) or 1.0))
    return first + mean * unit, scale, deviations


def _warnings(rows: PatternRows, deviations: NDArray, standardize: bool, ascent: Ascent) -> Iterator[MercerWarning]:
    varying = deviations[deviations > 0]
    if not len(varying):
        yield MercerWarning("All observed values of each column are equal, so nothing varies.", "meaningless")
        return
    if not standardize and varying.max() >= _FAR_APART * varying.min():
        yield MercerWarning(
            f"The largest standard deviation of a column is {varying.max() / varying.min():.3g} times the smallest, "
            "but the noise has the same variance in all columns. Columns with a small one are imputed with little more "
            "than their mean.",
            remedies=(Remedy("standardize", True),),
        )
    model = ascent.state.model
    if model.noise <= 1.01 * _LEAST_NOISE * rows.variance:
        yield MercerWarning(
            f"The noise variance is at its lower limit ({_LEAST_NOISE:g} of the variance): the observed values are "
            f"linear combinations of {counted(model.k, 'factor')}, and the likelihood has no maximum.",
            remedies=(Remedy("n_components", model.k - 1),) if model.k > 1 else (),
        )
    elif not ascent.converged and not ascent.stopped_early:
        gain = f"; the last step gained {ascent.gain:.1e} nats per value" if np.isfinite(ascent.gain) else ""
        yield MercerWarning(
            f"EM did not converge in {counted(ascent.n_passes, 'pass')}{gain}.",
            remedies=(Remedy("max_iter", 4 * ascent.n_passes),),
        )
