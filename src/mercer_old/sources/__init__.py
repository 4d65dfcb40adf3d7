"""Where items come from: memory, files, tables.

`items` is the contract: n things that can be counted, cut into blocks, taken by number and read again and again. `held`
has those in memory, `npy`, `tables`, `delimited` and `h5ad` read files block by block, `folders` many at a time,
`streams` what other libraries hand over, `npz`, `images` and `transposed` at once; `groups` has Parquet for workers;
`texts`, `lines` and `text_columns` have texts, `cells` and `frames` mixed tables, and `files` opens whatever a path
names. `roles` says which column is what, and `beside` holds those that are no features: names, labels, kept ones.
`weights` are checked here, and `row_numbers` knows a column that counts rows. Whatever is wrong with a file is said in
one sentence with its row and column.
"""

from mercer_old.sources.files import open_rows, open_texts
from mercer_old.sources.held import (
    CheckedRows,
    Given,
    HeldRows,
    MappedRows,
    ScaledRows,
    by_columns,
    bytes_of,
    groups_of,
    same_items,
    some_rows,
    width_of,
)
from mercer_old.sources.items import Items, Rows
from mercer_old.sources.row_numbers import (
    about_index,
    about_row_numbers,
    about_steps_of_one,
    counting,
    first_rows,
    is_index,
)
from mercer_old.sources.stored import FileRows
from mercer_old.sources.texts import Texts
from mercer_old.sources.weights import about_total_weight, check_weights, copies_of, per_degree_of_freedom

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
    "about_index",
    "about_row_numbers",
    "about_steps_of_one",
    "about_total_weight",
    "by_columns",
    "bytes_of",
    "check_weights",
    "copies_of",
    "counting",
    "first_rows",
    "groups_of",
    "is_index",
    "open_rows",
    "open_texts",
    "per_degree_of_freedom",
    "same_items",
    "some_rows",
    "width_of",
]
