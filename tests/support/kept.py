"""Every kind of model that can be kept in a file, with rows that it was fitted to and rows that are new to it."""

from functools import cache

import numpy as np
from scipy import sparse
from sklearn.base import clone

from mercer import (
    GPLVM,
    PCA,
    Autoencoder,
    FactorAnalysis,
    IncrementalPCA,
    KernelPCA,
    LocallyLinearEmbedding,
    NoveltyDetector,
    ProbabilisticPCA,
)
from mercer.datasets import VOC
from mercer.kernels import RBF, Blockwise, GlobalAlignment, Matern, Pairwise, Spectrum, TableKernel
from mercer_old.readings.preimages import PREIMAGES
from support.registry import ALL_COLUMNS, ALL_KERNELS, non_negative_rows, rows, series, tables, texts
from support.silence import silently

X, NEW = rows(60, 1), rows(9, 2)
SINGLE = X.astype(np.float32), NEW.astype(np.float32)
HOLLOW = sparse.csr_array(X * (X > 0)), sparse.csr_array(NEW * (NEW > 0))
GAPS = tuple(np.where(some > 1, np.nan, some) for some in (X, NEW))
WEIGHTS = np.arange(60) % 4
COPIES = np.repeat(X[:12], 5, axis=0)  # so that five neighbours are all equal to their row
GROUPS = np.concatenate([X[:30], X[30:] + 100])
OF_USERS = (Pairwise, Blockwise)


def distances(A, B):
    return np.sqrt(((A[:, None] - B) ** 2).sum(axis=2))


def kept(model, fitted=X, new=NEW, **how):
    return model, fitted, new, how


