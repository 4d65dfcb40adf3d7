"""Mixed tables: a kind for every column, and the kernel that adds up what they say.

`base` is the contract of a column: cells in, rows of numbers or texts out, and the kernel that compares those.
`numbers`, `categories`, `ranks`, `dates` and `things` are its kinds, `guess` says which of them a column is, and
`kernel` brings all columns to one scale. It reads no frame: that is done in `sources`.
"""

from mercer_old.kernels.tables.categories import Category
from mercer_old.kernels.tables.dates import Date
from mercer_old.kernels.tables.kernel import TableKernel
from mercer_old.kernels.tables.numbers import Numeric
from mercer_old.kernels.tables.ranks import Ordinal
from mercer_old.kernels.tables.things import Sets, Text

__all__ = ["Category", "Date", "Numeric", "Ordinal", "Sets", "TableKernel", "Text"]
