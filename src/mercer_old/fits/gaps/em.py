"""Expectation and maximisation: from a guess of the factors to a better one.

With a prior on W it is variational: the rows of W are normal, w_j ~ N(0, diag(α)⁻¹), of which the posterior is kept
with its covariances S_j, and α is learned: one number for all factors ("normal"), or one for each, so that a factor
that the rows do not bear out is switched off ("ard"; Bishop 1999; Ilin and Raiko 2010). Without, it is maximum
likelihood. Either way no step lowers the objective: the bound on the evidence

  F = Σ log p(x_O | ⟨W⟩, S, σ², mean) − ½ Σ_j [Σ_l α_l(w_jl² + S_j,ll) − log|S_j| − Σ_l log α_l − k]

or, without a prior, the log-likelihood of what is observed, its first term.
"""

from dataclasses import dataclass, replace

import numpy as np

from mercer_old.arrays import Array
from mercer_old.sweeps.factors import Factors
from mercer_old.sweeps.gaps import FactorSums, Gapped

__all__ = ["State", "first_state", "improve", "stretched"]

Prior = str | None  # "normal", "ard", or None for maximum likelihood

_LEAST_NOISE = 1e-7  # of a column's variance: without noise, nothing moves any more
_LONGEST = 2.0  # of a step: how much log σ² may change
_SWITCHED_OFF = 1e10  # the largest α, in units of a column's variance


@dataclass(frozen=True, eq=False)
class State:
    """A guess: factors, and how large each is expected to be."""

    factors: Factors
    prior: Prior = None
    alpha: Array | None = None  # k

    @property
    def begun(self) -> bool:
        """Whether the objective has a meaning: where W has a prior, its covariances are known after one step."""
        return self.prior is None or self.factors.doubt is not None

    def penalty(self) -> float:
        """What the prior takes off the likelihood."""
        doubt = self.factors.doubt
        if self.alpha is None or doubt is None:
            return 0.0
        d, k = self.factors.W.shape
        lengths = (self.factors.W**2).sum(axis=0) + np.einsum("jll->l", doubt)
        return float(self.alpha @ lengths - np.linalg.slogdet(doubt)[1].sum() - d * (np.log(self.alpha).sum() + k)) / 2


def first_state(rows: Gapped, k: int, prior: Prior) -> State:
    """Principal axes of the rows with column means in their gaps, of which the noise is what is left."""
    d = rows.width
    values, axes = rows.axes()
    variance = rows.total_squares / max(rows.counts.sum(), 1e-300)
    noise = max(variance - float(values[:k].sum()) / d, 0.05 * variance)
    W = axes[:, :k] * np.sqrt(np.maximum(values[:k], 1e-6 * variance))
    return State(Factors(W, noise, np.zeros(d)), prior, _relevance(W, None, prior, variance) if prior else None)


def improve(rows: Gapped, state: State, threads: int) -> tuple[State, float]:
    """The next guess, and the objective of this one."""
    sums = rows.swept(state.factors, threads)
    objective = sums.likelihood - state.penalty()
    return _maximised(rows, state, sums), objective


def _maximised(rows: Gapped, state: State, sums: FactorSums) -> State:
    """W with the mean, then σ², then the turn of the factors' space that gains most, then α."""
    k, noise = state.factors.k, state.factors.noise
    seconds = sums.squares(k)
    precisions = seconds / noise
    if state.alpha is not None:
        precisions[:, np.arange(k), np.arange(k)] += state.alpha
    doubt = np.linalg.inv(precisions)
    W, mean = _regressed(rows, sums, doubt / noise)
    kept = doubt if state.alpha is not None else None
    noise = _noise(rows, sums, seconds, W, mean, kept)
    strength = float(state.alpha[0]) if state.prior == "normal" and state.alpha is not None else None
    W, kept = _turned(W, kept, sums.latent_square(k), rows.weight, strength)
    alpha = None if state.alpha is None else _relevance(W, kept, state.prior, _variance(rows))
    return State(Factors(W, noise, mean, kept), state.prior, alpha)


def _regressed(rows: Gapped, sums: FactorSums, inverses: Array) -> tuple[Array, Array]:
    """Every column on the factors and a constant: W z + mean."""
    both = np.stack([sums.crosses, sums.firsts], axis=2)
    solved = np.matmul(inverses, both)  # d×k×2
    explained = np.einsum("jk,jk->j", sums.firsts, solved[:, :, 0])
    free = rows.counts - np.einsum("jk,jk->j", sums.firsts, solved[:, :, 1])
    mean = (rows.sums - explained) / np.maximum(free, 1e-12 * rows.counts)
    return solved[:, :, 0] - mean[:, None] * solved[:, :, 1], mean


