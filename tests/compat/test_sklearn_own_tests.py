"""scikit-learn's own test files with our classes in the place of its own (`support/sklearn_swap.py`).

What they object to is listed here, each with its reason; all other tests pass. The classes of both editions take
part: those of `mercer`, and those of `mercer.estimators` as far as they are written.
"""

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest
import sklearn
from packaging.version import Version

from support.editions import new_class

NEWEST = Version(sklearn.__version__) >= Version("1.9.dev0")  # older ones have fewer tests
SETTINGS = {"SCIPY_ARRAY_API": "1", "SKLEARN_RUN_FLOAT32_TESTS": "1"}

# Tests that do not pass, and why not.
DEVIATIONS = {
    "test_incremental_pca_sparse": "wants partial_fit to refuse sparse rows; ours takes them",
    "test_get_fitted_attr_html": "counts the fitted names of PCA; ours has more of them",
}
# Of the second edition, as well.
NEW_DEVIATIONS = DEVIATIONS | {
    "test_array_api_error_and_warnings_on_unsupported_params": "arrays of other libraries are not supported yet",
    "test_pca_array_api_compliance": "arrays of other libraries are not supported yet",
    "test_pca_mle_array_api_compliance": "arrays of other libraries are not supported yet",
}
# Hundreds of combinations of three questions: some are in models/pca and test_sklearn.py, all in `make test-all`.
LONG = "test_pca_sparse or solver_equivalence or array_api_compliance"
OURS = "PCA or LocallyLinear or locally_linear"  # tests that are named after the models
NEW = "PCA or FactorAnalysis or LocallyLinear or locally_linear"

slow = pytest.mark.slow
WITH_NUMPYDOC = pytest.mark.skipif(not find_spec("numpydoc"), reason="numpydoc reads them, and is not there")


@dataclass(frozen=True)
class Part:
    """Some modules of tests, which of their tests, and how many at least."""

    modules: str
    choice: str = ""
    least: int = 1
    needs: str = "PCA"  # a class of the second edition

    @property
    def there(self):
        """Those that this version of scikit-learn has."""
        names = [f"sklearn.{module}" for module in self.modules.split()]
        return [name for name in names if find_spec(name.rpartition(".tests")[0]) and find_spec(name)]

    @property
    def files(self):
        return [f"{name.rpartition('.')[2]}.py" for name in self.there]

    def __str__(self):
        return " ".join([self.modules.replace("tests.", ""), self.choice]).strip()


QUICK = [
    Part("decomposition.tests.test_kernel_pca", least=30),
    Part("decomposition.tests.test_pca", f"not ({LONG})", 90),
    Part("decomposition.tests.test_incremental_pca manifold.tests.test_locally_linear", least=45),
    # Pages, texts, functions and methods that speak of models.
    Part(
        "tests.test_public_functions tests.test_docstring_parameters utils._repr_html.tests.test_features "
        "utils.tests.test_pprint",
        f"{OURS} or pprint or html",
        30,
    ),
]
SLOW = [
    Part("decomposition.tests.test_pca", LONG, 200),
    # All checks of all estimators that have one of ours in their parts: searches over pipelines among them.
    Part("tests.test_common", OURS, 750),
    # (The files of searches and imputers themselves use none of ours.)
    Part("tests.test_base tests.test_pipeline tests.test_metaestimators", least=290),
    Part(
        "compose.tests.test_column_transformer utils._repr_html.tests.test_estimator utils.tests.test_estimator_checks",
        least=300,
    ),
    # What is built on them.
    Part(
        "feature_selection.tests.test_from_model neighbors.tests.test_nca manifold.tests.test_classical_mds "
        "manifold.tests.test_t_sne decomposition.tests.test_fastica decomposition.tests.test_sparse_pca "
        "decomposition.tests.test_truncated_svd",
        least=420,
    ),
]
NEW_QUICK = [
    Part("decomposition.tests.test_kernel_pca", least=30, needs="KernelPCA"),
    Part("decomposition.tests.test_pca", f"not ({LONG})", 90),
    Part("decomposition.tests.test_incremental_pca", least=20, needs="IncrementalPCA"),
    Part("decomposition.tests.test_factor_analysis", needs="FactorAnalysis"),
    Part("manifold.tests.test_locally_linear", least=5, needs="LocallyLinearEmbedding"),
    Part(
        "tests.test_public_functions tests.test_docstring_parameters utils._repr_html.tests.test_features "
        "utils.tests.test_pprint",
        f"({NEW} or pprint or html) and not Kernel",
        25,
    ),
]
NEW_SLOW = [
    Part("decomposition.tests.test_pca", LONG, 200),
    Part("tests.test_common", f"({NEW}) and not Kernel", 350),
    Part("tests.test_base tests.test_pipeline tests.test_metaestimators", least=290),
    Part("compose.tests.test_column_transformer utils._repr_html.tests.test_estimator", least=150),
]
DOCSTRINGS = Part("tests.test_docstrings", OURS, 90)
DEVIATING = Part("tests.test_base", " or ".join(DEVIATIONS))  # the other one is in a file of QUICK


