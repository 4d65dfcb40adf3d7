"""Memory of PCA: limits are kept, and plans know what a fit takes."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

# ---------------------------------------------------------------------- rows from anywhere


PEAK = """
import sys, numpy as np
from pathlib import Path
from mercer import PCA
def status(name):
    return next(int(line.split()[1]) * 1024 for line in open("/proc/self/status") if line.startswith(name))
path = Path(sys.argv[1])
def model():
    return {model}
model().fit(path.parent / "small.npy")
before = status("VmRSS")
Path("/proc/self/clear_refs").write_text("5")
fitted = model().fit(path)
print(status("VmHWM") - before, fitted.plan_.memory, fitted.plan_.held)
"""


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="peak memory is read from Linux's /proc")
@pytest.mark.parametrize(
    ("shape", "model", "limit"),
    [
        ((150_000, 200), 'PCA(5, memory_limit="100MB")', 100e6),
        pytest.param((3000, 8000), 'PCA(5, memory_limit="150MB")', 150e6, marks=pytest.mark.slow),
        pytest.param((150_000, 200), 'PCA(5, svd_solver="qr", memory_limit="150MB")', 150e6, marks=pytest.mark.slow),
        pytest.param((20_000, 1500), 'PCA(1000, memory_limit="400MB")', 400e6, marks=pytest.mark.slow),
    ],
)
def test_files_larger_than_the_limit_are_a_normal_case(tmp_path, shape, model, limit):
    X = np.random.default_rng(0).normal(size=shape) * 0.9 ** np.arange(shape[1])
    np.save(tmp_path / "small.npy", X[:1100])
    np.save(tmp_path / "large.npy", X)
    code = PEAK.format(model=model)
    arguments = [sys.executable, "-W", "ignore", "-c", code, str(tmp_path / "large.npy")]
    done = subprocess.run(arguments, capture_output=True, text=True, check=True)
    peak, planned, _ = done.stdout.split()
    assert int(peak) <= limit and int(planned) <= limit
    assert abs(int(peak) - int(planned)) <= max(0.25 * int(peak), 64e6)


SPARSE_PEAK = """
import numpy as np
from pathlib import Path
from scipy import sparse
from mercer import PCA, IncrementalPCA
def status(name):
    return next(int(line.split()[1]) * 1024 for line in open("/proc/self/status") if line.startswith(name))
rng = np.random.default_rng(0)
n, d, each = 100_000, 20_000, 5
X = sparse.csr_array((rng.normal(size=n * each), np.sort(rng.integers(0, 40, (n, each)) * 500, axis=1).ravel(),
                      np.arange(n + 1) * each), shape=(n, d))
PCA(3).fit(X[:2000])
before = status("VmRSS")
Path("/proc/self/clear_refs").write_text("5")
PCA(3).fit(X).transform(X)
print(status("VmHWM") - before)
"""


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="peak memory is read from Linux's /proc")
def test_sparse_rows_are_never_made_dense():
    done = subprocess.run([sys.executable, "-c", SPARSE_PEAK], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 300e6  # 16 GB if they were


# ---------------------------------------------------------------------- what a review found


MEMORY = """
import sys, numpy as np
from pathlib import Path
from scipy import sparse
from mercer import PCA
def status(name):
    return next(int(line.split()[1]) * 1024 for line in open("/proc/self/status") if line.startswith(name))
rng = np.random.default_rng(0)
X = {X}
model = {model}
model.fit(X[:300])
before = status("VmRSS")
Path("/proc/self/clear_refs").write_text("5")
model.fit(X)
print(status("VmHWM") - before, model.plan_.memory)
"""


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="peak memory is read from Linux's /proc")
@pytest.mark.parametrize(
    ("X", "model"),
    [
        ("rng.normal(size=(400, 60_000)).astype(np.float32)", 'PCA(100, svd_solver="gram")'),
        ("sparse.random_array((50_000, 900), density=0.16, rng=rng, format='csr')", "PCA(20)"),
        pytest.param("rng.normal(size=(5000, 1400))", "PCA(standardize=True)", marks=pytest.mark.slow),
        pytest.param(
            "sparse.random_array((20_000, 2900), density=0.05, rng=rng, format='csr')",
            "PCA(20)",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            "sparse.random_array((50_000, 20_000), density=0.005, rng=rng, format='csr')",
            "PCA(5)",
            marks=pytest.mark.slow,
        ),
    ],
)
@pytest.mark.slow
def test_the_plan_knows_what_memory_a_fit_takes(X, model):
    code = MEMORY.format(X=X, model=model)
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=True)
    peak, planned = map(int, done.stdout.split())
    assert abs(peak - planned) <= max(0.25 * peak, 64e6)
