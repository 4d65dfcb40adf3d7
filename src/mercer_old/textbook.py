"""The lectures in numpy: one short function per formula, for reading beside the slides.

Clarity first: nothing here is fast or frugal. The fast paths of the library are tested against it.

Sources, as cited below: 000 Bonn, Principles of Machine Learning, lecture 13 · 001 Minnesota, CSci 5525 ·
002 Munich, tutorial 7 · 003 handwritten notes on kernel PCA and LLE · 004 Edinburgh, week 2.

Rows are samples, as in 003 and 004: X is n×d (000, 001 and 002 write its transpose). Eigenvalues come largest
first, eigenvectors are columns. λ belongs to a covariance (1/n), η = nλ to a Gram matrix.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = [
    "centre", "centre_gram", "centre_gram_by_means", "centring_matrix", "component_functions",
    "components_for_share", "covariance_by_centring", "covariance_by_moments", "covariance_by_sum", "decorrelate",
    "function_of_matrix", "gram_matrix", "is_mercer", "kernel_pca", "linear_kernel", "lle_embedding",
    "lle_new_point", "lle_weight_matrix", "lle_weights", "nearest_neighbours", "ngram_kernel", "normalised_kernel",
    "pca_by_covariance", "pca_by_gram", "pca_by_svd", "polynomial_kernel", "ppca_em", "ppca_fill",
    "ppca_log_likelihood", "ppca_log_likelihood_of_observed", "ppca_scores",
    "preimage_by_fixed_point", "preimage_by_ridge", "probabilistic_pca", "project", "projection_coefficients",
    "projection_distance", "projection_spread", "proportion_of_variance", "quadratic_features", "rbf_kernel",
    "rbf_kernel_of_length", "reconstruct", "reconstruction_error", "scores", "spectral_decomposition",
    "standardise", "sum_of_projections", "training_scores", "whiten", "with_signs",
]  # fmt: skip

Array = NDArray[Any]
Kernel = Callable[[Any, Any], float]


# ---------------------------------------------------------------------------- linear algebra
def spectral_decomposition(A: ArrayLike) -> tuple[Array, Array]:
    """Eigenvalues λ (largest first) and orthonormal eigenvectors U of a symmetric A = U Λ Uᵀ (000 p. 10–15)."""
    A = _square(A, "A")
    _require(np.allclose(A, A.T, atol=1e-10 * np.abs(A).max()), "A is not symmetric: no orthonormal eigenvectors.")
    values, vectors = np.linalg.eigh(A)  # ascending; 000 p. 22 explains why not eig
    return values[::-1], vectors[:, ::-1]


def function_of_matrix(B: ArrayLike, f: Callable[[Array], Array]) -> Array:
    """f(B) = U f(Λ) U⁻¹ for a diagonalizable B: powers, inverse, exponential (000 p. 23–25)."""
    values, U = np.linalg.eig(_square(B, "B"))
    _require(np.linalg.cond(U) < 1e7, "B is not diagonalizable: its eigenvectors are dependent, U⁻¹ does not exist.")
    return np.real_if_close(U @ np.diag(f(values)) @ np.linalg.inv(U))


# ---------------------------------------------------------------------------- centring, covariance
def centring_matrix(n: int) -> Array:
    """J = I − 11ᵀ/n, the projection that removes the mean (000 p. 30; H in 002, C in 004)."""
    _require(n >= 1, f"The centring matrix needs n ≥ 1 points; n = {n}.")
    return np.eye(n) - np.ones((n, n)) / n


def centre(X: ArrayLike) -> Array:
    """J X: every column gets mean zero (000 p. 29)."""
    X = _rows(X)
    return X - X.mean(axis=0)


def standardise(X: ArrayLike) -> Array:
    """Columns of mean zero and variance one: their covariance is the correlation matrix (004 §2.3)."""
    X = centre(X)
    spread = X.std(axis=0)
    _require(spread.all(), f"Column {np.argmin(spread)} is constant and cannot be scaled to variance one.")
    return X / spread


def covariance_by_sum(X: ArrayLike) -> Array:
    """C = 1/n Σⱼ (xⱼ − μ)(xⱼ − μ)ᵀ (000 p. 33; Σ in 004 (1), S in 001)."""
    X = _rows(X)
    return np.sum([np.outer(x, x) for x in X - X.mean(axis=0)], axis=0) / len(X)


def covariance_by_centring(X: ArrayLike) -> Array:
    """C = 1/n Xᵀ J X = 1/n (JX)ᵀ(JX), as J is symmetric and idempotent (000 p. 33, 35)."""
    JX = centring_matrix(len(_rows(X))) @ _rows(X)
    return JX.T @ JX / len(JX)


def covariance_by_moments(X: ArrayLike) -> Array:
    """C = 1/n XᵀX − μμᵀ (000 p. 34). Cancels badly when the mean is large."""
    X = _rows(X)
    return X.T @ X / len(X) - np.outer(X.mean(axis=0), X.mean(axis=0))


# ---------------------------------------------------------------------------- PCA
def pca_by_covariance(X: ArrayLike, k: int | None = None) -> tuple[Array, Array]:
    """λ and axes U (d×k) from C = U Λ Uᵀ (000 p. 37, 001, 004 §2.1)."""
    values, U = spectral_decomposition(covariance_by_centring(X))
    k = _at_most(k, min(_rows(X).shape))
    return values[:k], with_signs(U[:, :k])


def pca_by_svd(X: ArrayLike, k: int | None = None) -> tuple[Array, Array]:
    """JX = U D Vᵀ, then λ = D²/n and the axes are V (004 §2.3 (5))."""
    X = _rows(X)
    _, D, Vt = np.linalg.svd(centre(X), full_matrices=False)
    k = _at_most(k, min(X.shape))
    return D[:k] ** 2 / len(X), with_signs(Vt.T[:, :k])


def pca_by_gram(X: ArrayLike, k: int | None = None) -> tuple[Array, Array]:
    """JXXᵀJ = U Λ Uᵀ is n×n, so cheaper when d > n; λ = Λ/n, axes V = XᵀJ U Λ^−½ (004 §2.3 (4), 000 p. 18)."""
    JX = centre(X)
    eta, U = spectral_decomposition(JX @ JX.T)
    noise = max(1e-12 * eta[0], 1e-28 * np.sum(_rows(X) ** 2))  # an axis without variance cannot get length one
    k = _at_most(k, int(np.sum(eta > noise)), "axes of positive variance")
    return eta[:k] / len(JX), with_signs(JX.T @ U[:, :k] / np.sqrt(eta[:k]))


def with_signs(U: ArrayLike) -> Array:
    """Each column times ±1, so that its largest entry is positive: an eigenvector's sign is a convention."""
    U = np.asarray(U, dtype=float)
    return U * np.where(U[np.abs(U).argmax(axis=0), np.arange(U.shape[1])] < 0, -1.0, 1.0)


