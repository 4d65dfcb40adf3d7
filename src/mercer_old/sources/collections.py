"""Collections of Dask: arrays, frames and bags in any chunks, of known lengths or not."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from mercer_old.arrays import dask, single_or_double
from mercer_old.engines.base import Engine, Handle
from mercer_old.engines.cluster import Cluster, active_client
from mercer_old.engines.loop import Loop
from mercer_old.errors import BadData, NoRoom, counted, listed
from mercer_old.limits import bytes_in_words
from mercer_old.sources.chunked import AsRows, ChunkedRows, Chunks
from mercer_old.sources.chunked_items import ChunkedItems, open_chunked_items
from mercer_old.sources.items import Items

_WHOLE_ROWS = 1 << 27  # bytes of a chunk that whole rows are cut to, where columns lay in several
COPIES = 3  # of a chunk that a worker may have at once: as it comes, as numbers, and what is made of them


def is_collection(X: Any) -> bool:
    """Whether it is one of Dask's."""
    return hasattr(X, "__dask_graph__") and hasattr(X, "__dask_keys__")


def open_collection(X: Any, label: str = "X") -> ChunkedRows:
    """The rows of an array or a frame of Dask; nothing is computed, but lengths that are not known."""
    anything = isinstance(X, dask("delayed").Delayed)  # which has whatever attribute one asks for
    if anything or (not is_frame(X) and not hasattr(X, "chunks")):
        raise TypeError(f"{label} is a {type(X).__name__} of Dask, not an array or a frame: give one of those.")
    return _open_frame(X, label) if is_frame(X) else _open_array(X, label)


def open_items_of(X: Any, kind: str, label: str = "X") -> ChunkedItems:
    """Texts of a column, a bag or an array of one dimension; the rows of a frame as a table. All are looked at."""
    column = is_frame(X) and len(X.columns) == 1
    if kind == "tables" and not (is_frame(X) and X.ndim == 2):
        raise BadData(f"{label} is a {type(X).__name__} of Dask, and a kernel of tables takes a frame.")
    if kind == "texts" and not (column or is_bag(X) or getattr(X, "ndim", 0) == 1):
        raise BadData(f"{label} is a {type(X).__name__} of Dask, and texts are a column, or a bag: choose one.")
    engine, delayed = engine_for(), X.to_delayed()
    parts = list(delayed.ravel() if isinstance(delayed, np.ndarray) else delayed)
    return open_chunked_items(engine, _handles(engine, parts), kind, label)


def is_bag(X: Any) -> bool:
    """Whether it is a bag of Dask, whose partitions are lists."""
    return hasattr(X, "npartitions") and not hasattr(X, "columns") and not hasattr(X, "chunks")


def is_frame(X: Any) -> bool:
    return hasattr(X, "columns") and hasattr(X, "partitions")


