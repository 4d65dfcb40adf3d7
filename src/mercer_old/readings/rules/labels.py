"""A rule that knows labels: how many components they need."""

from typing import Any

import numpy as np

from mercer_old.arrays import Array
from mercer_old.errors import BadData
from mercer_old.readings.rules.scree import Opinion, silent
from mercer_old.readings.targets import are_classes, as_labels, as_targets

__all__ = ["label_columns", "label_criterion", "relevant_dimension"]

_LARGEST = 0.5  # share of the rows: more components fit any labels


def relevant_dimension(vectors: Array, labels: Array) -> Opinion:
    """The d after which components carry no more of the labels than of noise (Braun, Buhmann and Müller 2008).

    zᵢ = uᵢᵀy for unit vectors uᵢ and centred labels y; two normal samples, z₁ … z_d of variance σ₁² and the rest of
    variance σ₂², and the d of the largest likelihood:

        minimise (d/n)·log σ₁² + ((n − d)/n)·log σ₂²,   σ₁² = Σ_{i≤d} zᵢ²/d,   σ₂² = (‖y‖² − Σ_{i≤d} zᵢ²)/(n − d),

    over d ≤ n/2; classes are columns of ones and zeros, whose zᵢ² are added up. Needs labels and leading vectors
    alone, as ‖y‖² is known. The smallest of equals. It means nothing if all labels are the same.
    """
    y = labels - labels.mean(axis=0)
    if not np.any(np.abs(y) > 1e-12 * np.abs(labels).max(initial=0.0)):
        return silent("labels", "all labels are the same")
    criterion = label_criterion(vectors, y)
    if not len(criterion):
        return silent("labels", "no component comes with two rows or more of its own")
    k = int(np.argmin(criterion)) + 1
    ends = k == len(criterion) == vectors.shape[1] and 2 * k < len(y)
    why = f"beyond them labels are noise, by the first {len(criterion)} components"
    return Opinion("labels", k, why, ends)


def label_criterion(vectors: Array, y: Array) -> Array:
    """The criterion above for d = 1, 2, … as far as there are vectors, and up to half the rows."""
    n, total = len(y), float(np.sum(y**2))
    most = min(vectors.shape[1], int(_LARGEST * n))
    d, found = np.arange(1, most + 1), np.cumsum(np.sum((vectors[:, :most].T @ y) ** 2, axis=1))
    floor = np.finfo(float).eps * total  # nothing is left, or nothing found: to rounding
    inside, outside = np.maximum(found, floor) / d, np.maximum(total - found, floor) / (n - d)
    return d / n * np.log(inside) + (n - d) / n * np.log(outside)


def label_columns(y: Any) -> Array:
    """Labels as columns: numbers as they are, classes as ones and zeros."""
    labels = as_labels(y)
    if labels.ndim != 1 or not len(labels):
        raise BadData(f"y has to be one label for each row; got an array of shape {labels.shape}.")
    return as_targets(labels, are_classes(labels))