def project(X: ArrayLike, U: Array, mean: ArrayLike) -> Array:
    """Scores Y = (X − 1μᵀ) U (000 p. 37, 39; z = Wᵀx in 004). With all d axes it only rotates: de-correlation."""
    X = _rows(X)
    _require(
        X.shape[1] == len(U), f"X is {X.shape[0]}×{X.shape[1]}, but axes have {len(U)} entries; X.T? Rows are samples."
    )
    return (X - _of_length(mean, len(U), "mean")) @ U


def reconstruct(Y: ArrayLike, U: Array, mean: ArrayLike) -> Array:
    """X̃ = Y Uᵀ + 1μᵀ (000 p. 40; the dropped axes keep the mean, b_j = x̄ᵀu_j, in 001)."""
    _require(_rows(Y).shape[1] == U.shape[1], f"Y has {_rows(Y).shape[1]} scores a row for {U.shape[1]} axes.")
    return _rows(Y) @ U.T + _of_length(mean, len(U), "mean")


def decorrelate(X: ArrayLike) -> Array:
    """Y = J X U with all axes: the same points in their own coordinates, with covariance Λ (000 p. 37–38)."""
    return project(X, spectral_decomposition(covariance_by_centring(X))[1], _rows(X).mean(axis=0))


def whiten(X: ArrayLike) -> Array:
    """Y Λ^−½: de-correlated, and every coordinate of variance one (one step on from 000 p. 38)."""
    values, U = pca_by_svd(X)
    _require(values[-1] > 1e-12 * values[0], "The data have no variance along some axis: it cannot be scaled to one.")
    return project(X, U, _rows(X).mean(axis=0)) / np.sqrt(values)


