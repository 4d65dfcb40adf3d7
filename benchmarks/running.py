"""What all suites share: a process of its own for every system, its time and memory, and figures kept in a file."""

import ctypes
import json
import subprocess
import sys
import time
from pathlib import Path
from threading import Event, Thread

HERE = Path(__file__).parent
LOOK = 0.005  # seconds between two looks at memory


def run_alone(script, *what, limit=None):
    """What a script of this folder prints as JSON, in a process of its own; or why it failed within so many seconds."""
    command = [sys.executable, str(HERE / script), *map(str, what)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, cwd=HERE, timeout=limit)
    except subprocess.TimeoutExpired:
        return {"failed": f"not done in {limit} s"}
    if done.returncode:
        return {"failed": (done.stderr.strip().splitlines() or ["killed"])[-1]}
    return json.loads(done.stdout)


def run_cases(cases, only, kept, measure, report):
    """Measures the cases whose name contains the text `only`; the figures of the others stay in the file `kept`."""
    results = json.loads(kept.read_text(encoding="utf-8")) if only and kept.exists() else {}
    for case in cases:
        if only not in case.name:
            continue
        results[case.name] = measure(case)
        kept.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
        report(case, results)


def memory(field):
    """Bytes in memory now ("VmRSS", "RssAnon") or at the most since `forget_peak` ("VmHWM")."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1]) * 1024
    raise RuntimeError(f"no {field} in /proc/self/status")


def forget_peak():
    Path("/proc/self/clear_refs").write_text("5")


def give_back():
    """Memory that was freed back to the system, or a run could use it without being seen."""
    ctypes.CDLL(None).malloc_trim(0)


class Resident:
    """The peak of all memory beyond what was there before, as the system keeps it."""

    def __enter__(self):
        forget_peak()
        self.before = memory("VmRSS")
        return self

    def __exit__(self, *error):
        self.peak = memory("VmHWM") - self.before


class Own:
    """The same without the pages of mapped files, which the system drops when it needs the room. It keeps no peak of
    that, so that a thread looks every few milliseconds."""

    def __enter__(self):
        self.peak, self.before, self.over = 0, memory("RssAnon"), Event()
        self.thread = Thread(target=self.watch, daemon=True)
        self.thread.start()
        return self

    def watch(self):
        while not self.over.wait(LOOK):
            self.peak = max(self.peak, memory("RssAnon") - self.before)

    def __exit__(self, *error):
        self.over.set()
        self.thread.join()


def timed(run, *given, meter=Resident):
    """What a run returns, its seconds, and its peak memory beyond what was there before."""
    with meter() as used:
        start = time.perf_counter()
        out = run(*given)
        seconds = time.perf_counter() - start
    return out, seconds, used.peak
