"""scikit-learn looks at arrays of other libraries only if scipy was told so before it was imported."""

import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize("which", ["not slow", pytest.param("slow", marks=pytest.mark.slow)])
def test_kernel_pca_follows_arrays_of_other_libraries(which):
    pytest.importorskip("array_api_strict")
    checks = Path(__file__).with_name("kernel_pca_with_dispatch.py")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "--no-header", "-m", which, str(checks)],
        capture_output=True, text=True, env=os.environ | {"SCIPY_ARRAY_API": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-5000:]