def reconstruction_error(X: ArrayLike, k: int) -> float:
    """ε = 1/n Σⱼ ‖xⱼ − x̃ⱼ‖² with k components; Eckart–Young says Σ_{i>k} λᵢ (000 p. 42, 004 (6))."""
    X, mean = _rows(X), _rows(X).mean(axis=0)
    U = pca_by_svd(X, k)[1]
    return float(np.mean(np.sum((X - reconstruct(project(X, U, mean), U, mean)) ** 2, axis=1)))


def projection_spread(X: ArrayLike, u: ArrayLike) -> float:
    """σ² = 1/n Σⱼ (uᵀxⱼ)², the variance of centred data along the unit vector u (000 p. 48)."""
    return float(np.mean((centre(X) @ _unit(u, _rows(X).shape[1])) ** 2))


def projection_distance(X: ArrayLike, u: ArrayLike) -> float:
    """1/n Σⱼ ‖xⱼ − u(uᵀxⱼ)‖², the mean squared distance of centred data to the axis u (000 p. 53)."""
    X, u = centre(X), _unit(u, _rows(X).shape[1])
    return float(np.mean(np.sum((X - np.outer(X @ u, u)) ** 2, axis=1)))


def proportion_of_variance(values: ArrayLike) -> Array:
    """PVEₗ = λₗ / Σⱼ λⱼ (004 §2.4). Give it all eigenvalues, not only the kept ones."""
    _require(np.size(values) and np.sum(values) > 0, "The eigenvalues sum to nothing: there is no variance to share.")
    return np.asarray(values, dtype=float) / np.sum(values)


def components_for_share(values: ArrayLike, share: float = 0.9) -> int:
    """The smallest k with Σ_{i≤k} λᵢ / Σᵢ λᵢ ≥ share (000 p. 43)."""
    _require(0 < share <= 1, f"A share of the spectrum lies in (0, 1]; got {share}.")
    _require(np.all(np.diff(values) <= 0), "The eigenvalues must come largest first.")
    reached = np.cumsum(proportion_of_variance(values)) >= share - 1e-12  # an exact tie counts as reached
    return int(np.argmax(reached)) + 1


# ---------------------------------------------------------------------------- kernels
def linear_kernel(x: Array, y: Array) -> float:
    """k(x, y) = xᵀy, which makes kernel PCA the PCA by Gram matrix (004 §2.3)."""
    return float(np.asarray(x, dtype=float) @ np.asarray(y, dtype=float))


def rbf_kernel(gamma: float) -> Kernel:
    """k(x, y) = exp(−γ‖x − y‖²), the Gaussian kernel (000 p. 74, 001, 003)."""
    _require(gamma > 0, f"gamma must be positive; got {gamma}.")
    return lambda x, y: float(np.exp(-gamma * np.sum(np.subtract(x, y, dtype=float) ** 2)))


def rbf_kernel_of_length(length_scale: float) -> Kernel:
    """k(x, y) = exp(−‖x − y‖²/(2ℓ²)): the same kernel with γ = 1/(2ℓ²) (004 §3.1.1)."""
    _require(length_scale > 0, f"length_scale must be positive; got {length_scale}.")
    return rbf_kernel(1 / (2 * length_scale**2))


def polynomial_kernel(gamma: float = 1.0, b: float = 1.0, degree: int = 2) -> Kernel:
    """k(x, y) = (γ xᵀy + b)^M (004 (7), whose minus sign is a slip). Mercer for b ≥ 0."""
    _require(gamma > 0, f"gamma must be positive; got {gamma}.")
    _require(degree >= 1 and degree == int(degree), f"The degree must be a whole number from 1; got {degree}.")
    return lambda x, y: (gamma * linear_kernel(x, y) + b) ** degree


def quadratic_features(x: ArrayLike) -> Array:
    """φ(x) = (1, √2x₁, √2x₂, x₁², x₂², √2x₁x₂), so that φ(x)ᵀφ(y) = (1 + xᵀy)² in the plane (004 §3.1.2)."""
    (x1, x2), root = _of_length(x, 2, "x"), np.sqrt(2)
    return np.array([1, root * x1, root * x2, x1**2, x2**2, root * x1 * x2])


