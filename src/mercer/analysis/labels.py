"""Labels and metadata columns: classes or numbers."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import type_of_target

from mercer.errors import DataError
from mercer.text import counted

_MANY_CLASSES = 20  # different integers beyond which a column is numbers


def as_labels(y: Any) -> NDArray:
    """Labels as an array, one for each row or one row of numbers; none may be missing."""
    labels = y if isinstance(y, np.ndarray) else np.asarray(y, dtype=object)  # NaN among strings stays NaN
    n_missing = sum(map(is_missing, labels.ravel().tolist()))
    if n_missing:
        raise DataError(f"y has {counted(n_missing, 'missing or non-finite label')}. Leave these rows out.", source="y")
    if labels.dtype.kind == "O":  # strings or numbers held as objects
        labels = np.asarray(labels.tolist())
    labels = labels[:, 0] if labels.ndim == 2 and labels.shape[1] == 1 else labels
    if labels.ndim > 1 and labels.dtype.kind not in "iufb":
        raise DataError(f"y has the shape {labels.shape}; it must be one label for each row, or numbers.", source="y")
    return labels


def is_missing(label: Any) -> bool:
    """Whether it is None, NaN, pandas' NA, infinite, or a blank string as in files."""
    if isinstance(label, str):
        return not label.strip()
    return label is None or (label == label) is not True or label in (np.inf, -np.inf)


def are_classes(labels: NDArray) -> bool:
    """Strings, Booleans and integers of up to 20 values are classes; others are numbers."""
    if labels.ndim != 1:
        return False
    if labels.dtype.kind not in "iuf":
        return True
    with np.errstate(invalid="ignore"):  # a comparison with integers, which huge numbers are not
        kind = type_of_target(labels)
    return kind in ("binary", "multiclass") and len(np.unique(labels)) <= _MANY_CLASSES


def one_hot(labels: NDArray) -> NDArray:
    """A column of 0 and 1 for each class."""
    classes, codes = np.unique(labels, return_inverse=True)
    if len(classes) > max(_MANY_CLASSES, len(labels) // 2):
        raise DataError(f"y has {len(classes):,} different labels for {len(labels):,} rows: ids rather than classes.")
    return np.asarray(np.eye(len(classes))[codes.ravel()])
