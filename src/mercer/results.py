"""Result: the base class of every table that a user gets back."""

from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

_SHOWN = 20  # rows of a printed table


class Result:
    """A table with a summary: prints as text, shows itself in notebooks, becomes a frame or a file."""

    @property
    def summary(self) -> str:
        """One to three sentences."""
        raise NotImplementedError

    def columns(self) -> dict[str, Sequence[Any]]:
        """The table, column by column."""
        raise NotImplementedError

    def to_dict(self) -> dict[str, Any]:
        """Summary and columns as plain Python objects."""
        return {"summary": self.summary, **{name: plain(values) for name, values in self.columns().items()}}

    def to_frame(self) -> Any:
        """The table as a pandas DataFrame."""
        import pandas as pd

        return pd.DataFrame(self.columns())

    def write(self, path: str | Path) -> Path:
        """Write the table to a file, which appears when it is complete.

        Parameters
        ----------
        path : str or path
            A .csv, .tsv, .csv.gz, .tsv.gz, .parquet, .arrow, .feather or .npz file.

        Returns
        -------
        path : pathlib.Path
            The file.
        """
        from mercer.data.writers import write_table

        return write_table(self.columns(), Path(path))

    def _cells(self) -> tuple[list[list[str]], int]:
        """Header and first rows as strings, and how many rows are left out."""
        table = self.columns()
        n_rows = max((len(values) for values in table.values()), default=0)
        rows = [[_cell(values[i]) for values in table.values()] for i in range(min(n_rows, _SHOWN))]
        return [list(table), *rows], n_rows - len(rows)

    def __str__(self) -> str:
        cells, hidden = self._cells()
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines = ["  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in cells]
        return "\n".join([self.summary, "", *lines, *([f"({hidden:,} more rows)"] if hidden else [])])

    def _repr_html_(self) -> str:
        (header, *rows), hidden = self._cells()
        head = "".join(f"<th>{escape(name)}</th>" for name in header)
        body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
        more = f"<p>{hidden:,} more rows</p>" if hidden else ""
        table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        return f"<p>{escape(self.summary)}</p>{table}{more}"


def plain(value: Any) -> Any:
    """Arrays, numpy scalars and tuples as plain Python objects."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value


def _cell(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, (float, np.floating)) else str(value)
