"""A method in a process of its own: its memory is its own, and it can be ended when its time is over.

The child (`child.py`) is started anew, not forked: no thread, lock or library of the caller goes along, and scripts
need no `if __name__ == "__main__"`. Rows and answers are .npy files in a folder, everything else one JSON line at a
time; nothing is pickled. The child ends when its standard input does, so that none is left behind however the parent
ends.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import TIMEOUT_MAX, Thread
from typing import Any

import numpy as np

from mercer_old.arrays import Array
from mercer_old.errors import in_short
from mercer_old.relatives.base import Method
from mercer_old.relatives.child import in_a_sentence, work

__all__ = ["Outcome", "Run", "fit_apart"]

_GRACE = 2.0  # seconds between the request to end and the end
_THREADS = "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"


@dataclass(frozen=True)
class Run:
    """One fit, and what it says of rows that it was not given."""

    coordinates: Array  # of the rows of the fit
    seconds: float
    cpu: float
    placed: Array | None = None  # of the others, where the method places new rows
    residuals: Array | None = None  # squared distance of the others to what comes back, where it goes back


@dataclass
class Outcome:
    """What became of a method: its runs, the first of all rows; or why there are none, or fewer than were asked for."""

    runs: list[Run] = field(default_factory=list)
    peak: int | None = None  # bytes of the process after the first fit, libraries and all
    before: int | None = None  # before it
    loading: float = 0.0  # seconds until the first fit began
    by: str = ""
    warnings: list[str] = field(default_factory=list)
    failure: str = ""


def fit_apart(
    method: Method,
    folder: Path,
    splits: Sequence[Path],
    *,
    reseeds: int = 0,
    n_components: int = 2,
    seed: int = 0,
    budget: float | None = None,
    n_jobs: int | None = None,
    here: bool = False,
) -> Outcome:
    """Fit to the rows of folder/rows.npy, then once for each split (a file with the numbers of the rows to fit to).

    Parameters
    ----------
    method : Method
        With settings that JSON can hold.
    folder : Path
        Has rows.npy; answers pass through it.
    splits : sequence of Path
        Files of the numbers of rows that are fitted; all others are new rows then. Each has a seed of its own.
    reseeds : int, default=0
        Fits to all rows once more, each with a seed of its own, behind all others.
    budget : float, default=None
        Seconds for all of it; a fit that is not done by then is ended.
    here : bool, default=False
        In this process after all: nothing has to be started, memory is not measured, and there is no budget.
    """
    outcome = Outcome()
    if lacking := method.missing():
        outcome.failure = lacking
        return outcome
    job = {
        "method": method.name,
        "settings": method.settings,
        "n_components": n_components,
        "seed": seed,
        "n_jobs": n_jobs,
        "folder": str(folder),
        "splits": [str(path) for path in splits],
        "reseeds": reseeds,
    }
    try:
        line = json.dumps(job, default=_as_number)
    except TypeError:
        outcome.failure = (
            f"{method.label} has settings that are objects ({in_short(method.settings)}), and a process of its own is "
            "told numbers and texts alone."
        )
        return outcome
    if here:
        _work_here(json.loads(line), folder, outcome)
    else:
        try:
            _listen(line, folder, outcome, budget, 1 + len(splits) + reseeds, n_jobs)
        except OSError as error:
            outcome.failure = f"Its process could not be started: {error.strerror or error}."
        except RuntimeError as error:  # of a thread
            outcome.failure = f"Its process could not be listened to: {error}."
    return outcome


def _as_number(value: Any) -> Any:
    """One of numpy."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError


def _work_here(job: dict[str, Any], folder: Path, outcome: Outcome) -> None:
    try:
        for event in work(job):
            _take(event | ({"peak": None} if "peak" in event else {}), folder, outcome)
    except Exception as error:  # whatever a library raises is a line of the comparison
        outcome.failure = in_a_sentence(error)


