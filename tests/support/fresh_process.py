"""Memory and exit of a process of its own."""

import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = str(Path(__file__).parent.parent.parent / "src")
PEAK = """
import sys, warnings
sys.path.insert(0, {source!r})
warnings.simplefilter("ignore")
from pathlib import Path
import numpy as np
from mercer.data.opening import open_dataset
from mercer.errors import MercerError
def memory(name):
    return int(Path("/proc/self/status").read_text().split(name + ":")[1].split()[0]) * 1024
def read(path, **options):
    data = open_dataset(path, **options)
    return sum(block.shape[0] for block in data.blocks(8192))
for small in {small!r}:
    try: read(small)
    except MercerError: pass
Path("/proc/self/clear_refs").write_text("5")
resting = memory("VmRSS")
try: result = read({path!r}, **{options!r})
except MercerError as error: result = type(error).__name__
print(memory("VmHWM") - resting, result)
"""

needs_peaks = pytest.mark.skipif(
    not Path("/proc/self/clear_refs").exists(), reason="peak memory is read from Linux's /proc"
)


def run_script(script, timeout=300):
    """Run a script in a fresh interpreter; returns its output, or fails with its errors and exit code."""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=timeout)
    assert done.returncode == 0, f"exit code {done.returncode}: {done.stderr[-2000:]}"
    return done.stdout


def peak_of_reading(path, small, **options):
    """Bytes that opening and reading a file takes, and rows or the name of the error. `small` warms up imports."""
    script = PEAK.format(source=SOURCE, path=str(path), small=[str(each) for each in small], options=options)
    peak, result = run_script(script).split()
    return int(peak), int(result) if result.isdigit() else result
