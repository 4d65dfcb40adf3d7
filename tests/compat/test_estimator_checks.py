"""scikit-learn as examiner: its estimator checks, and those it does not run by itself (its files: test_swapped.py)."""

import inspect
import os
import re
import subprocess
import sys

import pytest
from sklearn.base import clone
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer import (
    GPLVM,
    PCA,
    Autoencoder,
    FactorAnalysis,
    IncrementalPCA,
    KernelPCA,
    LocallyLinearEmbedding,
    NoveltyDetector,
    ProbabilisticPCA,
)
from mercer.kernels import RBF, Linear
from support.editions import new_class, new_classes

ESTIMATORS = [
    KernelPCA(2),
    KernelPCA(2, kernel="rbf", eigen_solver="krylov"),
    KernelPCA(2, kernel="rbf", eigen_solver="landmark"),
    PCA(2),
    PCA(1, svd_solver="krylov"),
    IncrementalPCA(1),
    ProbabilisticPCA(1),
    ProbabilisticPCA(),
    LocallyLinearEmbedding(),
    NoveltyDetector(),
    NoveltyDetector(PCA(1), statistic="t2q"),
    FactorAnalysis(1),
    GPLVM(1, max_iter=10, polish=2),
    Autoencoder(1, hidden=(3,), n_init=1, max_iter=20),
]
MORE = [
    KernelPCA(2, kernel=RBF() + Linear()),
    KernelPCA(2, kernel="rbf", refine=1),
    KernelPCA(2, kernel="rbf", eigen_solver="dense"),
    KernelPCA(0.5, kernel="poly"),
    KernelPCA(kernel="cosine"),
    KernelPCA(2, kernel="rbf", standardize=True),
    PCA(0.5, whiten=True),
    PCA(2, standardize=True),
    *(PCA(1, svd_solver=name) for name in ("full", "covariance_eigh", "randomized", "qr", "gram")),
    IncrementalPCA(1, forget=0.9, whiten=True),
    IncrementalPCA(1, sketch_size=4),
    LocallyLinearEmbedding(metric="precomputed", n_components=1),
    LocallyLinearEmbedding(method="modified", standardize=True),
    LocallyLinearEmbedding(method="hessian", n_neighbors=6),
    LocallyLinearEmbedding(method="ltsa", metric="cosine", n_components=1),
    LocallyLinearEmbedding(metric=RBF(), n_neighbors=4),
    LocallyLinearEmbedding(on_disconnected="separate", n_components=1),
    LocallyLinearEmbedding(eigen_solver="dense", neighbors_algorithm="brute"),
    NoveltyDetector(KernelPCA(1, kernel="rbf"), statistic="t2", trim=0.1),
    NoveltyDetector(KernelPCA(1, kernel="rbf"), statistic="lecture"),
]
QUIET = pytest.mark.filterwarnings("ignore::mercer_old.errors.MercerWarning", "ignore::UserWarning")


def expected_failures(estimator):
    """Checks that an estimator does not pass, and why not."""
    if getattr(estimator, "sketch_size", None) is None:
        return {}
    reason = "a sketch of rows with weights approximates as well as one of repeated rows, but is another"
    return dict.fromkeys([f"check_sample_weight_equivalence_on_{kind}_data" for kind in ("dense", "sparse")], reason)


@parametrize_with_checks(ESTIMATORS)
@QUIET
def test_estimator_checks(estimator, check):
    if isinstance(estimator, KernelPCA) and "array_api" in str(check):  # which asks for the way back, if there is one
        estimator.set_params(preimage="auto")
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(MORE, expected_failed_checks=expected_failures)
@QUIET
def test_more_estimator_checks(estimator, check):
    check(estimator)


# The second edition: what is fitted, and with which parameters, as far as it is written.
NEW_PARAMETERS = {
    "PCA": [
        dict(n_components=2),
        dict(n_components=1, svd_solver="krylov"),
        dict(n_components=0.5, whiten=True),
        dict(n_components=2, standardize=True),
        *(dict(n_components=1, svd_solver=name) for name in ("full", "covariance_eigh", "randomized", "qr", "gram")),
    ],
    "IncrementalPCA": [
        dict(n_components=1),
        dict(n_components=1, forgetting_factor=0.9, whiten=True),
        dict(n_components=1, sketch_size=4),
    ],
    "ProbabilisticPCA": [dict(n_components=1), dict()],
    "FactorAnalysis": [dict(n_components=1)],
    "LocallyLinearEmbedding": [
        dict(),
        dict(metric="precomputed", n_components=1),
        dict(method="modified", standardize=True),
        dict(method="hessian", n_neighbors=6),
        dict(method="ltsa", metric="cosine", n_components=1),
        dict(eigen_solver="dense", neighbors_algorithm="brute"),
        dict(n_neighbors="auto", n_components=1),
        dict(n_landmarks=15, n_components=1),
    ],
    "KernelPCA": [
        dict(n_components=2),
        dict(kernel="cosine"),
        dict(n_components=2, kernel="rbf"),
        dict(n_components=2, kernel="rbf", eigen_solver="krylov"),
        dict(n_components=2, kernel="rbf", standardize=True),
        dict(n_components=0.5, kernel="poly"),
    ],
    "GPLVM": [dict(n_components=1, max_iter=10, polish=2)],
    "Autoencoder": [dict(n_components=1, hidden_layer_sizes=(3,), n_init=1, max_iter=20)],
    "NoveltyDetector": [
        dict(),
        dict(estimator=new_class("PCA")(1), statistic="t2q"),
        dict(estimator=new_class("KernelPCA")(1, kernel="rbf"), statistic="t2", max_contamination=0.1),
        dict(estimator=new_class("KernelPCA")(1, kernel="rbf"), statistic="projection"),
    ],
}

