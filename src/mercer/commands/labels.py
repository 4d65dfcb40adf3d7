"""The column of a file that has labels, for commands that compare rows by them."""

from pathlib import Path

import numpy as np

from mercer.arrays import Array
from mercer.errors import BadData, are, counted
from mercer.sources.cells import things_of
from mercer.sources.frames import open_table
from mercer.terminal import plain


def labels_in(path: Path, column: str, memory: str | None = None) -> Array:
    """Numbers, or anything that names classes; a gap is no label."""
    labels = things_of(open_table(path, memory).only([column], []).columns.cells[column])
    gaps = sum(label is None or label != label for label in labels)
    if gaps:
        raise BadData(
            f"{plain(path)}: {counted(gaps, 'label')} of column {column!r} {are(gaps)} missing; fill them in."
        )
    return np.asarray(labels)
