"""scikit-learn's own test files with our classes in the place of its own (`support/sklearn_swap.py`).

What they object to is listed here, each with its reason; all other tests pass.
"""

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
import sklearn
from packaging.version import Version

NEWEST = Version(sklearn.__version__) >= Version("1.9.dev0")  # older ones have fewer tests
SETTINGS = {"SCIPY_ARRAY_API": "1", "SKLEARN_RUN_FLOAT32_TESTS": "1"}

# Tests that do not pass, and why not.
DEVIATIONS = {
    "test_incremental_pca_sparse": "wants partial_fit to refuse sparse rows; ours takes them",
    "test_get_fitted_attr_html": "counts the fitted names of PCA; ours has more of them",
}
LONG = "test_pca_sparse"  # 220 combinations of one question; some are in models/pca, all in `make test-all`
OURS = "PCA or LocallyLinear or locally_linear"  # tests that are named after the models

slow = pytest.mark.slow
WITH_NUMPYDOC = pytest.mark.skipif(not find_spec("numpydoc"), reason="numpydoc reads them, and is not there")


def run(modules, choice):
    """What pytest says of scikit-learn's own files with our classes; the array-API tests among them."""
    there = [f"sklearn.{module}" for module in modules.split() if find_spec(f"sklearn.{module}")]
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "support.sklearn_swap", "-p", "no:cacheprovider",
         "-c", "/dev/null", "--pyargs", *there, "-k", choice],
        capture_output=True, text=True, cwd=Path(__file__).parents[1], env=os.environ | SETTINGS,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("modules", "choice", "least"),
    [
        ("decomposition.tests.test_kernel_pca", "", 30),
        ("decomposition.tests.test_pca", f"not {LONG}", 180),
        pytest.param("decomposition.tests.test_pca", LONG, 200, marks=slow),
        ("decomposition.tests.test_incremental_pca manifold.tests.test_locally_linear", "", 45),
        # Pages, texts, functions and methods that speak of models.
        (
            "tests.test_public_functions tests.test_docstring_parameters utils._repr_html.tests.test_features "
            "utils.tests.test_pprint",
            f"{OURS} or pprint or html",
            30,
        ),
        pytest.param("tests.test_docstrings", OURS, 90, marks=[slow, WITH_NUMPYDOC]),
        # All checks of all estimators that have one of ours in their parts: searches over pipelines among them.
        pytest.param("tests.test_common", OURS, 750, marks=slow),
        # (The files of searches and imputers themselves use none of ours.)
        pytest.param("tests.test_base tests.test_pipeline tests.test_metaestimators", "", 290, marks=slow),
        pytest.param(
            "compose.tests.test_column_transformer utils._repr_html.tests.test_estimator "
            "utils.tests.test_estimator_checks",
            "",
            300,
            marks=slow,
        ),
        # What is built on them.
        pytest.param(
            "feature_selection.tests.test_from_model neighbors.tests.test_nca manifold.tests.test_classical_mds "
            "manifold.tests.test_t_sne decomposition.tests.test_fastica decomposition.tests.test_sparse_pca "
            "decomposition.tests.test_truncated_svd",
            "",
            420,
            marks=slow,
        ),
    ],
    ids=lambda value: value.replace("tests.", "") if isinstance(value, str) else None,
)
def test_scikit_learns_own_files_pass_with_our_classes(modules, choice, least):
    others = " and ".join(f"not {name}" for name in DEVIATIONS)
    there = " ".join(
        name for name in modules.split() if "_repr_html" not in name or find_spec("sklearn.utils._repr_html")
    )
    done = run(there, f"{others} and ({choice})" if choice else others)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
    if NEWEST:
        assert int(re.search(r"(\d+) passed", done.stdout).group(1)) >= least


@pytest.mark.skipif(not NEWEST, reason="the table is that of scikit-learn 1.9")
def test_every_deviation_is_still_one():
    """A name that no file has, or that passes by now, would be a deviation in name alone."""
    done = run("decomposition.tests.test_incremental_pca tests.test_base", " or ".join(DEVIATIONS))
    failed = {name for name in DEVIATIONS if re.search(rf"^FAILED .*{name}\b", done.stdout, re.M)}
    assert failed == set(DEVIATIONS), done.stdout[-2000:]
