"""Arrays of other libraries: in and out of a fit, on their device. scipy has to be told before it is imported."""

import os
import subprocess
import sys

import numpy as np
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist

from mercer.compat.array_api import NUMPY, ArrayNamespace, in_numpy, is_foreign, to_numpy
from mercer.errors import DataError, MercerWarning
from mercer.estimators import GPLVM, Autoencoder, LocallyLinearEmbedding, NoveltyDetector
from mercer.estimators.kernel_pca import KernelPCA
from mercer.estimators.pca import PCA

strict = pytest.importorskip("array_api_strict")
DISPATCH = os.environ.get("SCIPY_ARRAY_API") == "1"
needs_dispatch = pytest.mark.skipif(not DISPATCH, reason="run below, in a process of its own")
RNG = np.random.default_rng(0)
X, NEW = RNG.normal(size=(60, 5)) + 3, RNG.normal(size=(7, 5))
WEIGHTS = RNG.integers(0, 4, 60).astype(float)
DEVICES = [strict.Device("CPU_DEVICE"), strict.Device("device1")]
quiet = pytest.mark.filterwarnings("ignore:X is on:mercer.errors.MercerWarning")


@pytest.mark.skipif(DISPATCH, reason="this is that process")
def test_with_dispatch():
    done = subprocess.run(
        [sys.executable, "-m", "pytest", __file__], capture_output=True, text=True, check=False,
        env=os.environ | {"SCIPY_ARRAY_API": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-1000:]


def put(array, device):
    return strict.asarray(array, device=device)


def like(array, device):
    return is_foreign(array) and array.device == device


@needs_dispatch
@quiet
@pytest.mark.parametrize("device", DEVICES, ids=str)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("params", [{}, {"standardize": True}, {"whiten": True}, {"n_components": 0.9}], ids=str)
def test_everything_follows_x(device, dtype, params):
    rows, new = X.astype(dtype), NEW.astype(dtype)
    model = PCA(**{"n_components": 2} | params)
    true = sklearn.clone(model).fit(rows, sample_weight=WEIGHTS)
    with sklearn.config_context(array_api_dispatch=True):
        model.fit(put(rows, device), sample_weight=put(WEIGHTS, device))
        found = {
            "transform": model.transform(put(new, device)),
            "denoise": model.denoise(put(new, device)),
            "score_samples": model.score_samples(put(new, device)),
            "fit_transform": sklearn.clone(model).fit_transform(put(rows, device)),
            "get_covariance": model.get_covariance(),
            "get_precision": model.get_precision(),
        }
        back = model.inverse_transform(found["transform"])
        assert model.score(put(new, device)) == pytest.approx(true.score(new))
    expected = {
        "transform": true.transform(new),
        "denoise": true.denoise(new),
        "score_samples": true.score_samples(new),
        "fit_transform": sklearn.clone(model).fit_transform(rows),
        "get_covariance": true.get_covariance(),
        "get_precision": true.get_precision(),
    }
    for name, value in found.items():
        assert like(value, device) and to_numpy(value).dtype == dtype, name
        assert_allclose(to_numpy(value), expected[name], rtol=1e-4 if dtype == np.float32 else 1e-9, atol=1e-5)
    assert like(back, device)
    for name, value in vars(true).items():
        if isinstance(value, np.ndarray):
            assert like(getattr(model, name), device), name
            assert_array_equal(to_numpy(getattr(model, name)), value, strict=True, err_msg=name)


@needs_dispatch
@quiet
@pytest.mark.parametrize("device", DEVICES, ids=str)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    "params",
    [
        {"kernel": "rbf"},
        {"kernel": "linear", "standardize": True},
        {"kernel": "rbf", "n_landmarks": 20, "preimage": "auto"},
        {"kernel": "rbf", "fit_inverse_transform": True, "eigen_solver": "krylov"},
        {"kernel": "precomputed"},
    ],
    ids=str,
)
def test_kernel_pca_follows_x(device, dtype, params):
    rows, new = X.astype(dtype), NEW.astype(dtype)
    if params["kernel"] == "precomputed":
        rows, new = rows @ rows.T, new @ rows.T
    model = KernelPCA(2, **params)
    true = sklearn.clone(model).fit(rows, sample_weight=WEIGHTS)
    scores = true.transform(new)
    expected = {"transform": scores}
    with sklearn.config_context(array_api_dispatch=True):
        model.fit(put(rows, device), sample_weight=put(WEIGHTS, device))
        found = {"transform": model.transform(put(new, device))}
        if "preimage" in params or "fit_inverse_transform" in params:
            found["inverse"], found["errors"] = model.inverse_transform(put(scores, device), return_error=True)
            expected["inverse"], expected["errors"] = true.inverse_transform(scores, return_error=True)
        if params["kernel"] != "precomputed":
            found["functions"] = model.component_functions(put(new, device))
            expected["functions"] = true.component_functions(new)
            assert model.score(put(new, device)) == pytest.approx(true.score(new))
        with pytest.raises(ValueError, match="must use the same namespace and the same device"):
            model.transform(new)
    assert like(model.eigenvalues_, device) and to_numpy(model.eigenvalues_).dtype == dtype
    for name, values in found.items():
        assert like(values, device), name
        assert_allclose(to_numpy(values), expected[name], rtol=1e-4, atol=1e-5, err_msg=name)


