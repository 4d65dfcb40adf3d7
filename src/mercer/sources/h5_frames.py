"""Columns of the frames in .h5ad files: texts, numbers, categories and cells that may be missing."""

from typing import Any

import numpy as np

from mercer.arrays import arrow, hdf5
from mercer.errors import BadData, NoRoom, in_short
from mercer.limits import bytes_in_words
from mercer.sources.beside import Column

__all__ = ["cells_of", "names_in", "refuse_elsewhere"]

_LETTERS = 60  # bytes of a text in memory, more or less


def names_in(frame: Any, label: str, which: str) -> Any:
    """The index of a frame, as a list of texts."""
    index = frame.attrs.get("_index")
    if index is None or str(index) not in frame:
        raise BadData(f"{label} is damaged: {which} has no index.")
    refuse_elsewhere(frame, str(index), label)
    return _texts(frame[str(index)])


def cells_of(frame: Any, name: str, count: int, label: str, most: float) -> Column:
    """A column as Arrow has it: categories as what they stand for, missing cells as gaps."""
    refuse_elsewhere(frame, name, label)
    if _LETTERS * count > most:
        need = bytes_in_words(_LETTERS * count)
        raise NoRoom(f"{label}: column {name!r} takes about {need}, over the limit of {bytes_in_words(most)}.")
    cells = _cells(frame[name], name, label)
    if len(cells) != count:
        raise BadData(f"{label} is damaged: column {name!r} of obs has {len(cells):,} cells for {count:,} rows.")
    return Column(cells)


def _cells(element: Any, name: str, label: str) -> Any:
    lib, kind = arrow("lib"), str(element.attrs.get("encoding-type", ""))
    if not hasattr(element, "keys"):
        return lib.array(_texts(element) if _is_text(element) else element[...])
    parts = {"categorical": ("codes", "categories")}.get(kind, ("values", "mask"))
    if any(part not in element for part in parts):
        raise BadData(f"{label}: column {name!r} of obs is stored as {in_short(kind)}, which cannot be written along.")
    for part in parts:
        refuse_elsewhere(element, part, label)
    if kind != "categorical":
        values = element["values"]
        return lib.array(_texts(values) if _is_text(values) else values[...], mask=element["mask"][...].astype(bool))
    codes, categories = element["codes"][...].astype(np.int64), _cells(element["categories"], name, label)
    if len(codes) and not (codes.min() >= -1 and codes.max() < len(categories)):
        raise BadData(f"{label} is damaged: column {name!r} of obs has categories that are not there.")
    return categories.take(lib.array(codes, mask=codes < 0))


def _is_text(element: Any) -> bool:
    return bool(element.dtype.kind in "OS")


def _texts(element: Any) -> list[str]:
    if not _is_text(element):
        return [str(one) for one in element[...]]
    return [one.decode("utf-8", "backslashreplace") if isinstance(one, bytes) else str(one) for one in element[...]]


def refuse_elsewhere(home: Any, name: str, label: str) -> None:
    """A file may point to others, which nobody asked to be read."""
    link = home.get(name, getlink=True) if name in home else None
    element = home[name] if isinstance(link, hdf5().HardLink) else None
    away = element is None or (hasattr(element, "external") and (element.external or element.is_virtual))
    if away:
        raise BadData(f"{label}: {in_short(name)} is not in this file, but a link to elsewhere, which is not followed.")