MODELS = {
    "pca": kept(PCA(2)),
    "pca, all": kept(PCA()),
    "pca, standardize": kept(PCA(2, standardize=True, random_state=7, memory_limit="1GB", n_jobs=1)),
    "pca, whiten": kept(PCA(0.5, whiten=True)),
    "pca, single": kept(PCA("bic"), *SINGLE),
    "pca, sparse": kept(PCA(2, svd_solver="covariance_eigh"), *HOLLOW),
    "pca, weights": kept(PCA(2), sample_weight=WEIGHTS),
    "incremental": kept(IncrementalPCA(2)),
    "incremental, single": kept(IncrementalPCA(2, whiten=True), *SINGLE),
    "incremental, forget": kept(IncrementalPCA(2, forget=0.9, batch_size=16)),
    "incremental, sketch": kept(IncrementalPCA(2, sketch_size=3)),
    "probabilistic": kept(ProbabilisticPCA(2)),
    "probabilistic, single": kept(ProbabilisticPCA(2, whiten=True), *SINGLE),
    "probabilistic, gaps": kept(ProbabilisticPCA(standardize=True), *GAPS),
    "kernel": kept(KernelPCA(2, kernel="rbf")),
    "kernel, inverse": kept(KernelPCA(2, kernel="rbf", fit_inverse_transform=True)),
    "kernel, standardize": kept(
        KernelPCA(3, kernel="rbf", standardize=True, gamma="median", fit_inverse_transform=True)
    ),
    "kernel, single": kept(KernelPCA(2, kernel="laplacian", standardize=True), *SINGLE),
    "kernel, sparse": kept(KernelPCA(2, kernel="rbf"), *HOLLOW),
    "kernel, weights": kept(KernelPCA(2, kernel="rbf"), sample_weight=WEIGHTS),
    "kernel, weights, features": kept(KernelPCA(2, kernel="poly", degree=2), sample_weight=WEIGHTS),
    "kernel, krylov": kept(KernelPCA(2, kernel="rbf", eigen_solver="krylov", random_state=3)),
    "kernel, all": kept(KernelPCA(kernel="rbf")),
    "landmarks": kept(KernelPCA(2, kernel="rbf", eigen_solver="landmark", n_landmarks=20)),
    "landmarks, standardize": kept(
        KernelPCA(
            2, kernel="rbf", eigen_solver="landmark", n_landmarks=20, standardize=True, fit_inverse_transform=True
        ),
        *SINGLE,
    ),
    "landmarks, sparse": kept(KernelPCA(2, kernel="rbf", eigen_solver="landmark", n_landmarks=20), *HOLLOW),
    "landmarks, refine": kept(KernelPCA(2, kernel="rbf", eigen_solver="landmark", n_landmarks=20, refine=2)),
    "landmarks, given": kept(KernelPCA(2, kernel="rbf", eigen_solver="landmark", landmarks=X[:15])),
    "landmarks, numbers": kept(KernelPCA(2, kernel="rbf", eigen_solver="landmark", landmarks=list(range(15)))),
    "landmarks, texts": kept(
        KernelPCA(2, kernel=Spectrum(2), eigen_solver="landmark", n_landmarks=10), texts(40, 1), texts(9, 2)
    ),
    "landmarks, tables": kept(
        KernelPCA(2, kernel=TableKernel(ALL_COLUMNS), eigen_solver="landmark", n_landmarks=10),
        tables(40, 1),
        tables(9, 2),
    ),
    "precomputed": kept(KernelPCA(2, kernel="precomputed"), X @ X.T, NEW @ X.T),
    "precomputed, weights": kept(KernelPCA(2, kernel="precomputed"), X @ X.T, NEW @ X.T, sample_weight=WEIGHTS),
    "bytes": kept(KernelPCA(2, kernel=Spectrum(2)), [b"abc\x00\xff", b"bcd", b"abd", b"cab"], [b"abcd", b""]),
    "odd texts": kept(KernelPCA(2, kernel=Spectrum(2)), ["añb", "\ud800ab", "", "日本語", "ab\n"], ["日本", "x"]),
    "series": kept(KernelPCA(2, kernel=GlobalAlignment()), series(30, 1), series(9, 2)),
    "tables": kept(KernelPCA(2, kernel=TableKernel(ALL_COLUMNS)), tables(40, 1), tables(9, 2)),
    "tables, guessed": kept(KernelPCA(2, kernel="table"), tables(40, 1), tables(9, 2)),
    "lle": kept(LocallyLinearEmbedding(n_neighbors=8)),
    "lle, landmarks": kept(LocallyLinearEmbedding(n_neighbors=8, n_landmarks=25)),
    "lle, landmarks of parts": kept(
        LocallyLinearEmbedding(n_neighbors=4, n_landmarks=30, on_disconnected="separate"), GROUPS
    ),
    "lle, one part each": kept(LocallyLinearEmbedding(n_neighbors=8, on_disconnected="separate"), GROUPS),
    "lle, copies": kept(LocallyLinearEmbedding(n_neighbors=4, n_components=1), COPIES),
    "lle, cosine": kept(LocallyLinearEmbedding(n_neighbors=8, metric="cosine")),
    "lle, single": kept(LocallyLinearEmbedding(n_neighbors=8, standardize=True), *SINGLE),
    "lle, brute": kept(LocallyLinearEmbedding(n_neighbors=8, neighbors_algorithm="brute")),
    "lle, sparse": kept(LocallyLinearEmbedding(n_neighbors=8), *HOLLOW),
    "lle, sparse cosine": kept(LocallyLinearEmbedding(n_neighbors=8, metric="cosine"), *HOLLOW),
    "lle, kernel": kept(LocallyLinearEmbedding(n_neighbors=8, metric=RBF(0.1))),
    "lle, texts": kept(LocallyLinearEmbedding(n_neighbors=8, metric="spectrum"), VOC, ["Kalbsschnitzel", "x"]),
    "lle, tables": kept(LocallyLinearEmbedding(n_neighbors=8, metric="table"), tables(60, 1), tables(9, 2)),
    "lle, distances": kept(
        LocallyLinearEmbedding(n_neighbors=8, metric="precomputed"), distances(X, X), distances(NEW, X)
    ),
    "lle, distances of copies": kept(
        LocallyLinearEmbedding(n_neighbors=4, n_components=1, metric="precomputed"),
        distances(COPIES, COPIES),
        distances(NEW, COPIES),
    ),
    **{
        f"lle, {method}": kept(LocallyLinearEmbedding(n_neighbors=8, method=method))
        for method in ("modified", "hessian", "ltsa")
    },
    "factors": kept(FactorAnalysis(2)),
    "factors, none": kept(FactorAnalysis(0)),
    "factors, rotated": kept(FactorAnalysis(2, rotation="varimax", noise_variance_init=np.ones(4)), *SINGLE),
    "factors, sparse": kept(FactorAnalysis(1), *HOLLOW),
    "gplvm": kept(GPLVM(2, max_iter=10)),
    "gplvm, landmarks": kept(GPLVM(2, n_landmarks=12, polish=0, max_iter=10), *HOLLOW),
    "gplvm, kernel": kept(
        GPLVM(1, kernel=Matern(1.5) + RBF(0.1), standardize=True, init=X[:, :1], max_iter=5), *SINGLE
    ),
    "gplvm, linear": kept(GPLVM(2, kernel="linear", prior=0, max_iter=10)),
    "autoencoder": kept(Autoencoder(2, hidden=(5, 3), max_iter=40)),
    "autoencoder, none held out": kept(
        Autoencoder(1, hidden=[4], validation_fraction=0, activation="relu", standardize=True, max_iter=9), *SINGLE
    ),
    "autoencoder, linear": kept(Autoencoder(2, hidden=(), activation="identity", max_iter=9, random_state=5), *HOLLOW),
    "novelty": kept(NoveltyDetector()),
    "novelty, pca": kept(NoveltyDetector(PCA(2), statistic="t2")),
    "novelty, few": kept(NoveltyDetector(PCA(2), alpha=0.001)),  # a threshold of infinity
    "novelty, prefit": kept(NoveltyDetector(PCA(2).fit(X), prefit=True)),
    **{f"preimage, {way}": kept(KernelPCA(3, kernel="rbf", gamma=0.2, preimage=way)) for way in PREIMAGES},
    **{
        f"kernel {kernel!r}": kept(KernelPCA(2, kernel=kernel), items(40, 1), items(9, 2))
        for kernel, items in ALL_KERNELS
        if not isinstance(kernel, OF_USERS)
    },
    "histograms": kept(KernelPCA(2, kernel="chi2"), non_negative_rows(40, 1), non_negative_rows(9, 2)),
}


@cache
def kept_fit(name):
    """The same, once for all tests that leave the model as it is."""
    return fitted(name)


def fitted(name):
    """A model of the list, fitted, and rows that are new to it."""
    model, items, new, how = MODELS[name]
    model = model if getattr(model, "prefit", False) else clone(model)
    return silently(lambda: model.fit(items, **how)), new