@cache
def outcomes(*parts, edition="old"):
    """What pytest says of scikit-learn's own files with our classes, in one process; the array-API tests among them.

    By file and name, whether each has passed; and the whole text.
    """
    chosen = " or ".join(f"(({' or '.join(part.files)}) and ({part.choice or 'test'}))" for part in parts)
    modules = [name for part in parts for name in part.there]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-rpfE", "-p", "support.sklearn_swap", "-p", "no:cacheprovider",
         "-c", "/dev/null", "--rootdir", Path(sklearn.__file__).parent, "-k", chosen, "--pyargs", *modules],
        capture_output=True, text=True, cwd=Path(__file__).parents[1],
        env=os.environ | SETTINGS | {"MERCER_EDITION": edition},
    )  # fmt: skip
    text = done.stdout[-4000:] + done.stderr[-1000:]
    assert done.returncode in (0, 1), text  # all have been run, whatever came of them
    said = re.findall(r"^(PASSED|FAILED|ERROR) (?:[^:]*/)?(\w+\.py)(?:::(\w+))?", done.stdout, re.M)
    return [(file, name, word == "PASSED") for word, file, name in said], text


@pytest.mark.parametrize(
    "part",
    [
        *QUICK,
        *(pytest.param(part, marks=slow) for part in SLOW),
        pytest.param(DOCSTRINGS, marks=[slow, WITH_NUMPYDOC]),
    ],
    ids=str,
)
def test_scikit_learns_own_files_pass_with_our_classes(part):
    found, text = outcomes(*QUICK, DEVIATING) if part in QUICK else outcomes(part)
    mine = [(name, passed) for file, name, passed in found if file in part.files and name not in DEVIATIONS]
    assert all(passed for _, passed in mine), text
    if NEWEST:
        assert len(mine) >= part.least


@pytest.mark.skipif(not NEWEST, reason="the table is that of scikit-learn 1.9")
def test_every_deviation_is_still_one():
    """A name that no file has, or that passes by now, would be a deviation in name alone."""
    found, text = outcomes(*QUICK, DEVIATING)
    assert {name for _, name, passed in found if not passed} == set(DEVIATIONS), text


@pytest.mark.parametrize("part", [*NEW_QUICK, *(pytest.param(part, marks=slow) for part in NEW_SLOW)], ids=str)
def test_scikit_learns_own_files_pass_with_the_second_edition(part):
    if new_class(part.needs) is None:
        pytest.skip(f"mercer.estimators has no {part.needs}")
    found, text = outcomes(*NEW_QUICK, edition="new") if part in NEW_QUICK else outcomes(part, edition="new")
    mine = [(name, passed) for file, name, passed in found if file in part.files and name not in NEW_DEVIATIONS]
    assert all(passed for _, passed in mine), text
    if NEWEST:
        assert len(mine) >= part.least
