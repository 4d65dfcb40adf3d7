"""Arrays of other libraries, as scikit-learn takes them: run by test_other_arrays.py, where scipy is told to look for
them before it is imported."""

import pickle
import warnings
from contextlib import contextmanager

import array_api_strict as strict
import numpy as np
import pytest
import sklearn
from numpy.testing import assert_allclose

import mercer
from mercer import KernelPCA
from mercer.kernels import RBF, Constant, Matern, RationalQuadratic
from mercer_old.arrays import Home, is_foreign, to_numpy
from mercer_old.errors import MercerWarning
from mercer_old.kernel_names import OF_ROWS

rng = np.random.default_rng(0)
X, NEW = np.abs(rng.normal(size=(600, 5))), np.abs(rng.normal(size=(20, 5)))  # of counts, for kernels that take those
FAR = strict.Device("device1")
slow = pytest.mark.slow


def by_strict(array):
    return strict.asarray(array)


def by_device(array):
    """Which numpy may not look at, as if it were a graphics card."""
    return strict.asarray(array, device=FAR)


def by_torch(array):
    return pytest.importorskip("torch").asarray(array)


every_library = pytest.mark.parametrize("give", [by_strict, by_device, by_torch])


@contextmanager
def dispatch(on=True):
    with sklearn.config_context(array_api_dispatch=on), warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "Computed by numpy in main memory", MercerWarning)
        warnings.filterwarnings("ignore", "The kernel matrix is not positive", MercerWarning)
        yield


def is_like(array, X):
    """Of the same library, on the same device."""
    return type(array) is type(X) and array.device == X.device


KERNELS = [*OF_ROWS, "precomputed", RBF(0.2) + Constant(1), Matern(), RationalQuadratic()]