NEW_ESTIMATORS = [new_class(name)(**params) for name in new_classes(*NEW_PARAMETERS) for params in NEW_PARAMETERS[name]]


@parametrize_with_checks(NEW_ESTIMATORS, expected_failed_checks=expected_failures)
@QUIET
def test_checks_of_the_second_edition(estimator, check):
    if estimator.__class__.__name__ == "KernelPCA" and "array_api" in str(check):  # which calls inverse_transform
        estimator.set_params(preimage="auto")
    check(estimator)


BY_HAND = [
    "check_set_output_transform",
    "check_set_output_transform_pandas",
    "check_set_output_transform_polars",
    "check_global_output_transform_pandas",
    "check_global_set_output_transform_polars",
    "check_transformer_get_feature_names_out",
    "check_transformer_get_feature_names_out_pandas",
    "check_get_feature_names_out_error",
    "check_dataframe_column_names_consistency",
    "check_param_validation",
    "check_inplace_ensure_writeable",
]


@pytest.mark.parametrize("name", BY_HAND)
@pytest.mark.parametrize(
    "model",
    [
        KernelPCA(2, kernel="rbf"),
        PCA(2),
        IncrementalPCA(2),
        ProbabilisticPCA(2),
        LocallyLinearEmbedding(),
        FactorAnalysis(1),
        GPLVM(1, max_iter=10),
        Autoencoder(1, hidden=(3,), n_init=1, max_iter=20),
    ],
    ids=lambda m: type(m).__name__,
)
@QUIET
def test_checks_that_are_not_in_the_generator(name, model):
    getattr(estimator_checks, name)(type(model).__name__, clone(model))


# `transform` finds the columns of a frame by name, in any order, where scikit-learn raises.
@pytest.mark.parametrize("name", [name for name in BY_HAND if name != "check_dataframe_column_names_consistency"])
@pytest.mark.parametrize("estimator", new_classes(*NEW_PARAMETERS))
@QUIET
def test_more_checks_of_the_second_edition(name, estimator):
    if ("transform" in name or "names_out" in name) and not hasattr(new_class(estimator), "transform"):
        pytest.skip("It has no transform.")
    getattr(estimator_checks, name)(estimator, new_class(estimator)(**NEW_PARAMETERS[estimator][0]))


@pytest.mark.parametrize("name", [name for name in BY_HAND if "transform" not in name and "names_out" not in name])
@QUIET
def test_the_same_of_a_detector(name):
    getattr(estimator_checks, name)("NoveltyDetector", NoveltyDetector())


def test_array_api_checks_pass():
    """Those checks that are skipped unless scipy was told, before it was imported, to look for other arrays."""
    pytest.importorskip("array_api_strict")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-o", "addopts=", __file__, "-k",
         "array_api and not LocallyLinear and not test_more and not checks_pass"],
        capture_output=True, text=True, env=os.environ | {"SCIPY_ARRAY_API": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:]
    assert int(re.search(r"(\d+) passed", done.stdout).group(1)) >= 15


@pytest.mark.parametrize("ours", [KernelPCA, PCA, IncrementalPCA, LocallyLinearEmbedding])
def test_every_parameter_of_scikit_learn_is_there_with_its_default(ours):
    from sklearn import decomposition, manifold

    theirs = getattr(decomposition, ours.__name__, None) or getattr(manifold, ours.__name__)
    ours, theirs = (inspect.signature(c.__init__).parameters for c in (ours, theirs))
    assert {name: p.default for name, p in theirs.items()}.items() <= {
        name: p.default for name, p in ours.items()
    }.items()


# Defaults that differ from scikit-learn's: a maximum is found to more digits, and nothing is random.
OTHER_DEFAULTS = {"FactorAnalysis": {"tol", "random_state"}}


@pytest.mark.parametrize("name", new_classes("PCA", "IncrementalPCA", "FactorAnalysis", "LocallyLinearEmbedding"))
def test_every_parameter_of_scikit_learn_is_in_the_second_edition(name):
    from sklearn import decomposition, manifold

    sklearn_class = getattr(decomposition, name, None) or getattr(manifold, name)
    ours, theirs = (inspect.signature(each.__init__).parameters for each in (new_class(name), sklearn_class))
    assert {parameter: ours[parameter].kind for parameter in theirs} == {p.name: p.kind for p in theirs.values()}
    other = {parameter for parameter in theirs if ours[parameter].default != theirs[parameter].default}
    assert other == OTHER_DEFAULTS.get(name, set())
