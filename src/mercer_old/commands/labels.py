"""The column of a file that has labels, for commands that compare rows by them."""

import numpy as np

from mercer_old.arrays import Array
from mercer_old.commands.script import Piece
from mercer_old.errors import BadData, are, counted
from mercer_old.readings.targets import is_missing
from mercer_old.sources.cells import as_cells, things_of
from mercer_old.sources.items import Items


def labels_of(items: Items, column: str, with_gaps: bool = False) -> Array:
    """Numbers, or anything that names classes, of a column that was kept; a gap is no label, and None where allowed."""
    labels = [None if is_missing(label) else label for label in things_of(as_cells(list(items.beside[column])))]
    gaps = labels.count(None)
    if gaps and not with_gaps:
        which = f"{counted(gaps, 'label')} of column {column!r} {are(gaps)}"
        raise BadData(f"{items.label}: {which} missing; fill them in.")
    return np.asarray(labels)


def column_beside(rows: Piece, column: str) -> Piece:
    """The labels of such rows in Python."""
    return Piece(f"list({rows.text}.beside[{column!r}])")
