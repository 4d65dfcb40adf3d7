"""Archives of numpy: one table of numbers in them, perhaps with names of its rows and columns beside it."""

import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from mercer_old.arrays import single_or_double
from mercer_old.errors import BadData, NoRoom, listed
from mercer_old.limits import bytes_in_words
from mercer_old.sources.held import HeldRows, as_read
from mercer_old.sources.stored import error_in_short, readable, refuse_irregular
from mercer_old.terminal import plain

__all__ = ["open_npz"]

_IDS, _COLUMNS, _HEADING = "ids", "columns", "heading"  # as scores are written


def open_npz(path: Path, array: str | None, most: float) -> HeldRows:
    """The only table of an archive, or the one that is named, read at once."""
    with readable(path):
        refuse_irregular(path)
        with _opened(path) as archive:
            shapes = {name.removesuffix(".npy"): _header(archive, name, path) for name in _members(archive)}
            chosen = _chosen(shapes, array, path)
            matrix = _array(archive, chosen, shapes[chosen], path, most)
            if matrix.dtype.kind not in "fiub":
                raise BadData(f"{plain(path)}: {chosen!r} holds {matrix.dtype} values; numbers are needed.")
            names = {
                name: _names(archive, name, shapes, length, path, most)
                for name, length in ((_IDS, matrix.shape[0]), (_COLUMNS, matrix.shape[1]), (_HEADING, 1))
            }
    columns = names[_COLUMNS]
    heading = (names[_HEADING] or ["id"])[0]
    return as_read(
        np.ascontiguousarray(matrix, dtype=single_or_double(matrix.dtype)),
        path,
        plain(path),
        names=tuple(columns) if columns and len(set(columns)) == len(columns) else None,
        row_names=names[_IDS],
        heading=heading if names[_IDS] else "",
        notes=(f"array {chosen!r} (--array)",) if len(shapes) > 1 else (),
    )


@contextmanager
def _opened(path: Path) -> Iterator[zipfile.ZipFile]:
    """What is no archive, damaged, encrypted or packed in a way that nobody knows is one kind of error."""
    if not zipfile.is_zipfile(path):
        raise ValueError("it is no archive of numpy")
    try:
        with zipfile.ZipFile(path) as archive:
            yield archive
    except (zipfile.BadZipFile, RuntimeError) as error:
        raise ValueError(error_in_short(error)) from None


def _members(archive: zipfile.ZipFile) -> list[str]:
    return [name for name in archive.namelist() if name.endswith(".npy")]


def _header(archive: zipfile.ZipFile, name: str, path: Path) -> tuple[tuple[int, ...], Any]:
    """Shape and kind of an array, of which nothing else is read."""
    with archive.open(name) as file:
        try:
            version = np.lib.format.read_magic(file)
            read: Any = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
            shape, _, dtype = read[version](file)
        except Exception:  # it is a Python expression, which can be wrong in every way
            raise BadData(f"{plain(path)}: the header of {name!r} is damaged.") from None
    return shape, dtype


def _chosen(shapes: dict[str, tuple[tuple[int, ...], Any]], array: str | None, path: Path) -> str:
    if array is not None and array not in shapes:
        raise BadData(f"{plain(path)} has no array {array!r}; it has {listed(map(repr, shapes), 20)}.")
    tables = [name for name, (shape, dtype) in shapes.items() if len(shape) == 2 and dtype.kind in "fiub"]
    if array is not None:
        if len(shapes[array][0]) != 2:
            raise BadData(f"{plain(path)}: {array!r} has the shape {shapes[array][0]}; rows and columns are needed.")
        return array
    if len(tables) != 1:
        which = f"several tables of numbers: {listed(map(repr, tables), 10)}" if tables else "no table of numbers"
        raise BadData(f"{plain(path)} has {which}. Name one: array=…, on the command line --array NAME.")
    return tables[0]


def _array(archive: zipfile.ZipFile, name: str, claimed: tuple[tuple[int, ...], Any], path: Path, most: float) -> Any:
    """An array, if it fits and is as long as its header says."""
    shape, dtype = claimed
    if dtype.hasobject:
        raise BadData(f"{plain(path)}: {name!r} holds Python objects (a pickle), which are never read.")
    size = int(dtype.itemsize)
    for side in shape:
        size *= int(side)
    if 2 * size > most:
        raise NoRoom(
            f"{plain(path)}: {name!r} takes {bytes_in_words(2 * size)}, over the limit of {bytes_in_words(most)}."
        )
    if size > archive.getinfo(f"{name}.npy").file_size:
        raise BadData(f"{plain(path)}: {name!r} claims {size:,} bytes and has fewer: it is damaged, or truncated.")
    with archive.open(f"{name}.npy") as file:
        return np.lib.format.read_array(file, allow_pickle=False)


def _names(
    archive: zipfile.ZipFile, name: str, shapes: dict[str, Any], length: int, path: Path, most: float
) -> list[str] | None:
    """Names in an array of this length, if there is one."""
    shape, dtype = shapes.get(name, ((), np.dtype(float)))
    if dtype.kind not in "UiuS" or shape not in ((length,), () if length == 1 else (length,)):
        return None
    return [str(one) for one in np.atleast_1d(_array(archive, name, shapes[name], path, most))]