def with_whole_rows(X: Any) -> Any:
    """An array of Dask whose chunks have all columns."""
    if X.numblocks[1] == 1:
        return X
    rows = X.chunks[0]
    most = max(1, _WHOLE_ROWS // max(1, X.shape[1] * X.dtype.itemsize))
    if any(np.isnan(rows)) or max(rows) <= most:
        return X.rechunk({1: -1})
    return X.rechunk({0: most, 1: -1})


def engine_for() -> Engine:
    """The cluster whose client is at work in this process, or a loop."""
    client = active_client()
    if client is None:
        return Loop()
    cluster = Cluster(client)
    cluster.refuse_other_versions()  # before anything is counted or planned
    return cluster


def helpers_for(items: Items) -> Engine | None:
    """The cluster whose client is at work, if items were read from a file: who has an array gives one of Dask's, if
    others are to work on it."""
    return _with_workers(active_client()) if items.path is not None and items.chunks is None else None


def _with_workers(client: Any) -> Engine | None:
    """The cluster, if it has any: who fits a file may do without."""
    return Cluster(client) if client is not None and client.scheduler_info(n_workers=-1)["workers"] else None


def _open_array(X: Any, label: str) -> ChunkedRows:
    if X.ndim != 2:
        hint = " X.reshape(-1, 1) has one column." if X.ndim == 1 else ""
        raise BadData(f"Expected 2D array, got {X.ndim}D array instead: {label} has the shape {X.shape}.{hint}")
    if X.dtype.kind not in "fiub":
        advice = {"c": ": give real and imaginary parts as columns", "O": ": X.astype(float), if that is what they are"}
        raise BadData(
            f"{label} is an array of Dask with values of type {X.dtype}, and rows of numbers are needed"
            f"{advice.get(X.dtype.kind, '')}."
        )
    if np.isnan(X.shape[1]):
        raise BadData(f"{label} has chunks whose number of columns is not known: X.compute_chunk_sizes() finds it.")
    X, engine = with_whole_rows(X), engine_for()
    is_sparse = not isinstance(X._meta, np.ndarray) and hasattr(X._meta, "nnz")
    opened = AsRows(X.shape[1], single_or_double(X.dtype), None, label, is_sparse)
    counts = None if any(np.isnan(X.chunks[0])) else X.chunks[0]
    return _opened(engine, [row[0] for row in X.to_delayed()], counts, opened)


def _handles(engine: Engine, delayed: Sequence[Any]) -> list[Handle]:
    return list(delayed) if isinstance(engine, Cluster) else [partial(_computed, one) for one in delayed]


def _open_frame(X: Any, label: str) -> ChunkedRows:
    if X.ndim != 2:
        raise BadData(
            f"Expected 2D array, got 1D array instead: {label} is a Series of Dask; X.to_frame() has a column."
        )
    names = [name if isinstance(name, str) else str(name) for name in X.columns]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise BadData(f"{label} has more than one column of the name {listed(map(repr, twice))}: rename them.")
    wrong = [repr(name) for name, kind in zip(names, X.dtypes, strict=True) if not _is_number(kind)]
    if wrong:
        raise BadData(
            f"{label} is a frame with columns that are no numbers: {listed(wrong)}. Leave them out; KernelPCA "
            "compares columns of all kinds by kernel=mercer.kernels.TableKernel()."
        )
    kinds = {np.dtype(getattr(kind, "numpy_dtype", kind)) for kind in X.dtypes}
    texts = tuple(names) if all(isinstance(name, str) for name in X.columns) else None
    dtype = np.float32 if kinds == {np.dtype(np.float32)} else np.float64
    opened = AsRows(len(names), dtype, texts, label)
    return _opened(engine_for(), list(X.to_delayed()), None, opened)


def _is_number(kind: Any) -> bool:
    return getattr(kind, "kind", "O") in "fiub" or getattr(getattr(kind, "numpy_dtype", None), "kind", "O") in "fiub"


def _opened(engine: Engine, delayed: Sequence[Any], counts: Sequence[int] | None, opened: AsRows) -> ChunkedRows:
    """Chunks with at least a row each: empty ones are passed over."""
    handles, density = _handles(engine, delayed), None
    if counts is None or opened.sparse:
        looks = engine.collect(engine.map(_looked_at, handles))
        counts = [count for count, _ in looks]
        if opened.sparse:
            density = sum(stored for _, stored in looks) / max(1, sum(counts) * opened.width)
    there = [i for i, count in enumerate(counts) if count]
    if not opened.width:
        raise BadData(f"Found array with 0 feature(s) (shape=({sum(counts)}, 0)) while a minimum of 1 is required.")
    if not there:
        raise BadData(
            f"Found array with 0 sample(s) (shape=({sum(counts)}, {opened.width})) while a minimum of 1 is required: "
            f"no chunk of {opened.label} has any ({counted(len(counts), 'chunk')})."
        )
    counts = [int(counts[i]) for i in there]
    _refuse_large(engine, max(counts), opened)
    chunks = Chunks(engine, tuple(handles[i] for i in there), tuple(counts), opened)
    return ChunkedRows(chunks, opened.width, opened.dtype, names=opened.names, label=opened.label, density=density)


def _looked_at(chunk: Any, own: None) -> tuple[int, int]:
    """Its rows, and its numbers that are stored."""
    stored = sparse.issparse(chunk) or hasattr(chunk, "to_scipy_sparse")
    return chunk.shape[0], int(chunk.nnz) if stored else 0


def _computed(delayed: Any) -> Any:
    """By the scheduler that Dask was set to, if it is there; else on this thread, as others do not survive a fork."""
    asked = dask("config").get("scheduler", None)
    gone = asked in (None, "dask.distributed", "distributed")
    return delayed.compute(scheduler="synchronous" if gone else None)


def _refuse_large(engine: Engine, rows: int, opened: AsRows) -> None:
    """Before a worker is killed for it."""
    needed = COPIES * rows * opened.width * np.dtype(opened.dtype).itemsize
    if engine.room is None or opened.sparse or needed <= engine.room:
        return
    fits = max(1, engine.room // (COPIES * opened.width * np.dtype(opened.dtype).itemsize))
    raise NoRoom(
        f"{opened.label} has a chunk of {counted(rows, 'row')}, which takes about {bytes_in_words(needed)} while it is "
        f"worked on, and a thread of a worker has {bytes_in_words(engine.room)}: give chunks of at most {fits:,} rows "
        "(X.rechunk, repartition)."
    )
