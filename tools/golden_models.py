"""Model files for ever: one of every kind, written once for each schema, with a question and its answer in its notes.

    python tools/golden_models.py        # writes those that are not there yet into tests/edition1/store/golden

A file that was committed is never written again: it shows that old files stay readable.
"""

import warnings
from pathlib import Path
from typing import Any

import numpy as np

import mercer
from mercer.kernels import RBF, Category, GlobalAlignment, Linear, Numeric, Spectrum, TableKernel
from mercer_old.store.files import SCHEMA

FOLDER = Path(__file__).parents[1] / "tests" / "edition1" / "store" / "golden"
WORDS = ["tree", "trees", "street", "reset", "seer", "tester", "rest", "steer", "terse", "ester"]
TABLE = {
    "mass": [1.0, 2.5, None, 4.0, 0.5, 3.0, 2.0, 5.5],
    "color": ["red", "blue", "red", None, "green", "blue", "red", "green"],
}


def _rows(n: int, seed: int) -> Any:
    return np.random.default_rng(seed).normal(size=(n, 3)).round(3)


X, NEW = _rows(14, 0), _rows(3, 1)
WALKS = [X[:4], X[3:9], X[8:10], X[9:14], X[2:7]]

# For every file a model, what it is fitted to, and what it is asked.
KINDS: dict[str, tuple[Any, Any, Any]] = {
    "pca": (mercer.PCA(2), X, NEW),
    "pca_standardized": (mercer.PCA(2, standardize=True, whiten=True), X, NEW),
    "incremental_pca": (mercer.IncrementalPCA(2), X, NEW),
    "probabilistic_pca": (mercer.ProbabilisticPCA(2), X, NEW),
    "probabilistic_pca_gaps": (mercer.ProbabilisticPCA(2, standardize=True), np.where(X > 1, np.nan, X), NEW),
    "kernel_pca": (mercer.KernelPCA(2, kernel=RBF(0.5) + 0.5 * Linear(), standardize=True), X, NEW),
    "kernel_pca_features": (mercer.KernelPCA(2, kernel="poly", degree=2), X, NEW),
    "kernel_pca_landmarks": (mercer.KernelPCA(2, kernel="rbf", eigen_solver="landmark", n_landmarks=6), X, NEW),
    "kernel_pca_matrix": (mercer.KernelPCA(2, kernel="precomputed"), X @ X.T, NEW @ X.T),
    "kernel_pca_texts": (mercer.KernelPCA(2, kernel=Spectrum(2)), WORDS, ["streets", "oak"]),
    "kernel_pca_table": (
        mercer.KernelPCA(2, kernel=TableKernel({"mass": Numeric(), "color": Category()})),
        TABLE,
        {"mass": [1.5, None], "color": ["blue", "red"]},
    ),
    "kernel_pca_series": (mercer.KernelPCA(2, kernel=GlobalAlignment()), WALKS, [X[5:8], X[:2]]),
    "lle": (mercer.LocallyLinearEmbedding(n_neighbors=5), X, NEW),
    "lle_kernel": (mercer.LocallyLinearEmbedding(n_neighbors=5, metric=RBF(0.1)), X, NEW),
    "factor_analysis": (mercer.FactorAnalysis(1), X, NEW),
    "gplvm": (mercer.GPLVM(1, kernel=RBF(0.5), max_iter=20), X, NEW),
    "gplvm_landmarks": (mercer.GPLVM(1, n_landmarks=5, polish=0, max_iter=20), X, NEW),
    "autoencoder": (mercer.Autoencoder(1, hidden=(3,), max_iter=50), X, NEW),
    "novelty": (mercer.NoveltyDetector(mercer.PCA(2)), X, NEW),
}


def answer_of(model: Any, new: Any) -> Any:
    """What a model says of new rows."""
    return (
        model.score_samples(new)
        if hasattr(model, "score_samples") and not hasattr(model, "transform")
        else (model.transform(new))
    )


def _as_json(value: Any) -> Any:
    if isinstance(value, list):
        return [_as_json(one) for one in value]
    return value.tolist() if isinstance(value, np.ndarray) else value


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for name, (model, items, new) in KINDS.items():
        path = FOLDER / f"{SCHEMA[0]}.{SCHEMA[1]}-{name}.mercer"
        if path.exists():
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(items)
            notes = {"new": _as_json(new), "answer": _as_json(answer_of(model, new))}
            model.save(path, notes=notes)
        print(path)


if __name__ == "__main__":
    main()
