"""What labels are: classes, or numbers; and the columns that kernels and components are compared with."""

from typing import Any

import numpy as np
from sklearn.utils.multiclass import type_of_target

from mercer_old.arrays import Array
from mercer_old.errors import BadData, are, counted

__all__ = ["are_classes", "as_labels", "as_targets", "is_missing"]

_MANY_CLASSES = 20  # whole numbers of more values than this are numbers, not classes; names beyond, of half the rows


def as_labels(y: Any) -> Array:
    """Labels as an array, none of them missing: one for each row, or for several targets a row of numbers."""
    labels = np.asarray(y)
    missing = sum(map(is_missing, labels.ravel().tolist()))
    if missing:
        raise BadData(f"y has {counted(missing, 'label')} that {are(missing)} missing or not finite; leave them out.")
    if labels.dtype.kind == "O":  # texts, or numbers, that were held as objects
        labels = np.asarray(labels.tolist())
    labels = labels[:, 0] if labels.ndim == 2 and labels.shape[1] == 1 else labels
    if labels.ndim > 1 and labels.dtype.kind not in "iufb":
        raise BadData(f"y has to be one label for each row, or numbers; got an array of shape {labels.shape}.")
    return labels


def is_missing(label: Any) -> bool:
    """None, NaN, pandas' NA, which is not even known to be itself, infinite, or a blank text, as files have them."""
    if isinstance(label, str):
        return not label.strip()
    return label is None or (label == label) is not True or label in (np.inf, -np.inf)


def are_classes(labels: Array) -> bool:
    """Texts, truth values and whole numbers of up to 20 values are labels of classes; all else are numbers."""
    if labels.ndim != 1:
        return False
    if labels.dtype.kind not in "iuf":
        return True
    with np.errstate(invalid="ignore"):  # it compares with whole numbers, of which huge ones are none
        kind = type_of_target(labels)
    return kind in ("binary", "multiclass") and len(np.unique(labels)) <= _MANY_CLASSES


def as_targets(labels: Array, classes: bool) -> Array:
    """One column of 0 and 1 for every class, or the numbers themselves."""
    if not classes:
        numbers = np.asarray(labels, dtype=np.float64)
        return numbers.reshape(len(numbers), -1)
    different, number = np.unique(labels, return_inverse=True)
    if len(different) > max(_MANY_CLASSES, len(labels) // 2):
        raise BadData(f"y has {len(different):,} different labels of {len(labels):,} rows: names of rows, not classes.")
    columns = np.zeros((len(labels), len(different)))
    columns[np.arange(len(labels)), number.ravel()] = 1.0
    return columns
