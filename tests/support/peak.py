"""The peak of memory, read by a process of its own: nothing else happens in it."""

import atexit
import json
import subprocess
import sys
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

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

# A process that has imported what every fit takes, and nothing else; each question is answered by a fork of it.
NURSERY = """
import json, os, sys
import numpy, scipy.sparse, sklearn.decomposition, sklearn.manifold
from mercer import PCA, KernelPCA, LocallyLinearEmbedding
for line in sys.stdin:
    code, out, err = json.loads(line)
    child = os.fork()
    if not child:
        try:
            for number, path in ((1, out), (2, err)):
                os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT), number)
            exec(compile(code, "peak", "exec"), {"__name__": "__main__"})
            sys.stdout.flush()
            os._exit(0)
        except BaseException:
            import traceback
            traceback.print_exc()
            os._exit(1)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""

needs_peaks = pytest.mark.skipif(
    not Path("/proc/self/clear_refs").exists(), reason="peak memory is read from Linux's /proc"
)


def peak_of(work, before="", told="model.plan_.memory"):
    """Bytes that `work` takes beyond what `before` has left, and what is `told` of it; all three are code.

    `before` imports what it takes and does the same with little, so that nothing is loaded for the first time.
    """
    code = SCRIPT.format(root=ROOT, before=before, work=work, told=told)
    with TemporaryDirectory() as folder:
        out, err = Path(folder, "out"), Path(folder, "err")
        print(json.dumps([code, str(out), str(err)]), file=nursery().stdin, flush=True)
        ended = nursery().stdout.readline().strip()
        assert ended == "0", f"ended with {ended}: {err.read_text()[-2000:]}"
        return [int(word) if word.isdigit() else word for word in out.read_text().split()]


@cache
def nursery():
    """One for all questions of this process, as its imports take longer than many a fit."""
    command = [sys.executable, "-W", "ignore", "-c", NURSERY]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    atexit.register(process.communicate)  # its input ends, and so does it
    return process


def is_near(peak, planned):
    """Whether a plan was right: to a quarter, or what an allocator may do unasked."""
    return abs(peak - planned) <= max(0.25 * peak, 64e6)
