"""The peak of memory, read by a process of its own: nothing else happens in it."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = str(Path(__file__).parent.parent.parent)
SCRIPT = """
import sys
from pathlib import Path
import numpy as np
sys.path.insert(0, {root!r})
from benchmarks.shared.peak import forget_peak, memory
{before}
resting = memory("VmRSS")
forget_peak()
{work}
print(memory("VmHWM") - resting, {told})
"""

needs_peaks = pytest.mark.skipif(
    not Path("/proc/self/clear_refs").exists(), reason="peak memory is read from Linux's /proc"
)


def peak_of(work, before="", told="model.plan_.memory"):
    """Bytes that `work` takes beyond what `before` has left, and what is `told` of it; all three are code.

    `before` imports what it takes and does the same with little, so that nothing is loaded for the first time.
    """
    code = SCRIPT.format(root=ROOT, before=before, work=work, told=told)
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    return [int(word) if word.isdigit() else word for word in done.stdout.split()]


def is_near(peak, planned):
    """Whether a plan was right: to a quarter, or what an allocator may do unasked."""
    return abs(peak - planned) <= max(0.25 * peak, 64e6)