def ngram_kernel(n: int = 3) -> Kernel:
    """k(s, t) = Σ_g count_g(s) count_g(t) over all substrings g of n letters, a kernel on strings (000 p. 79)."""
    _require(n >= 1, f"An n-gram has at least one letter; n = {n}.")

    def ngrams(s: str) -> Counter[str]:
        return Counter(s[i : i + n] for i in range(len(s) - n + 1))

    return lambda s, t: float(sum(count * ngrams(t)[g] for g, count in ngrams(s).items()))


def normalised_kernel(k: Kernel) -> Kernel:
    """k(x, y) / √(k(x, x) k(y, y)): every item gets length one in feature space, long strings too."""

    def cosine(x: Any, y: Any) -> float:
        length = np.sqrt(k(x, x) * k(y, y))
        return float(k(x, y) / length) if length > 0 else 0.0

    return cosine


def gram_matrix(k: Kernel, items: Sequence[Any] | Array, others: Sequence[Any] | Array | None = None) -> Array:
    """K_ij = k(xᵢ, xⱼ) of any items; with `others` the rectangular k(xᵢ, yⱼ) (000 p. 66, 004 §3.1.2)."""
    _require(not isinstance(items, str), "gram_matrix takes a sequence of items; got one string: put it in a list.")
    return np.array([[k(x, y) for y in (items if others is None else others)] for x in items], dtype=float)


def is_mercer(K: ArrayLike, tolerance: float = 1e-10) -> bool:
    """Mercer's condition on these items: K = Kᵀ and no eigenvalue below zero beyond rounding (004 §3.1.2)."""
    K = _square(K, "K")
    eta, size = np.linalg.eigvalsh((K + K.T) / 2), np.abs(K).max()
    return bool(np.abs(K - K.T).max() <= tolerance * size and eta[0] >= -tolerance * np.abs(eta).max())


# ---------------------------------------------------------------------------- kernel PCA
def centre_gram(K: ArrayLike) -> Array:
    """J K J, the Gram matrix of the centred features (000 p. 71, 002 b, 004 §3.1.3)."""
    K = _square(K, "K")
    return centring_matrix(len(K)) @ K @ centring_matrix(len(K))


def centre_gram_by_means(K: ArrayLike) -> Array:
    """K − 11ᵀK/n − K11ᵀ/n + 11ᵀK11ᵀ/n²: minus column means, minus row means, plus mean (000 p. 72, 001, 003)."""
    K = _square(K, "K")
    return K - K.mean(axis=0, keepdims=True) - K.mean(axis=1, keepdims=True) + K.mean()


def kernel_pca(K: ArrayLike, k: int | None = None, threshold: float = 1e-10) -> tuple[Array, Array]:
    """η and V of JKJ vᵢ = ηᵢvᵢ, each vᵢ divided by √ηᵢ so that ‖uᵢ‖ = 1 (000 p. 70–74, 001, 004 §3.1.3).

    Eigenvalues up to threshold·η₁ or rounding count as zero and are dropped (000 p. 70 keeps noise by `etas > 0`).
    At most n − 1 remain, more than d of them if need be (001).
    """
    K = _square(K, "K")
    _require(np.allclose(K, K.T, atol=1e-10 * np.abs(K).max()), "K is not symmetric, so it is no Gram matrix.")
    JKJ, rounding = centre_gram(K), 4 * np.finfo(float).eps * len(K) * np.abs(K).max()
    eta, V = spectral_decomposition((JKJ + JKJ.T) / 2)
    _require(eta[0] > rounding, "J K J is zero: to this kernel all items look the same.")
    k = _at_most(k, int(np.sum(eta > max(threshold * eta[0], rounding))), "non-zero eigenvalues")
    return eta[:k], with_signs(V[:, :k]) / np.sqrt(eta[:k])


def training_scores(eta: Array, V: Array) -> Array:
    """√ηᵢ times the unit eigenvector: V Λ, as V is already divided by √η (002 c, last line; 003)."""
    return V * eta


def scores(K_new: ArrayLike, K: ArrayLike, V: Array) -> Array:
    """Scores of new points with the training means removed: (K_new − 11ᵀK/n) J V (002 c). K_new is m×n."""
    K, K_new = _square(K, "K"), _new_rows(K_new, V)
    _require(len(K) == len(V), f"K is of {len(K)} items, V of {len(V)}.")
    return (K_new - K.mean(axis=0)) @ centring_matrix(len(K)) @ V


