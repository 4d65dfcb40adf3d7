"""What is to be said of columns before a fit: those that say nothing, and one that says everything."""

from typing import Any

from mercer_old.errors import counted, listed
from mercer_old.models.pca import AtOnce
from mercer_old.readings.columns import about_unit, constant
from mercer_old.sources.items import Items
from mercer_old.sources.row_numbers import first_rows
from mercer_old.terminal import say_warning

__all__ = ["tell_of_columns"]


def tell_of_columns(items: Items, model: Any) -> None:
    """Columns that say nothing, and one that says everything, where the model says nothing about them.

    Factor analysis has no `standardize`: units make no difference to it.
    """
    if getattr(model, "standardize", True) or items.kind != "rows":
        return
    rows = items.as_rows()
    same, looked = constant(rows)
    if same:
        some = listed(str(j) if rows.names is None else repr(rows.names[j]) for j in same)
        where = "" if looked == rows.shape[0] else f" in the first {counted(looked, 'row')}"
        which = f"Columns {some} are" if len(same) > 1 else f"Column {some} is"
        say_warning(f"{which} constant{where}: no use as a feature.")
    by_products = isinstance(model, AtOnce) or getattr(model, "kernel", None) in ("linear", "poly", "sigmoid")
    unit = about_unit(first_rows(rows), rows.names) if by_products else ""
    if unit:
        first = "the first components are" if unit.startswith("Columns ") else "the first component is"
        say_warning(f"{unit}, so that {first} little else. Unless that is meant, try --standardize.")