@every_library
@pytest.mark.parametrize(
    ("kernel", "dtype"),
    [
        *((kernel, np.float64) for kernel in KERNELS),
        ("rbf", np.float32),
        *(pytest.param(kernel, np.float32, marks=slow) for kernel in KERNELS if kernel != "rbf"),
    ],
)
def test_everything_follows_x(kernel, dtype, give):
    rows, new = X.astype(dtype), NEW.astype(dtype)
    if kernel == "precomputed":
        rows, new = rows @ rows.T, new @ rows.T
    model = KernelPCA(3, kernel=kernel, gamma=0.02 if kernel == "sigmoid" else None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        true = sklearn.clone(model).fit(rows)
    with dispatch():
        given = give(rows)
        scores = sklearn.clone(model).fit_transform(given)
        model.fit(given)
        others = model.transform(give(new))
        assert is_like(scores, given) and is_like(others, given)
        assert scores.dtype == others.dtype == given.dtype
        functions = model.component_functions(give(new))
        assert is_like(functions, given) and functions.dtype == given.dtype
    for name, value in vars(true).items():
        if isinstance(value, np.ndarray):
            found = getattr(model, name)
            assert is_like(found, given), name
            assert to_numpy(found).dtype == value.dtype, name
    assert is_as_proven(model, true)
    exact = {"rtol": 1e-6, "atol": (2e-6 if dtype == np.float32 else 1e-8) * np.abs(true.transform(rows)).max()}
    assert_allclose(to_numpy(others), true.transform(new), **exact)
    assert_allclose(to_numpy(scores), true.transform(rows), **exact)


def is_as_proven(model, true):
    """Whether the same eigenvalues can lie where both certificates say, each of which is right by itself."""
    one, other = model.certificate_, true.certificate_
    return np.all((one.lower <= other.upper) & (other.lower <= one.upper)) and one.certified == other.certified


@every_library
@pytest.mark.parametrize("preimage", [None, "auto"])
@pytest.mark.parametrize("kernel", ["rbf", "linear", "cosine"])
def test_the_way_back_follows_its_scores(kernel, preimage, give):
    model = KernelPCA(3, kernel=kernel, fit_inverse_transform=True, preimage=preimage)
    true = sklearn.clone(model).fit(X)
    scores = true.transform(NEW)
    with dispatch():
        model.fit(give(X))
        rows, errors = model.inverse_transform(give(scores), return_error=True)
        assert is_like(rows, give(X)) and is_like(errors, give(X))
        cleaned = model.denoise(give(NEW))
        assert is_like(cleaned, give(X))
        assert model.score(give(NEW)) == pytest.approx(true.score(NEW))
        again = model.inverse_transform(give(scores))  # by ways back that were kept
    expected, distances = true.inverse_transform(scores, return_error=True)
    assert_allclose(to_numpy(rows), expected, atol=1e-6)
    assert_allclose(to_numpy(again), expected, atol=1e-6)
    assert_allclose(to_numpy(errors), distances, atol=1e-6)
    assert_allclose(to_numpy(cleaned), true.denoise(NEW), atol=1e-6)


WAYS = [
    {"n_landmarks": 40},
    {"landmarks": range(40)},
    {"n_landmarks": 40, "refine": 1},
    {"n_landmarks": 40, "fit_inverse_transform": True, "standardize": True},
    {"standardize": True},
    {"n_components": 0.5},
    {"n_components": None, "gamma": 1e-3},
    {"eigen_solver": "dense"},
    {"gamma": "median", "memory_limit": "30MB", "eigen_solver": "krylov"},
]
WEIGHTS = np.arange(600) % 3


@every_library
@pytest.mark.parametrize(
    ("params", "weights"),
    [
        *((params, None) for params in WAYS),
        *((params, WEIGHTS) for params in (WAYS[0], WAYS[4])),
        *(pytest.param(params, WEIGHTS, marks=slow) for params in WAYS if params not in (WAYS[0], WAYS[4])),
    ],
    ids=str,
)
def test_every_way_follows_x(params, weights, give):
    model = KernelPCA(**{"n_components": 3, "kernel": "rbf"} | params)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        true = sklearn.clone(model).fit(X, sample_weight=weights)
        with sklearn.config_context(array_api_dispatch=True):
            scores = model.fit_transform(give(X), sample_weight=None if weights is None else give(weights))
            new = model.transform(give(NEW))
    assert is_like(scores, give(X)) and is_like(new, give(X))
    assert model.plan_.place
    for name, value in vars(true).items():
        if isinstance(value, np.ndarray) and not name.startswith("_"):
            assert is_like(getattr(model, name), give(X)), name
    k = scores.shape[1] if model.n_components else 20  # of all components, the last are rounding
    assert_allclose(to_numpy(new)[:, :k], true.transform(NEW)[:, :k], atol=1e-6)
    assert_allclose(to_numpy(scores)[:, :k], true.transform(X)[:, :k], atol=1e-6)


@every_library
def test_batches_follow_the_first(give):
    with dispatch():
        model = KernelPCA(2, kernel="rbf", n_landmarks=30)
        for batch in (X[:200], X[200:400], X[400:]):
            model.partial_fit(give(batch))
            assert is_like(model.landmarks_, give(X)) and is_like(model.eigenvalues_, give(X))
        model.compress(20)
        assert is_like(model.landmarks_, give(X)) and model.landmarks_.shape == (20, 5)
        with pytest.raises(ValueError, match=r"KernelPCA.partial_fit\(\) must use the same namespace"):
            model.partial_fit(X)


# ---------------------------------------------------------------------- where it is computed


def fitted(give, **params):
    with sklearn.config_context(array_api_dispatch=True), warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        model = KernelPCA(**{"n_components": 3, "kernel": "rbf"} | params)
        ahead = model.plan(give(X))
        model.fit(give(X))
    assert (ahead.place, ahead.there, ahead.memory) == (model.plan_.place, model.plan_.there, model.plan_.memory)
    assert str(model.plan_).endswith(model.plan_.place)
    return model.plan_, [str(one.message) for one in said]


def test_arrays_in_main_memory_are_read_where_they_are():
    plan, said = fitted(by_strict)
    assert plan.place.startswith("Computed by numpy, as arrays of array_api_strict on ") and not said
    assert not KernelPCA(3, kernel="rbf").fit(X).plan_.place


@pytest.mark.parametrize("params", [{}, {"kernel": "laplacian"}, {"kernel": "sigmoid", "gamma": 0.02}], ids=str)
def test_a_device_multiplies_the_kernel_matrix(params):
    plan, said = fitted(by_device, **params)
    assert plan.there and plan.place.startswith("Products with the kernel matrix are computed by array_api_strict on ")
    assert not any("moved" in one for one in said)
    assert plan.memory > KernelPCA(3, kernel="rbf").plan(X).memory  # strips there, and the rows


@pytest.mark.parametrize(
    ("params", "why"),
    [
        ({"kernel": "linear"}, "exact features"),
        ({"kernel": "chi2"}, r"ChiSquared\(gamma=1.0\) is not evaluated by other libraries"),
        ({"eigen_solver": "dense"}, "LAPACK takes the whole matrix"),
        ({"n_landmarks": 30}, "landmarks are drawn"),
        ({"memory_limit": 20_000_000}, "over the limit of 20 MB"),
    ],
    ids=str,
)
def test_what_a_device_cannot_help_with_is_said_once(params, why):
    plan, said = fitted(by_device, **params)
    assert not plan.there
    assert plan.place.startswith("Computed by numpy in main memory, to which the rows were moved from array_api_strict")
    assert [one for one in said if "moved" in one] == [plan.place]
    with pytest.raises(AssertionError, match=why):
        raise AssertionError(plan.place)


def test_a_device_without_double_precision_gets_single(monkeypatch):
    monkeypatch.setattr(Home, "has_double", False)
    plan, said = fitted(by_device)
    assert "device1') has no float64." in plan.place and said == [plan.place]
    with dispatch():
        model = KernelPCA(3, kernel="rbf").fit(by_device(X))
        assert model.eigenvalues_.dtype == model.transform(by_device(NEW)).dtype == strict.float32
    assert_allclose(to_numpy(model.eigenvalues_), KernelPCA(3, kernel="rbf").fit(X).eigenvalues_, rtol=1e-6)


@pytest.mark.parametrize("held", ["gram", "recomputed"])
@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "sigmoid"])
def test_torch_multiplies_as_a_device_does(kernel, held, monkeypatch):
    """It has another BLAS, and its own exponentials."""
    from mercer_old.plans import kernel as plans

    if held == "recomputed":
        monkeypatch.setattr("mercer_old.models.kernel_model.choose_plan", plans._recomputed)
    params = {"kernel": kernel, "gamma": 0.02}
    with dispatch(False):
        true = KernelPCA(3, **params).fit(X)
    monkeypatch.setattr(Home, "elsewhere", property(lambda home: home.foreign))
    with dispatch():
        model = KernelPCA(3, **params).fit(by_torch(X))
        scores = model.transform(by_torch(NEW))
    assert model.plan_.there and model.plan_.held == held
    assert is_as_proven(model, true)
    assert_allclose(to_numpy(scores), true.transform(NEW), atol=1e-4 if held == "recomputed" else 1e-7)