def component_functions(K_new: ArrayLike, V: Array) -> Array:
    """fᵢ(x) = k_xᵀvᵢ (000 p. 73, 001, 004 §3.1.3): `scores` plus the constant vᵢᵀK1/n, so other zero contours."""
    return _new_rows(K_new, V) @ V


def sum_of_projections(K_new: ArrayLike, V: Array) -> Array:
    """F(x) = Σᵢ |fᵢ(x)| (000 p. 77): large on the data, 0 far away, so a *low* F marks the outlier."""
    return np.abs(component_functions(K_new, V)).sum(axis=1)


# ---------------------------------------------------------------------------- pre-images
def projection_coefficients(V: Array, y: ArrayLike) -> Array:
    """c with Pφ(x) = Σᵢ cᵢ φ(xᵢ), the point of feature space whose scores are y: c = V y + 1/n (from 002 b)."""
    return V @ np.asarray(y) + 1 / len(V)


def preimage_by_fixed_point(X: ArrayLike, c: Array, gamma: float, z: ArrayLike, steps: int = 100) -> Array:
    """z ← Σ cᵢ k(z, xᵢ) xᵢ / Σ cᵢ k(z, xᵢ), RBF kernel: φ(z) nearest to Σ cᵢφ(xᵢ) (Mika et al. 1999; for 001, end)."""
    X, k = _rows(X), rbf_kernel(gamma)
    c, nearest = _of_length(c, len(X), "c"), _of_length(z, X.shape[1], "z")
    for _ in range(steps):
        weights = c * gram_matrix(k, [nearest], X)[0]
        if np.abs(weights.sum()) <= 1e-6 * np.abs(weights).sum():
            break  # the next step would leave the data
        nearest = weights @ X / weights.sum()
    return nearest


def preimage_by_ridge(k: Kernel, Y: ArrayLike, X: ArrayLike, Y_new: ArrayLike, ridge: float = 1.0) -> Array:
    """X̂ = K(Y_new, Y) (K(Y, Y) + αI)⁻¹ X: the way back from scores to inputs is learned (004 §3.1.3: Bakır et al.)."""
    Y, X = _rows(Y), _rows(X)
    _require(ridge > 0, f"ridge must be positive; got {ridge}.")
    _require(len(X) == len(Y), f"{len(Y)} scores for {len(X)} points: one row of Y belongs to one row of X.")
    return gram_matrix(k, _rows(Y_new), Y) @ np.linalg.solve(gram_matrix(k, Y) + ridge * np.eye(len(Y)), X)


# ---------------------------------------------------------------------------- locally linear embedding
def nearest_neighbours(x: ArrayLike, X: ArrayLike, k: int) -> Array:
    """Indices of the k rows of X nearest to x, nearest first (003)."""
    X = _rows(X)
    return np.argsort(np.linalg.norm(X - np.asarray(x), axis=1), kind="stable")[: _at_most(k, len(X), "points")]


def lle_weights(x: ArrayLike, neighbours: ArrayLike, reg: float = 1e-3) -> Array:
    """w = u/(uᵀ1) with G u = 1, G = (X̃ − 1x)(X̃ − 1x)ᵀ: x ≈ wX̃ with Σw = 1 (003)."""
    Z = _rows(neighbours) - np.asarray(x)
    G = Z @ Z.T  # singular when there are more neighbours than dimensions: hence reg, which evens the weights out
    u = np.linalg.solve(G + reg * (np.trace(G) or 1.0) * np.eye(len(G)), np.ones(len(G)))
    return u / u.sum()


def lle_weight_matrix(X: ArrayLike, n_neighbours: int, reg: float = 1e-3) -> Array:
    """W̃ (n×n): row i holds the weights of point i on its neighbours, zeros elsewhere (003)."""
    X = _rows(X)
    _at_most(n_neighbours, len(X) - 1, "other points")
    W = np.zeros((len(X), len(X)))
    for i, x in enumerate(X):
        near = [j for j in nearest_neighbours(x, X, n_neighbours + 1) if j != i][:n_neighbours]
        W[i, near] = lle_weights(x, X[near], reg)
    return W


