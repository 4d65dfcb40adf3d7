"""Columns of the frames in .h5ad files: texts, numbers, categories and cells that may be missing."""

from typing import Any

import numpy as np

from mercer_old.arrays import arrow, hdf5
from mercer_old.errors import BadData, NoRoom, in_short
from mercer_old.limits import bytes_in_words
from mercer_old.sources.beside import Column

__all__ = ["cells_of", "count_in", "names_in", "refuse_elsewhere", "whole"]

_LETTERS = 60  # bytes of a text in memory, more or less


def names_in(frame: Any, label: str, which: str, most: float) -> list[str]:
    """The index of a frame, as texts."""
    count = count_in(frame, label, which)
    return [str(name) for name in cells_of(frame, str(frame.attrs["_index"]), count, label, most)]


def count_in(frame: Any, label: str, which: str) -> int:
    """How long the index of a frame is, which is not read."""
    index = frame.attrs.get("_index")
    if index is None or str(index) not in frame:
        raise BadData(f"{label} is damaged: {which} has no index.")
    refuse_elsewhere(frame, str(index), label)
    return _length(frame[str(index)], str(index), label)


def whole(element: Any, label: str, most: float) -> Any:
    """All of a list of numbers or texts, if it fits: a small file may claim a long one."""
    need = element.size * max(element.dtype.itemsize, _LETTERS if _is_text(element) else 0)
    if need > most:
        name, limit = in_short(element.name), bytes_in_words(most)
        raise NoRoom(f"{label}: {name} takes about {bytes_in_words(need)}, over the limit of {limit}.")
    return element[...]


def cells_of(frame: Any, name: str, count: int, label: str, most: float) -> Column:
    """A column as Arrow has it: categories as what they stand for, missing cells as gaps."""
    refuse_elsewhere(frame, name, label)
    length = _length(frame[name], name, label)
    if length != count:
        raise BadData(f"{label} is damaged: column {name!r} of obs has {length:,} cells for {count:,} rows.")
    return Column(_cells(frame[name], name, label, most))


def _parts(element: Any) -> tuple[str, str]:
    """Of a column that is stored in two: cells, and what is to be known of them."""
    kind = str(element.attrs.get("encoding-type", ""))
    return ("codes", "categories") if kind == "categorical" else ("values", "mask")


def _length(element: Any, name: str, label: str) -> int:
    """How many cells a column has."""
    if hasattr(element, "keys"):
        parts, kind = _parts(element), str(element.attrs.get("encoding-type", ""))
        if any(part not in element for part in parts):
            raise BadData(
                f"{label}: column {name!r} of obs is stored as {in_short(kind)}, which cannot be written along."
            )
        for part in parts:
            refuse_elsewhere(element, part, label)
        lengths = [_length(element[part], name, label) for part in parts]
        if parts == ("values", "mask") and lengths[0] != lengths[1]:
            raise BadData(
                f"{label} is damaged: column {name!r} of obs has {lengths[0]:,} cells and {lengths[1]:,} marks."
            )
        return lengths[0]
    if getattr(element, "ndim", 0) != 1:
        raise BadData(f"{label} is damaged: column {name!r} is no list of cells.")
    return len(element)


def _cells(element: Any, name: str, label: str, most: float) -> Any:
    lib = arrow("lib")
    if not hasattr(element, "keys"):
        return lib.array(_texts(element, label, most))
    first, second = (element[part] for part in _parts(element))
    if "values" in element:
        return lib.array(_texts(first, label, most), mask=whole(second, label, most).astype(bool))
    codes, categories = whole(first, label, most).astype(np.int64), _cells(second, name, label, most)
    if len(codes) and not (codes.min() >= -1 and codes.max() < len(categories)):
        raise BadData(f"{label} is damaged: column {name!r} of obs has categories that are not there.")
    return categories.take(lib.array(codes, mask=codes < 0))


def _is_text(element: Any) -> bool:
    return bool(element.dtype.kind in "OS")


def _texts(element: Any, label: str, most: float) -> Any:
    """Texts as Python has them; numbers as they are."""
    cells = whole(element, label, most)
    if not _is_text(element):
        return cells
    return [one.decode("utf-8", "backslashreplace") if isinstance(one, bytes) else str(one) for one in cells]


def refuse_elsewhere(home: Any, name: str, label: str) -> None:
    """A file may point to others, which nobody asked to be read."""
    link = home.get(name, getlink=True) if name in home else None
    element = home[name] if isinstance(link, hdf5().HardLink) else None
    away = element is None or (hasattr(element, "external") and (element.external or element.is_virtual))
    if away:
        raise BadData(f"{label}: {in_short(name)} is not in this file, but a link to elsewhere, which is not followed.")