def _noise(rows: Gapped, sums: FactorSums, seconds: Array, W: Array, mean: Array, doubt: Array | None) -> float:
    """⟨(x − Wz − mean)²⟩ over all numbers that are there."""
    spread = (
        np.einsum("jk,jkl,jl->", W, seconds, W)
        if doubt is None
        else np.einsum("jkl,jkl->", seconds, W[:, :, None] * W[:, None, :] + doubt)
    )
    crossed = np.sum(W * sums.crosses) + mean @ rows.sums - mean @ np.einsum("jk,jk->j", W, sums.firsts)
    left = rows.total_squares - 2 * crossed + spread + mean**2 @ rows.counts
    return float(max(left / rows.counts.sum(), _LEAST_NOISE * _variance(rows)))


def _turned(
    W: Array, doubt: Array | None, latent: Array, weight: float, alpha: float | None
) -> tuple[Array, Array | None]:
    """Factors z ↦ R⁻¹z and W ↦ WR with the R of the largest objective.

    With Φ = Σ⟨zzᵀ⟩ over n rows and Ω = ⟨WᵀW⟩ of d columns, R changes the objective by −½tr(R⁻¹ΦR⁻ᵀ) − (n − d)·log|R|
    and what the prior says: −½α·tr(RᵀΩR) for one α, −d/2·Σ log (RᵀΩR)_ll for α of each factor at its best. All but the
    last depend on P = RRᵀ alone, and that is least where RᵀΩR is diagonal (Hadamard). So both are largest where ⟨zzᵀ⟩
    and ⟨WᵀW⟩ are diagonal together: for α of each, and without a prior (parameter-expanded EM; Liu, Rubin and Wu 1998),
    where Φ becomes nI; for one α where that is divided by s = 2n/(n − d + √((n − d)² + 4αωn)), ω being Ω's entry.
    """
    n, (d, k) = weight, W.shape
    R = np.linalg.cholesky(latent / n + 1e-14 * np.trace(latent) / n * np.eye(k))
    W = W @ R
    doubt = None if doubt is None else R.T @ doubt @ R
    lengths, Q = np.linalg.eigh(W.T @ W + (0.0 if doubt is None else doubt.sum(axis=0)))
    Q = Q[:, ::-1]
    if alpha is not None:
        curve = 4 * alpha * np.maximum(lengths[::-1], 0.0) * n
        Q = Q * np.sqrt(2 * n / (n - d + np.sqrt((n - d) ** 2 + curve)))
    return W @ Q, None if doubt is None else Q.T @ doubt @ Q


def _relevance(W: Array, doubt: Array | None, prior: Prior, variance: float) -> Array:
    """α_l = d/Σ_j ⟨w_jl²⟩, or one for all factors: dk/Σ_jl ⟨w_jl²⟩."""
    d, k = W.shape
    lengths = (W**2).sum(axis=0) + (0.0 if doubt is None else np.einsum("jll->l", doubt))
    lengths = np.full(k, lengths.mean()) if prior == "normal" else lengths
    return np.asarray(d / np.maximum(lengths, d * variance / _SWITCHED_OFF))


def _variance(rows: Gapped) -> float:
    return max(rows.total_squares / float(rows.counts.sum()), 1e-300)


# ---------------------------------------------------------------------- longer steps


def stretched(first: State, second: State, third: State) -> State | None:
    """From three guesses in a row to where they lead (SQUAREM; Varadhan and Roland 2008); None if they have arrived."""
    start, step = _numbers(first), _numbers(second, first) - _numbers(first)
    bend = _numbers(third, first) - _numbers(second, first) - step
    length, curve = float(np.linalg.norm(step)), float(np.linalg.norm(bend))
    if not curve > 0 or not length > 0:
        return None
    a = length / curve
    if not a > 1:
        return None
    return _from_numbers(start + 2 * a * step + a * a * bend, third)


def _numbers(state: State, like: State | None = None) -> Array:
    """W, the mean and log σ² in one row; factors with the signs that they have in another guess."""
    W = state.factors.W
    if like is not None:
        W = W * np.where(np.einsum("jk,jk->k", W, like.factors.W) < 0, -1.0, 1.0)
    return np.concatenate([W.ravel(), state.factors.mean, [np.log(state.factors.noise)]])


def _from_numbers(numbers: Array, like: State) -> State:
    d, k = like.factors.W.shape
    W, mean = numbers[: d * k].reshape(d, k), numbers[d * k : -1]
    noise = like.factors.noise * float(np.exp(np.clip(numbers[-1] - np.log(like.factors.noise), -_LONGEST, _LONGEST)))
    signs = np.where(np.einsum("jk,jk->k", W, like.factors.W) < 0, -1.0, 1.0)  # its covariances go with them
    return replace(like, factors=replace(like.factors, W=W * signs, mean=mean, noise=noise))