# ---------------------------------------------------------------------- what else is done with a fitted model


USED = [{}, {"kernel": "linear"}, {"n_landmarks": 60}, {"standardize": True}]


@pytest.mark.parametrize(
    ("params", "on"),
    [
        *((params, True) for params in USED),
        ({}, False),
        *(pytest.param(params, False, marks=slow) for params in USED if params),
    ],
    ids=str,
)
def test_a_model_on_a_device_can_be_used_as_any(params, on, tmp_path):
    few = X[:120]  # a page and what is suggested take most of the time, and more of it with every row
    model = KernelPCA(**{"n_components": 3, "kernel": "rbf"} | params)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        true = sklearn.clone(model).fit(few)
        with sklearn.config_context(array_api_dispatch=True):
            model.fit(by_device(few))
        with sklearn.config_context(array_api_dispatch=on):

            def own(m, rows):
                """Rows as the model takes them."""
                return by_device(rows) if on and m is model else rows

            uses = {
                "save": lambda m: mercer.load(m.save(tmp_path / "model.mercer")).transform(NEW),
                "similar": lambda m: m.similar(own(m, NEW), 3).distances,
                "influence": lambda m: mercer.influence(m, own(m, X[:50])).values,
                "clusters": lambda m: mercer.clusters(m, 2, X=own(m, X[:99])).labels,
                "contributions": lambda m: mercer.contributions(m, own(m, X[:9])).rows,
                "suggest": lambda m: [str(mercer.suggest(m, own(m, few)))],
                "convert": lambda m: [str(mercer.convert(m, tmp_path / "m", to="csv"))],
                "onnx": lambda m: [str(mercer.convert(m, tmp_path / "m.onnx"))],
                "scree": lambda m: m.plot(kind="scree").shares,
                "report": lambda m: m.report(own(m, few)).count("namespace"),
            }
            if not params:
                uses["preimage"] = lambda m: m.plot(kind="preimage").rows
                uses["to files"] = lambda m: np.load(m.transform_to(own(m, NEW), tmp_path / "scores.npy"))
                uses["back to files"] = lambda m: np.load(m.denoise_to(own(m, NEW), tmp_path / "rows.npy"))
                uses["from files"] = lambda m: to_numpy(m.transform(tmp_path / "rows.npy"))
                uses["to_sklearn"] = lambda m: m.to_sklearn().transform(NEW)
                uses["plot"] = lambda m: m.plot(kind="scores").scores
            for name, use in uses.items():
                try:
                    found, expected = use(model), use(true)
                except AttributeError as error:
                    raise AssertionError(name) from error
                if not isinstance(expected, (list, bool)):
                    assert_allclose(found, expected, atol=1e-6, err_msg=name)
        again = pickle.loads(pickle.dumps(model))  # noqa: S301 - our own
        with sklearn.config_context(array_api_dispatch=True):
            assert_allclose(to_numpy(again.transform(by_device(NEW))), true.transform(NEW), atol=1e-6)


