"""What a type checker sees of documented usage; `make lint` reads this file, and nobody runs it."""

from pathlib import Path
from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray

from mercer import PCA, IncrementalPCA, KernelPCA, LocallyLinearEmbedding, NoveltyDetector, locally_linear_embedding
from mercer_old.certificates.intervals import IntervalCertificate
from mercer_old.certificates.residuals import Certificate
from mercer_old.plans.plan import Plan

Array = NDArray[Any]
X = np.zeros((10, 3))

pca = assert_type(PCA(2).fit(X), PCA)
assert_type(pca.transform(X), Array)
assert_type(pca.fit_transform(X), Array)
assert_type(pca.inverse_transform(X), Array)
assert_type(pca.components_, Array)
assert_type(pca.explained_variance_ratio_, Array)
assert_type(pca.loadings_, Array)
assert_type(pca.total_variance_, float)
assert_type(pca.n_samples_, int)
assert_type(pca.certificate_, Certificate)
assert_type(pca.certificate_.certified, bool)
assert_type(pca.plan_, Plan)
assert_type(pca.plan(X), Plan)
assert_type(pca.transform_to(X, "scores.npy"), Path)

batches = assert_type(IncrementalPCA(2).partial_fit(X), IncrementalPCA)
assert_type(batches.components_, Array)
assert_type(batches.n_samples_seen_, int)

kernel = assert_type(KernelPCA(2, kernel="rbf").fit(X), KernelPCA)
assert_type(kernel.set_params(gamma=2.0), KernelPCA)
assert_type(kernel.eigenvalues_, Array)
assert_type(kernel.eigenvectors_, Array)
assert_type(kernel.gamma_, float)
assert_type(kernel.certificate_, Certificate | IntervalCertificate)
assert_type(kernel.transform(X), Array)

local = assert_type(LocallyLinearEmbedding(n_neighbors=5).fit(X), LocallyLinearEmbedding)
assert_type(local.embedding_, Array)
assert_type(local.residuals_, Array)
assert_type(local.n_parts_, int)
assert_type(local.place(X).far, Array)
assert_type(locally_linear_embedding(X, n_neighbors=5, n_components=2), tuple[Array, float])

detector = assert_type(NoveltyDetector(pca, prefit=True).fit(X), NoveltyDetector)
assert_type(detector.p_values(X), Array)
assert_type(detector.select(X, fdr=0.1), Array)
assert_type(detector.threshold_, float)
