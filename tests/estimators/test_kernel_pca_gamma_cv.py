"""`KernelPCA(gamma="cv")`: the gamma that reconstructs held-out rows best, in all kinds of fits."""

import tracemalloc

import numpy as np
import pytest
from scipy import sparse
from sklearn import datasets
from sklearn.base import clone

from mercer.analysis.tuning import tune
from mercer.errors import DataError, MemoryLimitError, MercerWarning
from mercer.estimators import KernelPCA
from mercer.estimators.plan_ahead import plan
from mercer.kernels.distance import RBF, Matern
from mercer.kernels.dot import Linear

quiet = pytest.mark.filterwarnings("ignore::mercer.errors.MercerWarning", "ignore::mercer_old.errors.MercerWarning")


def knot(n=200, noise=0.05, seed=0):
    """A closed curve that winds three times."""
    rng = np.random.default_rng(seed)
    angle = rng.uniform(0, 2 * np.pi, n)
    curve = np.column_stack([np.cos(3 * angle), np.sin(3 * angle), 0.6 * np.cos(angle), 0.6 * np.sin(angle)])
    return curve + noise * rng.standard_normal((n, 4))


def test_a_fit_has_the_gamma_that_tune_finds():
    X = knot()
    result = tune(X, kernels=(RBF(),), n_components=2)
    model = KernelPCA(2, kernel="rbf", gamma="cv").fit(X)
    assert model.gamma_ == result.gamma
    assert model.kernel_ == RBF(model.gamma_)
    assert model.gamma == "cv" and clone(model).gamma == "cv"
    fixed = KernelPCA(2, kernel="rbf", gamma=model.gamma_).fit(X)
    assert np.allclose(fixed.eigenvalues_, model.eigenvalues_, rtol=1e-12)


@quiet
@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "poly", "sigmoid"])
@pytest.mark.parametrize("name", ["iris", "wine", "breast_cancer", "digits"])
def test_gamma_is_that_of_the_first_edition(name, kernel):
    from mercer_old.models.kernel_pca import KernelPCA as FirstEdition

    X = getattr(datasets, f"load_{name}")().data[:: 5 if name == "digits" else 3]  # 360 digits: by block Lanczos
    models = [cls(3, kernel=kernel, gamma="cv", degree=2, standardize=True) for cls in (FirstEdition, KernelPCA)]
    expected, found = (model.fit(X).gamma_ for model in models)
    assert found == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(
    "params",
    [{}, {"n_landmarks": 40}, {"standardize": True}, {"fit_inverse_transform": True}, {"eigen_solver": "krylov"}],
    ids=repr,
)
def test_gamma_serves_every_kind_of_fit(params):
    X = knot(120)
    model = KernelPCA(2, kernel="rbf", gamma="cv", **params).fit(X)
    again = KernelPCA(2, kernel="rbf", gamma=model.gamma_, **params).fit(X)
    near = 0.05 if "n_landmarks" in params else 1e-8  # the search takes random numbers, so landmarks are others
    assert np.abs(model.transform(X)) == pytest.approx(np.abs(again.transform(X)), abs=near)
    assert model.gamma_ > 2 * KernelPCA(2, kernel="rbf", gamma="median", **params).fit(X).gamma_


@quiet
def test_kernels_without_gamma_and_kernel_objects_are_as_they_were():
    X = knot(80)
    assert KernelPCA(2, kernel="linear", gamma="cv").fit(X).kernel_ == Linear()
    for kernel in (Matern(), RBF(0.3)):
        assert KernelPCA(2, kernel=kernel, gamma="cv").fit(X).kernel_ == kernel


def test_the_seed_decides():
    X = np.vstack([knot(1050, seed=seed) for seed in (0, 1)])
    same = [KernelPCA(2, kernel="rbf", gamma="cv", n_landmarks=50, random_state=3).fit(X) for _ in range(2)]
    assert same[0].gamma_ == same[1].gamma_
    assert (same[0].eigenvalues_ == same[1].eigenvalues_).all()
    other = KernelPCA(2, kernel="rbf", gamma="cv", n_landmarks=50, random_state=4).fit(X)
    assert other.gamma_ != same[0].gamma_  # another sample has another median distance


@quiet
def test_rows_of_weight_zero_do_not_count():
    X, far = knot(100), 50 * np.random.default_rng(1).standard_normal((20, 4))
    weights = np.repeat([1.0, 0.0], [100, 20])
    expected = KernelPCA(2, kernel="rbf", gamma="cv").fit(X).gamma_
    for params in ({}, {"n_landmarks": 40}):
        model = KernelPCA(2, kernel="rbf", gamma="cv", **params).fit(np.vstack([X, far]), sample_weight=weights)
        assert model.gamma_ == pytest.approx(expected)


def test_sparse_float32_and_file_have_the_gamma_of_the_array(tmp_path):
    X = knot(100).astype(np.float32)
    expected = KernelPCA(2, kernel="rbf", gamma="cv").fit(X.astype(np.float64)).gamma_
    np.save(tmp_path / "rows.npy", X)
    for same in (X, sparse.csr_array(X), tmp_path / "rows.npy"):
        assert KernelPCA(2, kernel="rbf", gamma="cv").fit(same).gamma_ == pytest.approx(expected, rel=1e-6)


def test_batches_have_the_gamma_of_the_first():
    X = knot(300)
    model = KernelPCA(2, kernel="rbf", gamma="cv").partial_fit(X[:200])
    gamma = model.gamma_
    assert gamma == KernelPCA(2, kernel="rbf", gamma="cv").fit(X[:200]).gamma_
    assert model.partial_fit(X[200:]).gamma_ == gamma


def test_the_search_stays_within_the_memory_limit():
    """The peak of the search is below what the size of the sample is computed for."""
    X = knot(1000)
    model = KernelPCA(2, kernel="rbf", gamma="cv", memory_limit="16MB", n_landmarks=20)
    model.fit(X[:120])  # imports
    tracemalloc.start()
    model.fit(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak <= 16e6
    with pytest.raises(MemoryLimitError, match=r"Try gamma='median'\."):
        KernelPCA(2, kernel="rbf", gamma="cv", memory_limit=100_000).fit(X)


def test_progress_names_the_search():
    seen = []
    KernelPCA(2, kernel="rbf", gamma="cv", progress=seen.append).fit(knot(60))
    assert [state.text for state in seen].count("comparing kernels") == 15


def test_a_plan_does_not_search():
    X = knot(60)
    assert KernelPCA(2, kernel="rbf", gamma="cv").plan(X[:3]).route == KernelPCA(2, kernel="rbf").plan(X[:3]).route
    assert plan(1000, 4, 2, gamma="cv").memory > 0


def test_few_different_rows_are_an_error_and_the_limits_of_the_choice_a_stored_warning():
    few = np.repeat(knot(3), 4, axis=0)
    with pytest.raises(DataError, match=r"5 different rows, and X has 3\. Try gamma='median'\."):
        KernelPCA(1, kernel="rbf", gamma="cv").fit(few)
    with pytest.raises(DataError, match=r"and X has 1\.$"):  # of which there is no median distance
        KernelPCA(1, kernel="rbf", gamma="cv").fit(np.ones((9, 2)))
    noise = np.random.default_rng(0).standard_normal((80, 5))
    with pytest.warns(MercerWarning, match="is the smallest that was compared"):
        model = KernelPCA(4, kernel="rbf", gamma="cv").fit(noise)
    assert any("smallest that was compared" in str(each) for each in model.fit_warnings_)