def lle_embedding(W: ArrayLike, k: int) -> Array:
    """Z (n×k) minimising ‖Z − W̃Z‖² with ZᵀZ = I: bottom eigenvectors of M = (I − W̃)ᵀ(I − W̃) but 1 (003).

    M1 = 0; a multiple of 11ᵀ lifts just this vector above all others, so that no other null vector is taken for it.
    """
    W = _square(W, "W")
    _require(np.allclose(W.sum(axis=1), 1), "The weights of a point must sum to one: W1 = 1.")
    M = (np.eye(len(W)) - W).T @ (np.eye(len(W)) - W)
    k = _at_most(k, len(W) - 1)
    vectors = spectral_decomposition(M + (1 + np.trace(M)) / len(M))[1]
    return with_signs(vectors[:, ::-1][:, :k])


def lle_new_point(x: ArrayLike, X: ArrayLike, Z: Array, n_neighbours: int, reg: float = 1e-3) -> Array:
    """z_new = w_new Z̃: the neighbours of x in the training set, their weights, their places (003, last page)."""
    X = _rows(X)
    near = nearest_neighbours(x, X, n_neighbours)
    return lle_weights(x, X[near], reg) @ Z[near]


# ---------------------------------------------------------------------------- probabilistic PCA
def probabilistic_pca(X: ArrayLike, k: int) -> tuple[Array, Array, float]:
    """μ, W, σ² of x ~ N(μ, WWᵀ + σ²I) at maximum likelihood: σ² = mean dropped λ, W = U_k(Λ_k − σ²I)^½ (004 §2.4)."""
    X = _rows(X)
    values, U = spectral_decomposition(covariance_by_centring(X))
    k = _at_most(k, X.shape[1] - 1, "directions that leave one for the noise")
    noise = max(0.0, float(values[k:].mean()))  # rounding may leave a variance of nothing below zero
    return X.mean(axis=0), with_signs(U[:, :k]) * np.sqrt(np.maximum(values[:k] - noise, 0)), noise


def ppca_log_likelihood(X: ArrayLike, mean: Array, W: Array, noise: float) -> float:
    """Mean of log N(x | μ, WWᵀ + σ²I) over the rows of X."""
    X = _rows(X) - mean
    _require(noise > 0, f"Without noise the density is degenerate; sigma² must be positive, got {noise}.")
    S = W @ W.T + noise * np.eye(len(W))
    distances = np.sum(X * np.linalg.solve(S, X.T).T, axis=1)
    return float(-0.5 * np.mean(distances + np.linalg.slogdet(2 * np.pi * S)[1]))


def ppca_scores(X: ArrayLike, mean: Array, W: Array, noise: float) -> Array:
    """E[z | x] = (WᵀW + σ²I)⁻¹ Wᵀ(x − μ); for σ² → 0, W E[z | x] is the projection of PCA (004 §3)."""
    return np.linalg.solve(W.T @ W + noise * np.eye(W.shape[1]), W.T @ (_rows(X) - mean).T).T


# ---------------------------------------------------------------------------- probabilistic PCA of rows with gaps
def ppca_log_likelihood_of_observed(X: ArrayLike, mean: Array, W: Array, noise: float) -> Array:
    """log N(x_O | μ_O, W_O W_Oᵀ + σ²I) of every row, of the numbers that are there (004 §3, with gaps: NaN)."""
    found = []
    for x in _with_gaps(X):
        o = ~np.isnan(x)
        S, y = W[o] @ W[o].T + noise * np.eye(o.sum()), x[o] - mean[o]
        found.append(-0.5 * (y @ np.linalg.solve(S, y) + np.linalg.slogdet(2 * np.pi * S)[1]))
    return np.array(found)


def ppca_fill(X: ArrayLike, mean: Array, W: Array, noise: float) -> Array:
    """E[x_M | x_O] = μ_M + C_MO C_OO⁻¹(x_O − μ_O) with C = WWᵀ + σ²I, in the gaps (004 §3)."""
    X, C = _with_gaps(X).copy(), W @ W.T + noise * np.eye(len(W))
    for x in X:
        m, o = np.isnan(x), ~np.isnan(x)
        x[m] = mean[m] + C[np.ix_(m, o)] @ np.linalg.solve(C[np.ix_(o, o)], x[o] - mean[o])
    return X


