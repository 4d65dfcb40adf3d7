"""KernelPCA of given matrices under attack."""

import numpy as np
from scipy.linalg import hadamard

from attack.editions import estimator
from attack.kernel import TINY
from attack.precise import DD, sqrt
from attack.problems import Problem, family
from attack.truth import kernel_truth, known


def precomputed(rng, K, words, truth=None, k=None, solver=None):
    n = len(K)
    solver = solver or ("krylov" if n >= TINY and rng.random() < 0.6 else str(rng.choice(["auto", "dense"])))
    k = k or int(rng.integers(1, max(2, (n // 10 if solver == "krylov" else n // 2) + 1)))
    model = estimator("KernelPCA", k, kernel="precomputed", eigen_solver=solver, random_state=0, n_jobs=1)
    if rng.random() < 0.1 and 1e-30 < np.abs(K).max() < 1e30 and truth is None:
        K = K.astype(np.float32)
    peak = float(np.abs(K).max())
    exponent = -int(np.frexp(peak)[1]) if peak > 0 else 0

    def entries(_):
        return kernel_truth(DD(np.ldexp(K.astype(np.float64), exponent)), 0.0, exponent=exponent)

    words = f"KernelPCA({k}, precomputed, {solver}) of {n}: {words}"
    return Problem(lambda: model.fit(K), truth or entries, words, asked=k)


@family(40, "KernelPCA")
def precomputed_indefinite(rng):
    n = int(rng.integers(4, 40))
    Q = np.linalg.qr(rng.normal(size=(n, n)))[0]
    K = (Q * rng.normal(size=n)) @ Q.T
    return precomputed(rng, (K + K.T) / 2, "indefinite", k=max(1, n // 4))


@family(40, "KernelPCA")
def precomputed_constant(rng):
    """A constant, and something small on top of it."""
    n, small = int(rng.integers(4, 40)), 10.0 ** rng.uniform(-12, -2)
    B = rng.normal(size=(n, int(rng.integers(1, 6))))
    K = 1.0 + small * (B @ B.T)
    return precomputed(rng, (K + K.T) / 2, f"constant and {small:.0e}")


@family(30, "KernelPCA")
def precomputed_circulant(rng):
    n = int(rng.integers(4, 40))
    first = rng.normal(size=n)
    first = first + first[-np.arange(n) % n]
    K = first[(np.arange(n)[:, None] - np.arange(n)) % n]
    K = K @ K.T if rng.random() < 0.7 else K + 3 * n * np.eye(n)
    return precomputed(rng, (K + K.T) / 2, "circulant: pairs of eigenvalues")


@family(50, "KernelPCA")
def precomputed_identity(rng):
    n, times = int(rng.integers(5, 330)), float(rng.choice([1.0, 3.0, 0.1]))
    values = DD(np.append(np.full(n - 1, times), 0.0))
    k = int(rng.integers(1, min(n, 11)))
    return precomputed(rng, np.eye(n) * times, "the identity", truth=lambda _: known(values), k=k)


@family(40, "KernelPCA")
def precomputed_deficient(rng):
    n = int(rng.integers(5, 40))
    B = rng.integers(-3, 4, size=(n, max(1, n // 4))).astype(float)
    return precomputed(rng, B @ B.T, "of low rank")


@family(40, "KernelPCA")
def precomputed_scale(rng):
    n, scale = int(rng.integers(4, 90)), 10.0 ** rng.uniform(-140, 140)
    B = rng.normal(size=(n, n))
    K = B @ B.T * scale
    return precomputed(rng, (K + K.T) / 2, f"times {scale:.0e}")


@family(60, "KernelPCA")
def precomputed_hadamard(rng):
    """H diag(λ) Hᵀ with whole λ, each many times: the matrix is exact, and so are its eigenpairs."""
    n = int(2 ** rng.integers(4, 9))
    levels = np.sort(rng.choice(np.arange(1, 60), size=int(rng.integers(2, 6)), replace=False))[::-1].astype(float)
    values = np.sort(rng.choice(levels, size=n - 1))[::-1]
    H = hadamard(n).astype(float)
    K = (H[:, 1:] * values) @ H[:, 1:].T / n
    vectors = DD(H[:, 1:]) / DD(*(np.broadcast_to(x, (n, n - 1)) for x in root(n)))
    words = f"Hadamard, {len(levels)} different eigenvalues"
    return precomputed(
        rng, K, words, truth=lambda _: known(values, vectors, size=n), k=int(rng.integers(1, n // 8 + 1))
    )


def root(n):
    value = sqrt(DD(float(n)))
    return value.hi, value.lo
