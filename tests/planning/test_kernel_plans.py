"""Which route kernel PCA takes: sizes, costs of the kernel and the memory limit decide."""

import numpy as np
import pytest
from scipy import sparse

from mercer.errors import MemoryLimitError, ParameterError
from mercer.estimators import KernelPCA
from mercer.estimators.plan_ahead import plan

rng = np.random.default_rng(0)
FEW, SOME, MANY = (rng.normal(size=(n, 5)) for n in (300, 1500, 4000))
WIDE = rng.normal(size=(600, 2000))


def route(X, **params):
    found = KernelPCA(**{"n_components": 3, "kernel": "rbf"} | params).plan(X)
    return found.route, found.solver.description.partition(" ")[0]


@pytest.mark.parametrize(
    ("X", "params", "expected"),
    [
        (FEW, dict(), ("stored", "LAPACK")),
        (FEW, dict(eigen_solver="krylov"), ("matrix-free", "block")),
        (FEW, dict(kernel="linear"), ("features", "LAPACK")),
        (FEW, dict(kernel="linear", n_components=None), ("features", "LAPACK")),
        (SOME, dict(), ("stored", "block")),
        (SOME, dict(eigen_solver="dense"), ("stored", "LAPACK")),
        (SOME, dict(n_components=200), ("stored", "LAPACK")),
        (SOME, dict(n_components=None), ("stored", "LAPACK")),
        (MANY, dict(), ("matrix-free", "block")),
        (MANY, dict(kernel="laplacian", gamma=0.1), ("stored", "block")),
        (MANY, dict(kernel="poly", degree=2), ("features", "LAPACK")),
        (WIDE, dict(kernel="linear"), ("features", "block")),
        (sparse.csr_array(MANY), dict(), ("stored", "block")),
        (sparse.csr_array(MANY), dict(kernel="linear"), ("features", "LAPACK")),
        (FEW @ FEW.T, dict(kernel="precomputed"), ("precomputed", "LAPACK")),
        (SOME @ SOME.T, dict(kernel="precomputed"), ("precomputed", "block")),
    ],
)
def test_the_first_option_that_applies(X, params, expected):
    assert route(X, **params) == expected


@pytest.mark.filterwarnings("ignore::mercer.errors.MercerWarning")
def test_a_fit_does_what_its_plan_says():
    for X, params in ((FEW, {}), (SOME, {}), (MANY[:2100], {}), (SOME, dict(kernel="linear"))):
        model = KernelPCA(3, **{"kernel": "rbf"} | params)
        assert model.plan(X) == model.fit(X).plan_


def test_a_small_limit_leads_to_a_route_that_stores_less():
    params = dict(n_components=3, kernel="laplacian")
    assert KernelPCA(**params, memory_limit="1GB").plan(MANY).route == "stored"
    tight = KernelPCA(**params, memory_limit="100MB", max_iter=50).plan(MANY)
    assert tight.route == "matrix-free" and tight.memory < 100e6


def test_what_does_not_fit_is_an_error_before_the_work():
    with pytest.raises(MemoryLimitError, match="memory_limit=") as caught:
        KernelPCA(kernel="rbf", memory_limit="20MB").fit(SOME)
    assert caught.value.needed > caught.value.limit == 20_000_000
    with pytest.raises(MemoryLimitError, match=r"needs more than [1248]0 components"):
        KernelPCA(0.99, kernel="rbf", gamma=2.0, memory_limit="60MB").fit(MANY[:2500])


def test_landmarks_are_planned_if_they_are_requested_or_nothing_else_is_possible():
    assert KernelPCA(3, kernel="rbf", n_landmarks=200).plan(MANY).n_landmarks == 200
    assert KernelPCA(3, kernel="rbf", refine=1, n_landmarks=50).plan(MANY).solver.max_passes == 1
    ahead = plan(10**7, 10, 5, n_jobs=2)
    assert ahead.route == "landmarks" and ahead.warning is not None and ahead.approximate
    assert plan(10**7, 10, 5, tol=1e-6, memory_limit="100GB").route == "matrix-free"  # explicitly accurate
    assert plan(10**7, 10, 5, kernel="sigmoid", memory_limit="100GB").route == "matrix-free"  # not a Mercer kernel


def test_plans_of_data_that_do_not_exist_are_those_of_data():
    for n, params in ((300, {}), (1500, {}), (4000, {}), (4000, dict(kernel="linear"))):
        real = KernelPCA(3, **{"kernel": "rbf", "copy_X": False} | params).plan(rng.normal(size=(n, 5)))
        assert plan(n, 5, 3, copy_X=False, **params) == real
    assert plan(10**6, 30, 10, method="pca").route in ("scatter", "products")
    with pytest.raises(ParameterError, match="n_rows"):
        plan(0, 3)
    with pytest.raises(ParameterError, match="method"):
        plan(10, 3, method="lle2")
