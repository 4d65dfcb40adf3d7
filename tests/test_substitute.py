"""A painless substitute: what people do with scikit-learn's models besides calling fit and transform."""

import ast
import copy
import os
import subprocess
import sys
from pathlib import Path

import joblib
import numpy as np
import pytest
import sklearn
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from mercer import PCA, IncrementalPCA, KernelPCA, LocallyLinearEmbedding
from mercer.datasets import rings
from mercer.kernels import RBF

QUIET = pytest.mark.filterwarnings("ignore::mercer.errors.MercerWarning")
SOURCE = Path(__file__).parent.parent / "src" / "mercer"


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


def test_private_names_of_scikit_learn_are_imported_in_one_module_alone():
    found = {path.name for path in SOURCE.rglob("*.py") if list(private_names(path))}
    assert found == {"unpromised.py"}
    assert len(list(private_names(SOURCE / "unpromised.py"))) >= 5  # so the search does find them


WITHOUT = """
import sys; sys.path.insert(0, {tests!r})
import sklearn_next
import numpy as np, sklearn, mercer, mercer.unpromised
from scipy import sparse
from sklearn.neighbors import NearestNeighbors

assert mercer.unpromised.Interval.__module__ == "mercer.unpromised"
X = np.random.default_rng(0).normal(size=(40, 4))
models = [mercer.PCA(2), mercer.IncrementalPCA(2), mercer.KernelPCA(2, kernel="rbf"),
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
print("done")
"""


def test_models_go_on_without_scikit_learns_private_names():
    code = WITHOUT.format(tests=str(Path(__file__).parent))
    settings = os.environ | {"SCIPY_ARRAY_API": "1"}
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, env=settings)
    assert done.stdout.strip() == "done", done.stderr[-2000:]


# ---------------------------------------------------------------------- pipelines that hand weights on


WITH_WEIGHTS = [PCA(2), IncrementalPCA(2), KernelPCA(2, kernel="rbf")]


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


@pytest.mark.parametrize("model", WITH_WEIGHTS, ids=lambda m: type(m).__name__)
def test_weights_of_a_pipeline_go_past_a_model_that_does_not_ask_for_them(model, routing):
    X, y, w = *load_iris(return_X_y=True), np.arange(150.0)
    last = LogisticRegression().set_fit_request(sample_weight=True)
    fitted = make_pipeline(clone(model), last).fit(X, y, sample_weight=w)
    alone = clone(model).fit(X)
    np.testing.assert_array_equal(fitted[0].transform(X), alone.transform(X))
    np.testing.assert_allclose(fitted[1].coef_, clone(last).fit(alone.transform(X), y, sample_weight=w).coef_)


@pytest.mark.parametrize("model", WITH_WEIGHTS, ids=lambda m: type(m).__name__)
def test_weights_of_a_pipeline_come_where_they_are_asked_for(model, routing):
    X, y, w = *load_iris(return_X_y=True), np.arange(150.0)
    asking = clone(model).set_fit_request(sample_weight=True)
    fitted = make_pipeline(asking, LogisticRegression().set_fit_request(sample_weight=False)).fit(X, y, sample_weight=w)
    np.testing.assert_array_equal(fitted[0].transform(X), clone(model).fit(X, sample_weight=w).transform(X))


def test_batches_take_weights_on_request(routing):
    assert not IncrementalPCA().get_metadata_routing().partial_fit.requests["sample_weight"]
    asking = IncrementalPCA().set_partial_fit_request(sample_weight=True)
    assert asking.get_metadata_routing().partial_fit.requests["sample_weight"]


# ---------------------------------------------------------------------- fitted models as files


FITTED = [
    PCA(2),
    PCA(2, svd_solver="krylov", standardize=True),
    IncrementalPCA(2),
    KernelPCA(2, kernel="rbf"),
    KernelPCA(2, kernel="poly", fit_inverse_transform=True),
    KernelPCA(2, kernel="rbf", n_landmarks=20),
    LocallyLinearEmbedding(),
    LocallyLinearEmbedding(n_components=1, metric="cosine", on_disconnected="separate"),
    LocallyLinearEmbedding(metric=RBF(), n_neighbors=8),
]


PLAIN = (type(None), str, int, float, np.generic, type)


def strangers(thing, place, seen):
    """What a fitted model holds besides numbers, texts, arrays, containers and objects of ours."""
    if (
        id(thing) in seen
        or isinstance(thing, (type(None), str, int, float, np.generic, type))
        or sparse.issparse(thing)
    ):
        return
    seen[id(thing)] = thing
    if isinstance(thing, np.ndarray):
        if thing.dtype != object:
            return
        parts = {}
    elif isinstance(thing, dict):
        parts = thing
    elif isinstance(thing, (list, tuple, set)):
        parts = dict(enumerate(thing))
    elif type(thing).__module__.startswith("mercer."):
        parts = thing.__getstate__() or {}
    else:
        yield f"{place}: {type(thing)}"
        return
    for name, part in parts.items():
        yield from strangers(part, f"{place}.{name}", seen)


@pytest.mark.parametrize("model", FITTED, ids=str)
@QUIET
def test_fitted_models_hold_arrays_and_plain_values_so_that_any_format_can_save_them(model):
    fitted = clone(model).fit(load_iris().data)
    fitted.transform(load_iris().data)
    assert list(strangers(fitted, type(model).__name__, {})) == []


@QUIET
def test_the_search_for_strangers_finds_a_tree():
    space = LocallyLinearEmbedding().fit(rings(60)[0])._hoods.space
    assert "cKDTree" in str(list(strangers(vars(space), "", {})))


@pytest.mark.parametrize("model", FITTED, ids=str)
@QUIET
def test_copies_of_a_fitted_model_give_the_same_scores(model, tmp_path):
    X = load_iris().data
    fitted = clone(model).fit(X)
    expected = fitted.transform(X[::3] + 0.01)
    joblib.dump(fitted, tmp_path / "model")
    for other in (copy.deepcopy(fitted), joblib.load(tmp_path / "model")):
        np.testing.assert_array_equal(other.transform(X[::3] + 0.01), expected)
