"""A column of anything as codes: categories and numbers, by the rules that pictures go by."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from mercer_old.arrays import Array
from mercer_old.displays.palette import MOST_COLOURS
from mercer_old.errors import BadData, counted, shortened
from mercer_old.readings.targets import are_classes, is_missing
from mercer_old.report.cloud.packing import pack, pack_list, quantised
from mercer_old.report.cloud.record import Column

__all__ = ["as_column", "as_texts"]

_EXACT = 5_000  # rows whose numbers are kept to seven digits; of more, to five


def as_column(name: str, values: Any, count: int) -> Column:
    """Texts, truths and whole numbers of a few values are categories; all else are numbers."""
    cells = np.asarray(values) if not isinstance(values, Sequence) else np.asarray(list(values), dtype=object)
    if cells.shape != (count,):
        length = f"{len(cells):,}" if cells.ndim == 1 else f"the shape {cells.shape}"
        raise BadData(
            f"The column {shortened(name, 60)!r} has {length} for {counted(count, 'row')}: give one value for each row."
        )
    known, missing = _known(cells)
    if known.dtype.kind in "iuf" and not are_classes(known):
        numbers = np.full(count, np.nan)
        numbers[~missing] = known.astype(np.float64)
        return _of_numbers(name, numbers)
    return _of_categories(name, known, missing)


def as_texts(values: Any) -> list[str]:
    """Cells as people read them: 3 for 3.0, nothing for what is missing."""
    cells = np.asarray(values)
    if cells.dtype.kind == "M":
        return ["" if cell == "NaT" else cell for cell in _dates(cells)]
    return ["" if is_missing(cell) else _text(cell) for cell in cells.tolist()]


def _known(cells: Array) -> tuple[Array, Array]:
    """Cells that are there, as numbers or texts, and which are not."""
    if cells.dtype.kind in "iub":
        return cells, np.zeros(len(cells), dtype=bool)
    if cells.dtype.kind == "f":
        missing = ~np.isfinite(cells)
        return cells[~missing], missing
    if cells.dtype.kind == "M":
        missing = np.isnat(cells)
        return np.asarray(_dates(cells[~missing])), missing
    listed = cells.tolist()
    missing = np.fromiter(map(is_missing, listed), dtype=bool, count=len(listed))
    there = [cell for cell, gone in zip(listed, missing.tolist(), strict=True) if not gone]
    if there and all(isinstance(cell, int | float | np.number) and not isinstance(cell, bool) for cell in there):
        return np.asarray(there), missing
    known = np.empty(len(there), dtype=object)
    known[:] = [_text(cell) for cell in there]
    return known, missing


def _dates(cells: Array) -> list[str]:
    """Days as days, with hours or parts of seconds where some have them."""
    return list(np.datetime_as_string(cells, unit="auto").tolist())


def _of_numbers(name: str, numbers: Array) -> Column:
    low, high, step, codes = quantised(numbers, whole=True)
    if len(numbers) <= _EXACT and step != 1 and _fit_four_bytes(numbers):
        return Column(name, "number", 4, pack(numbers.astype(np.float32)), low=low, high=high)
    return Column(name, "number", 2, pack(codes), low=low, high=high, step=step)


def _fit_four_bytes(numbers: Array) -> bool:
    """Whether none of them is endless as a float of four bytes, or nearly zero."""
    sizes = np.abs(numbers[np.isfinite(numbers) & (numbers != 0)])
    bounds = np.finfo(np.float32)
    return bool(np.all((sizes >= bounds.tiny) & (sizes <= bounds.max)))


def _of_categories(name: str, known: Array, missing: Array) -> Column:
    """In the order of names if each has a colour of its own, else the largest first."""
    cells = [_text(cell) for cell in known.tolist()]
    sizes = Counter(cells)
    few = len(sizes) <= MOST_COLOURS
    plain_order = {cell: place for place, cell in enumerate(dict.fromkeys(known.tolist() if few else ()))}
    names = _in_order(plain_order) if few else [cell for cell, _ in sizes.most_common()]
    dtype = next(kind for kind in (np.uint8, np.uint16, np.uint32) if len(names) <= np.iinfo(kind).max)
    place = {cell: code for code, cell in enumerate(names)}
    codes = np.full(len(missing), np.iinfo(dtype).max, dtype=dtype)
    codes[~missing] = [place[cell] for cell in cells]
    width = np.dtype(dtype).itemsize
    return Column(name, "category", width, pack(codes), pack_list(names), len(names))


def _in_order(values: dict[Any, int]) -> list[str]:
    """By size if they are numbers, by letters if they are texts; 3 and 3.0 are one."""
    return list(dict.fromkeys(_text(value) for value in sorted(values)))


def _text(cell: Any) -> str:
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)
