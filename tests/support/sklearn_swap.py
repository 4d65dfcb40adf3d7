"""A pytest plugin that puts our classes into scikit-learn, so that its own test files examine them.

Wherever scikit-learn has one of its own, under whatever name, ours takes its place. BLAS has one thread, as in our own
tests. With MERCER_EDITION=new, the classes are those of `mercer.estimators` that can be imported.
"""

import os
import sys

import pytest
import sklearn.decomposition
import sklearn.manifold

import mercer
from mercer_old.threads import one_blas_thread

NAMES = {
    sklearn.decomposition: ("KernelPCA", "PCA", "IncrementalPCA"),
    sklearn.manifold: ("LocallyLinearEmbedding", "locally_linear_embedding"),
}
if os.environ.get("MERCER_EDITION") == "new":
    from support.editions import new_classes

    NEW = new_classes(
        "PCA", "IncrementalPCA", "FactorAnalysis", "KernelPCA", "LocallyLinearEmbedding", "locally_linear_embedding"
    )
    HOMES = sklearn.decomposition, sklearn.manifold
    OURS = {getattr(home, name): ours for name, ours in NEW.items() for home in HOMES if hasattr(home, name)}
else:
    OURS = {getattr(package, name): getattr(mercer, name) for package, names in NAMES.items() for name in names}

for module in [module for name, module in sys.modules.items() if name.partition(".")[0] == "sklearn"]:
    for name, value in list(vars(module).items()):
        if isinstance(value, type) or callable(value):
            try:
                ours = OURS.get(value)
            except TypeError:  # callable, but no key of a dictionary
                continue
            if ours is not None:
                setattr(module, name, ours)


@pytest.fixture(scope="session", autouse=True)
def one_thread_of_blas():
    with one_blas_thread():
        yield
