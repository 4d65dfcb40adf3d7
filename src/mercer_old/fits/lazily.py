"""Scores of Dask's collections: promised here, computed chunk by chunk when somebody asks."""

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from functools import partial, wraps
from itertools import accumulate
from typing import Any, TypeVar

import numpy as np
from sklearn import get_config
from sklearn.utils.validation import check_is_fitted

from mercer_old.arrays import Array, dask
from mercer_old.errors import BadData
from mercer_old.fits.door import refuse_other_names
from mercer_old.sources.collections import is_bag, is_collection, is_frame, with_whole_rows

_Method = TypeVar("_Method", bound=Callable[..., Any])


def lazy_on_collections(transform: _Method) -> _Method:
    """A method of rows that makes an array of Dask of one, or of a frame, without computing anything."""

    @wraps(transform)
    def either(self: Any, X: Any, *args: Any, **kwargs: Any) -> Any:
        if not is_collection(X):
            return transform(self, X, *args, **kwargs)
        check_is_fitted(self)
        _refuse_frames(self)
        like = _Like(len(self.get_feature_names_out()), np.dtype(self._dtype))
        return _promised(self, X, partial(_of_chunk, transform, args, kwargs, like), like)

    return either  # type: ignore[return-value]


def fit_transform_lazily(fit_transform: _Method) -> _Method:
    """Of a collection, a fit, and the promise of its scores; what the fit has had on the way is cut as the rows are."""

    @wraps(fit_transform)
    def either(self: Any, X: Any, *args: Any, **kwargs: Any) -> Any:
        if not is_collection(X):
            return fit_transform(self, X, *args, **kwargs)
        self.fit(X, *args, **kwargs)
        scores = getattr(self, "embedding_", getattr(self, "_training", None))
        if scores is None or len(scores) != _length_seen(self, X, len(scores)):
            return self.transform(X)
        cut = X.chunks[0] if hasattr(X, "chunks") else len(scores)
        return dask("array").from_array(scores.astype(self._dtype), chunks=(cut, -1))

    return either  # type: ignore[return-value]


def rows_promised(model: Any, X: Any, method: Callable[..., Any]) -> Any:
    """What a method makes of the rows of a collection, with as many columns as they have, in double precision."""
    like = _Like(int(model.n_features_in_), np.dtype(np.float64))
    return _promised(model, X, partial(_of_chunk, method, (), {}, like), like)


@dataclass(frozen=True)
class _Like:
    """What a promise will be like."""

    width: int
    dtype: Any


def _length_seen(model: Any, X: Any, scores: int) -> int:
    """Of an array whose chunks are known; of others as many as have scores, unless the fit left some out: −1 then."""
    rows = np.nan if is_frame(X) or is_bag(X) else X.shape[0]
    return int(rows) if not np.isnan(rows) else scores if getattr(model, "_kept_items", None) is None else -1


def _promised(model: Any, X: Any, work: Callable[..., Array], like: _Like) -> Any:
    """As many rows as X has."""
    array, delayed = dask("array"), dask("delayed").delayed
    alone = copy(model)
    alone.n_jobs, alone.progress = 1, False  # chunks are shared out, and not what is within them
    sent = delayed(alone, traverse=False, pure=False)
    if is_bag(X):
        parts, rows = X.to_delayed(), [np.nan] * X.npartitions
    elif is_frame(X):
        _refuse_others(model, len(X.columns))
        _refuse_names(model, list(X.columns))
        parts, rows = X.to_delayed(), [np.nan] * X.npartitions
    elif X.ndim == 1:  # of texts
        parts, rows = list(X.to_delayed()), X.chunks[0]
    else:
        _refuse_others(model, X.shape[1])
        X = with_whole_rows(X)
        parts, rows = [row[0] for row in X.to_delayed()], X.chunks[0]
    made, starts = delayed(work, pure=False), [0, *accumulate(rows)]
    chunks = [
        array.from_delayed(made(part, sent, _named(number, start)), shape=(count, like.width), dtype=like.dtype)
        for number, (part, start, count) in enumerate(zip(parts, starts, rows, strict=False))
    ]
    return array.concatenate(chunks, allow_unknown_chunksizes=True)


def _named(number: int, start: float) -> str:
    return f"chunk {number}, whose rows are counted from 0" if np.isnan(start) else f"the chunk from row {start:.0f} on"


def _of_chunk(
    method: Callable[..., Array], args: Any, kwargs: Any, like: _Like, chunk: Any, model: Any, name: str
) -> Array:
    chunk = chunk if hasattr(chunk, "shape") else list(chunk)  # of a bag, which may be read only once
    chunk = chunk.to_scipy_sparse() if hasattr(chunk, "to_scipy_sparse") else chunk
    if not len(chunk if isinstance(chunk, list) else range(chunk.shape[0])):
        return np.empty((0, like.width), dtype=like.dtype)
    try:
        return np.asarray(method(model, chunk, *args, **kwargs)).astype(like.dtype, copy=False)
    except ValueError as error:
        raise BadData(f"In {name}: {error}") from None


def _refuse_frames(model: Any) -> None:
    """scikit-learn would compute everything to make a frame of it."""
    asked = getattr(model, "_sklearn_output_config", {}).get("transform", get_config()["transform_output"])
    if asked != "default":
        raise ValueError(
            f"Scores of a collection of Dask are an array of Dask, and set_output asks for {asked}: "
            'set_output(transform="default") first.'
        )


def _refuse_others(model: Any, width: int) -> None:
    """At once, in scikit-learn's words: a chunk may be looked at much later."""
    if width != model.n_features_in_:
        raise ValueError(
            f"X has {width} features, but {type(model).__name__} is expecting {model.n_features_in_} features as input."
        )


def _refuse_names(model: Any, names: list[Any]) -> None:
    """The same of columns, where all have names; those of tables are found in any order."""
    by_name = getattr(getattr(model, "kernel_", None), "takes", "rows") == "tables"
    if not by_name and all(isinstance(name, str) for name in names):
        refuse_other_names(getattr(model, "feature_names_in_", None), names)
