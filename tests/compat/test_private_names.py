"""Private names: scikit-learn's that we use, each with a fallback, and ours that others read."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn import decomposition

from mercer import KernelPCA
from support.silence import quiet
from support.substitute import KERNELS, NEW, sample

ROOT = Path(__file__).parents[2]

# ---------------------------------------------------------------------- scikit-learn's private names


def private_names(path):
    """Every private name of scikit-learn that a file imports."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "sklearn":
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names if alias.name.startswith("sklearn")]
        else:
            continue
        yield from (name for name in names if "._" in name)


@pytest.mark.parametrize(
    ("package", "modules"),
    [("mercer_old", {"unpromised.py"}), ("mercer", {"compat/sklearn_private.py", "compat/array_api.py"})],
)
def test_private_names_of_scikit_learn_are_imported_in_one_place(package, modules):
    source = ROOT / "src" / package
    found = {path: list(private_names(path)) for path in source.rglob("*.py")}
    assert {path for path, names in found.items() if names} == {source / module for module in modules}


WITHOUT = """
import sys; sys.path.insert(0, {tests!r})
import support.sklearn_next
import numpy as np, sklearn, mercer, mercer_old.unpromised
from scipy import sparse
from sklearn.neighbors import NearestNeighbors

assert mercer_old.unpromised.Interval.__module__ == "mercer_old.unpromised"
X = np.random.default_rng(0).normal(size=(40, 4))
models = [mercer.PCA(2), mercer.IncrementalPCA(2), mercer.ProbabilisticPCA(2), mercer.KernelPCA(2, kernel="rbf"),
          mercer.LocallyLinearEmbedding(n_neighbors=6)]
for model in models:
    scores = model.fit_transform(X)
    assert np.allclose(model.transform(X), scores, atol=1e-9)
    for bad in ({{"n_components": -1}}, {{"n_jobs": "two"}}, {{"memory_limit": -3}}, {{"progress": 2}}):
        try:
            sklearn.clone(model).set_params(**bad).fit(X)
        except ValueError as error:
            name = next(iter(bad))
            assert f"The {{name!r}} parameter of {{type(model).__name__}} must be" in str(error), error
        else:
            raise AssertionError(f"{{model}} took {{bad}}")
mercer.locally_linear_embedding(NearestNeighbors().fit(X), n_neighbors=6, n_components=2)
mercer.PCA(2, random_state=np.random.RandomState(0)).fit(sparse.csr_array(X), sample_weight=np.arange(40))
mercer.IncrementalPCA(2).partial_fit(X).partial_fit(X)

import array_api_strict
with sklearn.config_context(array_api_dispatch=True):
    scores = mercer.PCA(2).fit_transform(array_api_strict.asarray(X))
    assert type(scores).__module__.startswith("array_api_strict")
    assert np.allclose(np.from_dlpack(scores), models[0].transform(X))
    by_kernel = mercer.KernelPCA(2, kernel="rbf").fit_transform(array_api_strict.asarray(X))
    assert type(by_kernel) is type(scores)
print("done")
"""


def test_models_go_on_without_scikit_learns_private_names():
    code = WITHOUT.format(tests=str(ROOT / "tests"))
    settings = os.environ | {"SCIPY_ARRAY_API": "1"}
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, env=settings)
    assert done.stdout.strip() == "done", done.stderr[-2000:]


# ---------------------------------------------------------------------- private names that others read


@pytest.mark.parametrize("params", KERNELS, ids=lambda p: p["kernel"])
@quiet
def test_reconstruction_errors_as_pyod_computes_them(params):
    """From a subclass, by the private names `_centerer` and `_get_kernel`."""

    def errors(base):
        class Detector(base):
            def __init__(self, n_components=None, kernel="rbf", gamma=None, degree=3):
                super().__init__(n_components=n_components, kernel=kernel, gamma=gamma, degree=degree)

        model = Detector(3, **params)
        scores, centerer = model.fit_transform(sample()), model._centerer
        own = np.array([model._get_kernel(row[None])[0, 0] for row in sample()])
        fitted = own - 2 * centerer.K_fit_rows_ + centerer.K_fit_all_ - (scores**2).sum(axis=1)
        K = model._get_kernel(NEW, model.X_fit_)
        own = np.array([model._get_kernel(row[None])[0, 0] for row in NEW])
        new = own - 2 * K.mean(axis=1) + centerer.K_fit_all_ - (model.transform(NEW) ** 2).sum(axis=1)
        return fitted, new, centerer.transform(K)

    for ours, theirs in zip(errors(KernelPCA), errors(decomposition.KernelPCA), strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-8 * np.abs(theirs).max())


@pytest.mark.parametrize("params", KERNELS, ids=lambda p: p["kernel"])
@quiet
def test_kernels_between_rows_in_their_own_units_are_those_of_divided_rows(params):
    model = KernelPCA(3, standardize=True, **params).fit(sample())
    divided, new = sample() / sample().std(axis=0, ddof=1), NEW / sample().std(axis=0, ddof=1)
    theirs = decomposition.KernelPCA(3, eigen_solver="dense", **params).fit(divided)
    for X, Y, expected in (
        (NEW, model.X_fit_, theirs._get_kernel(new, theirs.X_fit_)),
        (NEW, model.X_fit_[:7], theirs._get_kernel(new, theirs.X_fit_[:7])),
        (NEW, sample(), theirs._get_kernel(new, theirs.X_fit_)),
        (NEW, None, theirs._get_kernel(new)),
        (model.X_fit_, None, theirs._get_kernel(theirs.X_fit_)),
    ):
        np.testing.assert_allclose(model._get_kernel(X, Y), expected, rtol=1e-10, atol=1e-12)
