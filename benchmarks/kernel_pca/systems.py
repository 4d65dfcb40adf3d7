"""Kernel PCA: the systems that are measured, each as an estimator."""

import numpy as np
from scipy.sparse.linalg import LinearOperator, eigsh

from benchmarks.kernel_pca.cases import BARE, COUNT, SKLEARN

PREPARED = 8192  # rows of which bare kernel blocks are prepared at a time


class EigshOnTiles:
    """What people write by hand: ARPACK on a LinearOperator that evaluates blocks of the kernel with numpy."""

    def __init__(self, n_components, gamma):
        self.n_components, self.gamma = n_components, gamma

    def fit(self, X):
        squares = np.sum(X * X, axis=1)

        def product(v):
            v = v.reshape(-1) - v.mean()
            out = np.empty(len(X))
            for i in range(0, len(X), 1000):
                rows = slice(i, i + 1000)
                distances = np.maximum(squares[rows, None] + squares - 2 * X[rows] @ X.T, 0)
                out[rows] = np.exp(-self.gamma * distances) @ v
            return out - out.mean()

        operator = LinearOperator((len(X), len(X)), matvec=product, dtype=float)
        start = np.random.default_rng(0).standard_normal(len(X))
        values, vectors = eigsh(operator, self.n_components, which="LA", tol=1e-4, v0=start)
        self.eigenvalues_, self.eigenvectors_ = values[::-1], vectors[:, ::-1]
        return self


class BareBlocks:
    """The most that a transform can reach: the kernel blocks it needs, in the same tiles and on as many threads,
    evaluated and thrown away. Blocks of rows are prepared by the thread that needs them, so no thread waits."""

    def __init__(self, model):
        self.model = model

    def fit(self, X):
        self.model.fit(X)
        return self

    def transform(self, X):
        from mercer_old.blocks import cut
        from mercer_old.limits import Limits
        from mercer_old.operators.tiles import TILE
        from mercer_old.threads import run

        kernel, S = self.model.kernel_, self.model.landmarks_

        def work(block):
            tiles, buffer = kernel.prepare(X[block], S), np.empty(4 * TILE * TILE)
            for rows in cut(block.stop - block.start, TILE):
                for columns in cut(len(S), 4 * TILE):
                    shape = rows.stop - rows.start, columns.stop - columns.start
                    tiles.fill(rows, columns, buffer[: shape[0] * shape[1]].reshape(shape))

        run(work, cut(len(X), PREPARED), Limits.of().threads)


def model_of(system, case, gamma, seed=0):
    """The estimator of a system: ours, or scikit-learn's with its eigen_solver ("auto" is "arpack" for k < 10)."""
    if case.by_landmarks:
        return landmark_model_of(system, case, gamma, seed)
    params = dict(n_components=case.k, kernel="rbf", gamma=gamma, fit_inverse_transform=case.job.startswith("inverse"))
    if system == "eigsh on tiles":
        return EigshOnTiles(case.k, gamma)
    if system == "mercer":
        from mercer import KernelPCA

        return KernelPCA(**params)
    from sklearn.decomposition import KernelPCA

    return KernelPCA(eigen_solver=system.removeprefix(f"{SKLEARN} "), random_state=0, **params)


def landmark_model_of(system, case, gamma, seed):
    """The same where all have a thousand landmarks or features: "mercer", its bare blocks, or "features + PCA"."""
    if system in ("mercer", BARE):
        from mercer import KernelPCA

        model = KernelPCA(
            case.k,
            kernel="rbf",
            gamma=gamma,
            eigen_solver="landmark",
            n_landmarks=COUNT,
            random_state=seed,
            memory_limit="1GB" if case.file else None,
        )
        return model if system == "mercer" else BareBlocks(model)
    from sklearn import kernel_approximation
    from sklearn.decomposition import PCA
    from sklearn.pipeline import make_pipeline

    features = getattr(kernel_approximation, system.removesuffix(" + PCA"))
    return make_pipeline(features(gamma=gamma, n_components=COUNT, random_state=seed), PCA(case.k, random_state=seed))
