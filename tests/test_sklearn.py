"""scikit-learn as examiner: its estimator checks, those it does not run by itself, and its own test files."""

import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest
from sklearn.base import clone
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer import PCA, IncrementalPCA, KernelPCA
from mercer.kernels import RBF, Linear

ESTIMATORS = [
    KernelPCA(2),
    KernelPCA(2, kernel="rbf", eigen_solver="dense"),
    KernelPCA(2, kernel="rbf", eigen_solver="krylov"),
    KernelPCA(2, kernel=RBF() + Linear()),
    KernelPCA(0.5, kernel="poly"),
    KernelPCA(kernel="cosine"),
    KernelPCA(2, kernel="rbf", eigen_solver="landmark"),
    KernelPCA(2, kernel="rbf", refine=1),
    PCA(2),
    PCA(0.5, whiten=True),
    PCA(2, standardize=True),
    *(PCA(1, svd_solver=name) for name in ("full", "covariance_eigh", "randomized", "qr", "gram", "krylov")),
    IncrementalPCA(1),
    IncrementalPCA(1, forget=0.9, whiten=True),
]


@parametrize_with_checks(ESTIMATORS)
@pytest.mark.filterwarnings("ignore::mercer.errors.MercerWarning", "ignore::UserWarning")
def test_estimator_checks(estimator, check):
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
@pytest.mark.filterwarnings("ignore::mercer.errors.MercerWarning", "ignore::UserWarning")
def test_checks_that_are_not_in_the_generator(name):
    getattr(estimator_checks, name)("KernelPCA", clone(KernelPCA(2, kernel="rbf")))


def test_scikit_learns_own_file_passes_with_our_class():
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "sklearn_swap", "-p", "no:cacheprovider", "-c", "/dev/null",
         "--pyargs", "sklearn.decomposition.tests.test_kernel_pca"],
        capture_output=True, text=True, cwd=Path(__file__).parent,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
    assert int(re.search(r"(\d+) passed", done.stdout).group(1)) >= 30


def test_every_parameter_of_scikit_learn_is_there_with_its_default():
    from sklearn.decomposition import KernelPCA as Theirs

    ours, theirs = (inspect.signature(c.__init__).parameters for c in (KernelPCA, Theirs))
    assert {name: p.default for name, p in theirs.items()}.items() <= {
        name: p.default for name, p in ours.items()
    }.items()
