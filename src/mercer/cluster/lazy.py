"""Scores of Dask collections as Dask arrays, computed chunk by chunk when they are needed."""

from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import dask.array as da
import numpy as np
from dask.delayed import delayed
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.utils.validation import check_is_fitted

from mercer.cluster.dask_dataset import SampleReader, VectorReader, for_workers, read_collection
from mercer.cluster.executor import Sealed, delayed_run
from mercer.data.dataset import ArrayDataset
from mercer.data.validation import check_features
from mercer.errors import DataError, ParameterError


def lazy_transform(model: Any, X: Any, method: str = "transform", **options: Any) -> Any:
    """Apply a method of a fitted estimator to a Dask collection; nothing is computed.

    Parameters
    ----------
    model : estimator
        A fitted estimator. Tasks use a copy of it, with ``n_jobs=1``.
    X : Dask collection
        Samples, or scores for ``method="inverse_transform"``.
    method : {"transform", "inverse_transform", "impute"}, default="transform"
        What is applied to every chunk.
    **options
        Options of the method; they must not change the shape of its result.

    Returns
    -------
    result : dask.array.Array
        As many rows as X, in the same chunks; of unknown length if X is a frame or a bag.
    """
    check_is_fitted(model)
    _check_output_config(model)
    if given := [name for name, value in options.items() if name in ("n_imputations", "return_std") and value]:
        raise ParameterError(given[0], options[given[0]], "left out for a Dask collection")
    is_scores = method == "inverse_transform"
    partitions, counts, reader = read_collection(X, "vectors" if is_scores else model.input_kind)
    sample = _check_width(model, reader) if is_scores else _check_features(model, reader)
    if method == "transform":
        width, dtype = len(model.get_feature_names_out()), np.dtype(model._score_dtype(sample))
    else:
        width = int(model.n_features_in_)
        dtype = np.dtype(np.float64 if method == "impute" else model._score_dtype(sample))
    work = delayed(Sealed(_Chunkwise(for_workers(model), method, options, reader, width, dtype)), pure=False)
    lengths = [np.nan] * len(partitions) if counts is None else counts
    starts: list[Any] = [None] * len(partitions) if counts is None else [0, *accumulate(counts)]
    chunks = [
        da.from_delayed(  # type: ignore[no-untyped-call]
            delayed_run(work, partition, i, starts[i]), shape=(length, width), dtype=dtype
        )
        for i, (partition, length) in enumerate(zip(partitions, lengths, strict=True))
    ]
    return da.concatenate(chunks, allow_unknown_chunksizes=True)  # type: ignore[no-untyped-call]


def lazy_fit_transform(model: Any, X: Any, scores: NDArray | None) -> Any:
    """The training scores of a Dask collection, after a fit that may have computed them already."""
    _check_output_config(model)
    if scores is None:
        return lazy_transform(model, X)
    known = hasattr(X, "chunks") and not np.isnan(X.chunks[0]).any()
    return da.from_array(scores, chunks=(X.chunks[0] if known else len(scores), -1))  # type: ignore[no-untyped-call]


def _check_output_config(model: Any) -> None:
    """Raise if scores were requested as a frame: scikit-learn would compute all of them for it."""
    requested = getattr(model, "_sklearn_output_config", {}).get("transform", get_config()["transform_output"])
    if requested != "default":
        raise ParameterError(
            "transform",
            requested,
            "'default'",
            message=f"Scores of a Dask collection are a Dask array, but set_output requests {requested!r}. "
            'Try set_output(transform="default").',
        )


def _check_features(model: Any, reader: VectorReader | SampleReader) -> ArrayDataset:
    """Compare the features with those of the fit now: tasks run much later. Returns samples of this kind."""
    sample = ArrayDataset(np.empty((0, reader.n_features), reader.dtype))
    sample.feature_names = reader.feature_names
    if reader.kind != "table":  # a table kernel finds its columns by name
        check_features(model, sample, reset=False)
    return sample


def _check_width(model: Any, reader: Any) -> ArrayDataset:
    n_components = len(model.get_feature_names_out())
    if reader.n_features != n_components:
        raise DataError(
            f"X has {reader.n_features} features, but inverse_transform expects {n_components}: one per component."
        )
    return ArrayDataset(np.empty((0, n_components), reader.dtype))


@dataclass
class _Chunkwise:
    """The method of the model, for one partition after the other."""

    model: Any
    method: str
    options: dict[str, Any]
    reader: Any
    width: int
    dtype: np.dtype

    def __call__(self, partition: Any, number: int, start: int | None) -> NDArray:
        partition = partition if hasattr(partition, "shape") else list(partition)
        if not (partition.shape[0] if hasattr(partition, "shape") else len(partition)):
            return np.empty((0, self.width), self.dtype)
        try:
            data = self.reader(partition, start or 0, self.model.accepts_missing)
            found = getattr(self.model, self.method)(
                data.load() if self.method == "inverse_transform" else data, **self.options
            )
        except DataError as error:
            where = f"partition {number}" if start is None else f"the partition from row index {start}"
            raise DataError(f"In {where}: {error}") from None
        return np.asarray(found).astype(self.dtype, copy=False)
