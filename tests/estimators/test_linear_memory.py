"""Memory of PCA: limits are kept, and plans know what a fit takes."""

import numpy as np
import pytest

from support.peak import is_near, needs_peaks, peak_of


@needs_peaks
@pytest.mark.parametrize(
    ("shape", "model", "limit"),
    [
        ((100_000, 200), 'PCA(5, memory_limit="100MB")', 100e6),
        pytest.param((150_000, 200), 'PCA(5, memory_limit="100MB")', 100e6, marks=pytest.mark.slow),
        pytest.param((3000, 8000), 'PCA(5, memory_limit="150MB")', 150e6, marks=pytest.mark.slow),
        pytest.param((150_000, 200), 'PCA(5, svd_solver="qr", memory_limit="150MB")', 150e6, marks=pytest.mark.slow),
        pytest.param((20_000, 1500), 'PCA(1000, memory_limit="400MB")', 400e6, marks=pytest.mark.slow),
    ],
)
def test_files_larger_than_the_limit_are_a_normal_case(tmp_path, shape, model, limit):
    X = np.random.default_rng(0).normal(size=shape) * 0.9 ** np.arange(shape[1])
    np.save(tmp_path / "small.npy", X[:1100])
    np.save(tmp_path / "large.npy", X)
    fit = f"from mercer import PCA; model = {model}.fit(Path({str(tmp_path)!r}) / %r)"
    peak, planned = peak_of(fit % "large.npy", before=fit % "small.npy")
    assert peak <= limit and planned <= limit
    assert is_near(peak, planned)


WIDE_AND_SPARSE = """
from scipy import sparse
from mercer import PCA
rng = np.random.default_rng(0)
n, d, each = 50_000, 20_000, 5
X = sparse.csr_array((rng.normal(size=n * each), np.sort(rng.integers(0, 40, (n, each)) * 500, axis=1).ravel(),
                      np.arange(n + 1) * each), shape=(n, d))
PCA(3).fit(X[:2000])
"""


@needs_peaks
def test_sparse_rows_are_never_made_dense():
    (peak,) = peak_of("PCA(3).fit(X).transform(X)", WIDE_AND_SPARSE, told="")
    assert peak < 300e6  # 8 GB if they were


SMALL_FIT = """
from scipy import sparse
from mercer import PCA
rng = np.random.default_rng(0)
X = {X}
model = {model}
model.fit(X[:300])
"""


@needs_peaks
@pytest.mark.parametrize(
    ("X", "model"),
    [
        ("rng.normal(size=(400, 60_000)).astype(np.float32)", 'PCA(100, svd_solver="gram")'),
        ("sparse.random_array((50_000, 900), density=0.16, random_state=rng, format='csr')", "PCA(20)"),
        pytest.param("rng.normal(size=(5000, 1400))", "PCA(standardize=True)", marks=pytest.mark.slow),
        pytest.param(
            "sparse.random_array((20_000, 2900), density=0.05, random_state=rng, format='csr')",
            "PCA(20)",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            "sparse.random_array((50_000, 20_000), density=0.005, random_state=rng, format='csr')",
            "PCA(5)",
            marks=pytest.mark.slow,
        ),
    ],
)
@pytest.mark.slow
def test_the_plan_knows_what_memory_a_fit_takes(X, model):
    peak, planned = peak_of("model.fit(X)", SMALL_FIT.format(X=X, model=model))
    assert is_near(peak, planned)
