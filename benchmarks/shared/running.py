"""What all suites share: a process of its own for every system, and its time and memory."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

from benchmarks.shared.peak import Resident

BENCHMARKS = Path(__file__).parent.parent


def cores():
    """Processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


def run_alone(module, *what, limit=None):
    """What a module of the benchmarks prints as JSON, in a process of its own; or why it failed within so many
    seconds."""
    command = [sys.executable, "-m", f"benchmarks.{module}", *map(str, what)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, cwd=BENCHMARKS.parent, timeout=limit)
    except subprocess.TimeoutExpired:
        return {"failed": f"not done in {limit} s"}
    if done.returncode:
        return {"failed": (done.stderr.strip().splitlines() or ["killed"])[-1]}
    return json.loads(done.stdout)


def timed(run, *given, meter=Resident):
    """What a run returns, its seconds, and its peak memory beyond what was there before."""
    with meter() as used:
        start = time.perf_counter()
        out = run(*given)
        seconds = time.perf_counter() - start
    return out, seconds, used.peak