def ppca_em(
    X: ArrayLike, k: int, steps: int = 1000, start: tuple[Array, Array, float] | None = None
) -> tuple[Array, Array, float]:
    """μ, W, σ² at maximum likelihood of rows with gaps, by expectation and maximisation, one row after the other.

    The model is that of 004 §3. E: of every row Σ = (W_OᵀW_O + σ²I)⁻¹, ⟨z⟩ = ΣW_Oᵀ(x_O − μ_O) and
    ⟨zzᵀ⟩ = ⟨z⟩⟨z⟩ᵀ + σ²Σ. M: every column is regressed on (z, 1) over the rows that have it, and σ² is what is left on
    average.
    """
    X = _with_gaps(X)
    n, d = X.shape
    _at_most(k, d - 1, "directions that leave one for the noise")
    mean, noise = np.nanmean(X, axis=0), float(np.nanvar(X))
    W = np.linalg.svd(np.where(np.isnan(X), 0, X - mean), full_matrices=False)[2][:k].T
    if start is not None:
        mean, W, noise = start[0].copy(), start[1].copy(), start[2]
    there = ~np.isnan(X)
    for _ in range(steps):
        z, zz = np.ones((n, k + 1)), np.ones((n, k + 1, k + 1))
        for i in range(n):
            o = there[i]
            cov = np.linalg.inv(W[o].T @ W[o] + noise * np.eye(k))
            z[i, :k] = cov @ W[o].T @ (X[i, o] - mean[o])
            zz[i] = np.outer(z[i], z[i])
            zz[i, :k, :k] += noise * cov
        left = 0.0
        for j in range(d):
            o = there[:, j]
            w = np.linalg.solve(zz[o].sum(axis=0), z[o].T @ X[o, j])
            W[j], mean[j] = w[:k], w[k]
            left += np.sum(X[o, j] ** 2) - 2 * w @ z[o].T @ X[o, j] + w @ zz[o].sum(axis=0) @ w
        noise = left / there.sum()
    return mean, W, noise


# ---------------------------------------------------------------------------- where a student would stumble
def _require(condition: Any, sentence: str) -> None:
    if not condition:
        raise ValueError(sentence)


def _rows(X: ArrayLike) -> Array:
    X = np.asarray(X, dtype=float)
    _require(X.ndim == 2 and X.size, f"X must be a table, one sample a row; its shape is {X.shape}.")
    _require(np.isfinite(X).all(), f"X has {np.sum(~np.isfinite(X))} entries that are not finite numbers.")
    return X


def _with_gaps(X: ArrayLike) -> Array:
    X = np.asarray(X, dtype=float)
    _require(X.ndim == 2 and X.size, f"X must be a table, one sample a row; its shape is {X.shape}.")
    _require(not np.isinf(X).any(), f"X has {np.sum(np.isinf(X))} entries that are infinite.")
    _require(not np.isnan(X).all(axis=0).any(), "X has a column without any number.")
    return X


def _square(A: ArrayLike, name: str) -> Array:
    A = np.asarray(A, dtype=complex if np.iscomplexobj(A) else float)
    _require(A.ndim == 2 and len(A) == A.shape[-1] > 0, f"{name} must be square; its shape is {A.shape}.")
    _require(np.isfinite(A).all(), f"{name} has {np.sum(~np.isfinite(A))} entries that are not finite numbers.")
    return A


def _of_length(x: ArrayLike, length: int, name: str) -> Array:
    x = np.asarray(x, dtype=float)
    _require(x.shape in ((length,), ()), f"{name} must have {length} entries; its shape is {x.shape}.")
    return x


def _unit(u: ArrayLike, length: int) -> Array:
    u = _of_length(u, length, "u")
    _require(np.isclose(u @ u, 1), f"u must be a unit vector; its length is {np.linalg.norm(u):.3g}.")
    return u


def _new_rows(K_new: ArrayLike, V: Array) -> Array:
    m, n = _rows(K_new).shape
    _require(n == len(V), f"K_new is {m}×{n} for {len(V)} training points, which are its columns; K_new.T?")
    return _rows(K_new)


def _at_most(k: int | None, limit: int, what: str = "axes, min(n, d)") -> int:
    _require(limit >= 1, f"There are no {what} at all.")
    _require(k is None or 1 <= k <= limit, f"k = {k}, but there are only {limit} {what}; take 1 ≤ k ≤ {limit}.")
    return limit if k is None else k