def _listen(line: str, folder: Path, outcome: Outcome, budget: float | None, runs: int, n_jobs: int | None) -> None:
    """Take what the child says as it comes, until it is done, or dead, or out of time."""
    end = None if budget is None else time.monotonic() + budget
    with (folder / "said").open("w+b") as said, _child(line, said, n_jobs) as (process, told):
        while True:
            try:
                event = told.get(timeout=None if end is None else min(max(end - time.monotonic(), 0.0), TIMEOUT_MAX))
            except Empty:
                outcome.failure = _over(budget or 0.0, len(outcome.runs), runs)
                return
            if event is None:
                if len(outcome.runs) < runs and not outcome.failure:
                    outcome.failure = _death(process.wait(), said)
                return
            _take(event, folder, outcome)


def _over(budget: float, done: int, runs: int) -> str:
    if done == 0:
        return f"It was not done after {budget:g} s, the budget of a method, and was ended."
    return f"The budget of {budget:g} s was over after {done} of {runs} fits."


def _death(code: int, said: Any) -> str:
    if code < 0:
        return f"Its process was ended by the system (signal {-code}), as happens where memory runs out."
    said.seek(0)
    lines = said.read()[-4000:].decode("utf-8", "replace").strip().splitlines()
    return f"Its process ended ({code}): {lines[-1].strip() if lines else 'without a word'}"


def _take(event: dict[str, Any], folder: Path, outcome: Outcome) -> None:
    for text in event.pop("warnings", ()):
        if text not in outcome.warnings:
            outcome.warnings.append(text)
    if "failed" in event:
        outcome.failure = event["failed"]
    elif "run" in event:
        arrays = {name: np.load(folder / f"{file}.npy") for name, file in event["arrays"].items()}
        outcome.runs.append(Run(seconds=event["seconds"], cpu=event["cpu"], **arrays))
        if event["run"] == 0:
            outcome.peak = event["peak"]
    else:
        outcome.loading, outcome.by, outcome.before = event["loading"], event["by"], event["before"]


# ---------------------------------------------------------------------- the process


@contextmanager
def _child(line: str, said: Any, n_jobs: int | None) -> Iterator[tuple[subprocess.Popen, SimpleQueue]]:
    """A running child that has its job, and the queue of what it tells; gone when the block is left, however."""
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "mercer_old.relatives.child"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=said,
        env=_environment(n_jobs),
        start_new_session=True,  # the interrupt of a terminal is the parent's to hear
    )
    assert process.stdin is not None and process.stdout is not None
    told: SimpleQueue = SimpleQueue()
    listener = Thread(target=_relay, args=(process, told), daemon=True)
    try:
        listener.start()
        with suppress(BrokenPipeError):  # it is dead already, which the queue tells
            process.stdin.write(line.encode() + b"\n")
            process.stdin.flush()
        yield process, told
    finally:
        _end(process)
        if listener.ident is not None:  # it was started
            listener.join()
        process.stdout.close()
        with suppress(BrokenPipeError):
            process.stdin.close()


def _relay(process: subprocess.Popen, told: SimpleQueue) -> None:
    """Every line as it comes, and None at the end."""
    assert process.stdout is not None
    for line in process.stdout:
        with suppress(ValueError):
            told.put(json.loads(line))
    told.put(None)


def _environment(n_jobs: int | None) -> dict[str, str]:
    """The path of the parent, whatever it was changed to, and where we are; and as many threads as were asked for."""
    path = os.pathsep.join([*(folder for folder in sys.path if folder), str(Path(__file__).resolve().parents[2])])
    threads = {} if n_jobs is None or n_jobs < 1 else dict.fromkeys(_THREADS, str(n_jobs))
    return os.environ | {"PYTHONPATH": path, "PYTHONIOENCODING": "utf-8"} | threads


def _end(process: subprocess.Popen) -> None:
    """It and all that it has started."""
    for how in (signal.SIGTERM, getattr(signal, "SIGKILL", signal.SIGTERM)):
        if process.poll() is None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, how) if hasattr(os, "killpg") else process.terminate()
        try:
            process.wait(timeout=_GRACE)
            return
        except subprocess.TimeoutExpired:
            continue
    process.wait()