@needs_dispatch
@quiet
def test_new_rows_are_in_the_namespace_and_on_the_device_of_the_fit():
    cpu, other = DEVICES
    with sklearn.config_context(array_api_dispatch=True):
        model = PCA(2).fit(put(X, other))
        for rows in (NEW, put(NEW, cpu)):
            for method in (model.transform, model.denoise, model.score):
                with pytest.raises(ValueError, match="must use the same namespace and the same device"):
                    method(rows)
        plain = PCA(2).fit(X)
        with pytest.raises(ValueError, match=r"PCA\.transform"):
            plain.transform(put(NEW, cpu))
        assert_array_equal(to_numpy(model.transform(NEW.tolist())), plain.transform(NEW))


@needs_dispatch
def test_a_fit_of_another_device_says_that_it_ran_on_the_cpu():
    with sklearn.config_context(array_api_dispatch=True):
        with pytest.warns(MercerWarning, match="device1"):
            model = PCA(2).fit(put(X, DEVICES[1]))
        assert [warning.severity for warning in model.fit_warnings_] == ["note"]
        assert not PCA(2).fit(put(X, DEVICES[0])).fit_warnings_


@needs_dispatch
@quiet
def test_a_failed_fit_restores_the_model_and_other_fits_replace_it(tmp_path):
    device = DEVICES[1]
    with sklearn.config_context(array_api_dispatch=True):
        model = PCA(2).fit(put(X, device))
        before = dict(vars(model))
        with pytest.raises(DataError):
            model.fit(put(np.where(X > 5, np.nan, X), device) if (X > 5).any() else put(X * np.nan, device))
        assert vars(model) == before
        model.transform_to(put(NEW, device), tmp_path / "scores.npy")
        assert_allclose(np.load(tmp_path / "scores.npy"), PCA(2).fit(X).transform(NEW))
    twin = in_numpy(model)
    assert isinstance(twin.components_, np.ndarray) and is_foreign(model.components_) and in_numpy(twin) is twin
    assert isinstance(twin.loadings_, np.ndarray)
    assert isinstance(model.transform(NEW.tolist()), np.ndarray)  # without dispatch, results are numpy's
    assert isinstance(model.fit(X).components_, np.ndarray)


def test_without_dispatch_arrays_are_read_and_results_are_numpys():
    rows = strict.asarray(X)
    assert ArrayNamespace.of(rows) is NUMPY and is_foreign(rows) and not is_foreign(X)
    model = PCA(2).fit(rows)
    assert isinstance(model.components_, np.ndarray)
    assert_array_equal(model.transform(strict.asarray(NEW)), PCA(2).fit(X).transform(NEW))


def test_what_cannot_be_converted():
    class Gradients:
        requires_grad, dtype = True, "float32"

        def __dlpack__(self, **_):
            raise BufferError("no")

    class Odd(Gradients):
        requires_grad = False

        def __dlpack_device__(self):
            return 99, 0

    for array in (Gradients(), Odd()):
        with pytest.raises(DataError):
            to_numpy(array)
    assert to_numpy("x") == "x" and to_numpy(X) is X
    assert str(NUMPY) == "numpy" and NUMPY.asarray(X) is X and NUMPY.on_cpu


EMBEDDINGS = {
    "lle": (LocallyLinearEmbedding(n_neighbors=8), ["embedding_"]),
    "lle landmarks": (LocallyLinearEmbedding(n_neighbors=8, n_landmarks=30), ["embedding_"]),
    "lle distances": (LocallyLinearEmbedding(n_neighbors=8, metric="precomputed"), ["embedding_"]),
    "gplvm": (GPLVM(2, max_iter=3, tol=1e3), ["embedding_", "inverse_transform"]),
    "autoencoder": (Autoencoder(2, hidden_layer_sizes=3, n_init=1, max_iter=3, tol=1e3), ["inverse_transform"]),
    "novelty": (
        NoveltyDetector(PCA(2)),
        ["predict", "score_samples", "p_values", "select", "statistics", "contributions", "calibration_scores_"],
    ),
}


@needs_dispatch
@quiet
@pytest.mark.filterwarnings("ignore::mercer.errors.MercerWarning")
@pytest.mark.parametrize("device", DEVICES, ids=str)
@pytest.mark.parametrize(("model", "names"), EMBEDDINGS.values(), ids=EMBEDDINGS)
def test_embeddings_and_detectors_follow_x(device, model, names):
    rows, new = (cdist(X, X), cdist(NEW, X)) if getattr(model, "metric", "") == "precomputed" else (X, NEW)
    true, found = sklearn.clone(model).fit(rows), sklearn.clone(model)
    with sklearn.config_context(array_api_dispatch=True):
        found.fit(put(rows, device))
        for name in [*names, *(["transform"] if hasattr(model, "transform") else [])]:
            ours, theirs = getattr(found, name), getattr(true, name)
            if callable(ours):
                samples = true.transform(new) if name == "inverse_transform" else new
                ours, theirs = ours(put(samples, device)), theirs(samples)
            assert like(ours, device), name
            assert_allclose(to_numpy(ours), theirs, rtol=1e-12, atol=1e-12)
