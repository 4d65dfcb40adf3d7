"""A pytest plugin that puts our classes into scikit-learn, so that its own test files examine them."""

import sklearn.decomposition
import sklearn.manifold

import mercer

for name in ("KernelPCA", "PCA", "IncrementalPCA"):
    setattr(sklearn.decomposition, name, getattr(mercer, name))
for name in ("LocallyLinearEmbedding", "locally_linear_embedding"):
    setattr(sklearn.manifold, name, getattr(mercer, name))
