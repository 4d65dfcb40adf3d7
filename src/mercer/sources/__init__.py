"""Where items come from: memory, files, tables.

`items` is the contract: n things that can be counted, cut into blocks, taken by number and read again and again. `held`
has those in memory, `npy`, `tables` and `delimited` read files block by block, and `files` opens whatever a path names.
Whatever is wrong with a file is said in one sentence with its row and column.
"""

from mercer.sources.files import open_rows
from mercer.sources.held import (
    CheckedRows,
    Given,
    HeldRows,
    MappedRows,
    ScaledRows,
    by_columns,
    copies_of,
    groups_of,
    same_items,
    some_rows,
    width_of,
)
from mercer.sources.items import Items, Rows
from mercer.sources.stored import FileRows
from mercer.sources.texts import Texts

__all__ = [
    "CheckedRows",
    "FileRows",
    "Given",
    "HeldRows",
    "Items",
    "MappedRows",
    "Rows",
    "ScaledRows",
    "Texts",
    "by_columns",
    "copies_of",
    "groups_of",
    "open_rows",
    "same_items",
    "some_rows",
    "width_of",
]
