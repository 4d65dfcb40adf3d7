"""A lower bound on the probability of rows, by landmarks: O(n·r²) for what takes O(n³) exactly.

With landmarks U (r places of their own) and Q = K_fu K_uu⁻¹ K_uf, for any U (Titsias 2009)

    log p(Y | T) ≥ log N(Y | 0, Q + vI) − (d/2v)·tr(K_ff − Q).

The last term counts what the landmarks do not see; without it a likelihood by Q alone can be larger than the true one.
With A = L⁻¹K_uf/√v, K_uu = LLᵀ and B = I + AAᵀ, |Q + vI| = vⁿ|B| and (Q + vI)⁻¹ = (I − AᵀB⁻¹A)/v (Woodbury). With the
places themselves as landmarks, Q = K, and the bound is the likelihood.
"""

import numpy as np
from scipy import linalg

from mercer_old.arrays import Array
from mercer_old.fits.latent.likelihood import LOG_2_PI, Gradient, cholesky, with_diagonal
from mercer_old.kernels.base import Kernel

JITTER = 1e-8  # of the diagonal of K_uu, added to it


class Bound:
    """An upper bound on −log p(Y | T), and its gradient in places, landmarks, signal s and noise v."""

    def __init__(self, Y: Array, columns: int, kernel: Kernel) -> None:
        self.Y, self.d, self.kernel, self.squares = Y, columns, kernel, float(np.vdot(Y, Y))

    def __call__(self, T: Array, U: Array, signal: float, noise: float) -> Gradient:
        d, n, r, kernel = self.d, len(T), len(U), self.kernel
        root = np.sqrt(noise)
        K_uu, K_uf, own = signal * kernel.block(U, U), signal * kernel.block(U, T), signal * kernel.diag(T)
        jitter = JITTER * float(K_uu.diagonal().mean())
        lower = cholesky(with_diagonal(K_uu, jitter))
        A = _solve(lower, K_uf) / root
        factor = cholesky(with_diagonal(A @ A.T, 1.0))
        AY, seen, unseen = A @ self.Y, float(np.vdot(A, A)), float(own.sum()) / noise
        along = _solve(factor, AY)
        value = 0.5 * n * d * (LOG_2_PI + np.log(noise)) + d * np.log(np.diag(factor)).sum()
        value += 0.5 * (self.squares - float(np.vdot(along, along))) / noise + 0.5 * d * (unseen - seen)

        # H = ∂/∂Q; all that is needed are VH and VHVᵀ with V = L⁻¹K_uf = √v·A.
        BA, BAY = (linalg.cho_solve((factor, True), side, check_finite=False) for side in (A, AY))
        rest = (self.Y - A.T @ BAY) / noise
        VH = (d * (BA - A) - BAY @ rest.T) / (2 * root)
        of_uf = 2 * _solve(lower, VH, "T")
        of_uu = -_solve(lower, _solve(lower, root * (VH @ A.T), "T").T, "T")
        of_uu = 0.5 * (of_uu + of_uu.T)
        inverse = float(np.trace(linalg.cho_solve((factor, True), np.eye(r), check_finite=False)))
        of_noise = 0.5 * (d * (n - r + inverse) / noise - float(np.vdot(rest, rest)))
        of_noise -= 0.5 * d * (unseen - seen) / noise

        of_places = signal * (kernel.pull(T, U, of_uf.T) + (0.5 * d / noise) * kernel.diag_pull(T))
        of_landmarks = signal * (kernel.pull(U, T, of_uf) + 2 * kernel.pull(U, U, of_uu))
        of_signal = float(np.vdot(of_uf, K_uf)) + float(np.vdot(of_uu, K_uu)) + jitter * float(np.trace(of_uu))
        of_signal += 0.5 * d * unseen
        return Gradient(float(value), of_places, of_landmarks, of_signal, noise * of_noise)


def _solve(lower: Array, side: Array, trans: str = "N") -> Array:
    return np.asarray(linalg.solve_triangular(lower, side, lower=True, trans=trans, check_finite=False))
