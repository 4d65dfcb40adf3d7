"""Tables whose columns are the rows: every gene has a line, every sample a column."""

import numpy as np

from mercer_old.errors import BadData, NoRoom, counted
from mercer_old.limits import bytes_in_words
from mercer_old.sources.held import HeldRows, as_read
from mercer_old.sources.items import Rows

__all__ = ["transposed"]


def transposed(rows: Rows, most: float) -> HeldRows:
    """The columns of a file as rows, in memory: names of rows become names of columns, and the other way round."""
    if rows.beside:
        raise BadData(
            f"{rows.label}: label and keep name columns, and when it is transposed columns are rows: leave them out."
        )
    if rows.sparse:
        raise BadData(f"{rows.label} is sparse and cannot be transposed as it is read.")
    need = 2 * rows.nbytes + rows.overhead
    if need > most:
        raise NoRoom(
            f"{rows.label}: to be transposed, {rows.shape[0]:,}×{rows.shape[1]:,} numbers need {bytes_in_words(need)}, "
            f"over the limit of {bytes_in_words(most)}. Give a larger memory_limit, or store the table transposed."
        )
    d, n = rows.shape
    note = f"transposed: {counted(n, 'row')} of {counted(d, 'column')}, {bytes_in_words(need)} in memory"
    return as_read(
        np.ascontiguousarray(rows.load().T),
        rows.path,
        rows.label,
        names=None if rows.row_names is None else tuple(map(str, rows.row_names)),
        row_names=None if rows.names is None else list(rows.names),
        heading="name",
        notes=(*rows.notes, note),
    )
