"""The process that fits one method, as `apart` starts it: `python -m mercer.relatives.child`.

It reads one line of JSON, and tells one line for each thing that is done; arrays go to files. What libraries print goes
to standard error. When standard input ends, so does it.
"""

import json
import os
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np

from mercer_old.arrays import Array
from mercer_old.errors import MercerError, counted
from mercer_old.relatives.base import Fitted, Method
from mercer_old.relatives.registry import method

_MOST_WARNINGS = 5
_UNIT = 1 if sys.platform == "darwin" else 1024  # of ru_maxrss, in bytes


def main() -> None:
    """Do the job that standard input names."""
    tell = _teller()
    job = json.loads(sys.stdin.readline())
    Thread(target=_end_with_parent, daemon=True).start()
    try:
        for event in work(job):
            tell(event)
    except Exception as error:  # whatever a library raises is a line of the comparison
        tell({"failed": in_a_sentence(error)})
    os._exit(0)  # all is told, and threads of libraries need no farewell


def _teller() -> Any:
    """Writes events to what was standard output, which is standard error from now on."""
    events = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)

    def tell(event: dict[str, Any]) -> None:
        print(json.dumps(event), file=events, flush=True)

    return tell


def _end_with_parent() -> None:
    while os.read(0, 1024):
        pass
    os._exit(1)


def work(job: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Fit as the job says; what is done is told as it is done."""
    began = time.perf_counter()
    how, folder = method(job["method"], **job["settings"]), Path(job["folder"])
    X = np.load(folder / "rows.npy")
    by = how.load()
    yield {"loading": time.perf_counter() - began, "by": by, "before": _peak()}
    splits = [None, *(np.load(path) for path in job["splits"]), *[None] * job["reseeds"]]
    for number, kept in enumerate(splits):
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            event, arrays = _run(how, X, kept, job["n_components"], job["seed"] + number, job["n_jobs"])
        texts = list(dict.fromkeys(str(one.message) for one in said if _is_news(one)))
        paths = {name: f"{name}-{number}" for name in arrays}
        for name, array in arrays.items():
            np.save(folder / f"{paths[name]}.npy", array)
        yield event | {"run": number, "arrays": paths, "warnings": texts[:_MOST_WARNINGS]}


def _run(
    how: Method, X: Array, kept: Array | None, n_components: int, seed: int, n_jobs: int | None
) -> tuple[dict[str, Any], dict[str, Array]]:
    rows = X if kept is None else X[kept]
    start, cpu = time.perf_counter(), time.process_time()
    fitted = how.fit(rows, n_components, seed, n_jobs)
    event = {"seconds": time.perf_counter() - start, "cpu": time.process_time() - cpu, "peak": _peak()}
    coordinates = np.asarray(fitted.coordinates, dtype=np.float64)
    if lost := int((~np.isfinite(coordinates)).any(axis=1).sum()):
        raise MercerError(f"{how.label} gave coordinates that are no numbers to {counted(lost, 'row')}.")
    new = None if kept is None else np.delete(X, kept, axis=0)
    arrays = {} if new is None else _of_new_rows(fitted, new)
    if lost := int((~np.isfinite(arrays.get("placed", coordinates))).any(axis=1).sum()):
        raise MercerError(f"{how.label} gave coordinates that are no numbers to {counted(lost, 'new row')}.")
    return event, {"coordinates": coordinates} | arrays


def _of_new_rows(fitted: Fitted, new: Array) -> dict[str, Array]:
    """Where they are placed, and how far what comes back from there is."""
    if fitted.transform is None:
        return {}
    placed = np.asarray(fitted.transform(new), dtype=np.float64)
    if fitted.inverse is None:
        return {"placed": placed}
    return {"placed": placed, "residuals": np.square(np.asarray(fitted.inverse(placed)) - new).sum(axis=1)}


def _is_news(said: warnings.WarningMessage) -> bool:
    """Not what is said to those who write programs."""
    return not issubclass(said.category, (DeprecationWarning, FutureWarning, PendingDeprecationWarning))


def in_a_sentence(error: BaseException) -> str:
    """What a method raised, for people."""
    if isinstance(error, MemoryError) and not isinstance(error, MercerError):
        return f"It ran out of memory{f': {error}' if str(error) else ''}."
    words = " ".join(str(error).split())
    return words if isinstance(error, (MercerError, ValueError)) and words else f"{type(error).__name__}: {words}"


def _peak() -> int | None:
    """Bytes that the process has held at most, where the system tells.

    Linux counts what whoever started it held in `ru_maxrss` as well, and in its own files it does not.
    """
    own = Path("/proc/self/status")
    if own.exists() and "VmHWM:" in (told := own.read_text()):
        return 1024 * int(told.partition("VmHWM:")[2].split()[0])
    try:
        from resource import RUSAGE_SELF, getrusage
    except ImportError:  # Windows
        return None
    return int(getrusage(RUSAGE_SELF).ru_maxrss) * _UNIT


if __name__ == "__main__":
    main()