# ---------------------------------------------------------------------- what does not fit together


@every_library
@pytest.mark.parametrize("method", ["transform", "inverse_transform", "denoise", "component_functions", "score"])
def test_libraries_and_devices_are_not_mixed(method, give):
    model = KernelPCA(5, kernel="rbf", preimage="auto")
    here, there = sklearn.clone(model).fit(X), model
    with dispatch():
        there.fit(give(X))
        match = rf"KernelPCA.{method}\(\) must use the same namespace and the same device"
        for fit, new in ((here, give(NEW)), (there, NEW), (there, NEW.tolist())):
            with pytest.raises(ValueError, match=match):
                getattr(fit, method)(new)
        other = by_device if give is by_strict else by_strict
        with pytest.raises(ValueError, match=match):
            getattr(there, method)(other(NEW))


@every_library
def test_without_dispatch_all_arrays_are_those_of_numpy(give):
    with dispatch(False):
        model = KernelPCA(3, kernel="rbf").fit(give(X))
        scores = model.transform(give(NEW))
    assert isinstance(scores, np.ndarray) and not any(is_foreign(value) for value in vars(model).values())
    assert not model.plan_.place
    assert np.array_equal(scores, KernelPCA(3, kernel="rbf").fit(X).transform(NEW))


@pytest.mark.parametrize("on", [True, False])
def test_tensors_that_are_no_rows_are_refused_in_a_sentence(on):
    torch = pytest.importorskip("torch")
    model, rows = KernelPCA(2, kernel="rbf"), torch.asarray(X)
    with dispatch(on):
        for bad, words in [
            (rows.clone().requires_grad_(), r"requires gradients.*array.detach\(\)"),
            (rows.to(torch.complex128), "Complex data not supported"),
            (rows.to(torch.bfloat16), "bfloat16.*float32 or float64"),
            (rows[0], "Expected 2D array, got 1D array"),
            (torch.full((5, 2), torch.nan, dtype=torch.float64), "NaN"),
            (torch.empty((0, 3)), "0 sample"),
        ]:
            with pytest.raises(ValueError, match=words):
                model.fit(bad)
        assert not hasattr(model, "eigenvalues_")
        counts = model.fit_transform(torch.round(2 * rows).to(torch.int64))
        assert counts.dtype == (torch.float64 if on else np.float64)
