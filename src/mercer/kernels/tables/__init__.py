"""Kernels on tables of mixed types."""

from mercer.kernels.tables.column_kinds import Categorical, ColumnKind, Datetime, Numeric, Ordinal, Sets, String
from mercer.kernels.tables.table_kernel import TableKernel

__all__ = ["Categorical", "ColumnKind", "Datetime", "Numeric", "Ordinal", "Sets", "String", "TableKernel"]
