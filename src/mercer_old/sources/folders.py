"""Folders: of Parquet files, which are one table, or of images; what is inside decides."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np

from mercer_old.arrays import Array, arrow
from mercer_old.errors import BadData, counted, listed, warn
from mercer_old.sources.claims import largest_pages
from mercer_old.sources.images import ENDINGS, open_images
from mercer_old.sources.items import Rows, all_finite, refuse_gaps_in
from mercer_old.sources.roles import Asked, is_text
from mercer_old.sources.stored import fingerprint, readable
from mercer_old.sources.tables import ParquetFile, ParquetRows, parquet_batches, row_groups
from mercer_old.terminal import plain

__all__ = ["FolderRows", "open_folder", "refuse_gaps_of_files"]

_PARQUET = (".parquet", ".pq")
_KEY = re.compile(r"([^=]+)=(.*)")  # the name of a folder that Hive, Spark and others make for every value of a column
_NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
_LAKES = {"_delta_log": "Delta Lake", ".hoodie": "Hudi", "metadata/version-hint.text": "Iceberg"}


def open_folder(path: Path, asked: Asked, resize: str | None) -> Rows:
    """The rows of all Parquet files below a folder, or of its images."""
    with readable(path):
        tables, images, others = _inside(path)
    if tables and images:
        raise BadData(
            f"{plain(path)} has {counted(len(tables), 'Parquet file')} and {counted(images, 'image')} in it: give each "
            "kind a folder of its own."
        )
    if not tables:
        if not images:
            raise BadData(
                f"{plain(path)} is a folder without images or Parquet files; known are {', '.join(ENDINGS)} and "
                f"{', '.join(_PARQUET)}."
            )
        if asked.columns is not None or asked.no_features:
            raise BadData(f"{plain(path)} is a folder of images, which have no column names to choose by.")
        return open_images(path, resize, asked.most)
    if resize is not None:
        raise BadData(f"{plain(path)}: resize is for folders of images alone.")
    for mark, lake in _LAKES.items():
        if (path / mark).exists():
            raise BadData(
                f"{plain(path)} is a table of {lake}, not all of whose files hold today's rows: read it by its own "
                "library, and give what it makes (a dataset of pyarrow, a lazy frame of polars, a relation of DuckDB)."
            )
    if others:
        warn(f"{plain(path)} has {counted(others, 'file')} beside its Parquet files, which {_are(others)} left out.")
    return FolderRows(path, asked, tables)


def _are(number: int) -> str:
    return "is" if number == 1 else "are"


def _inside(path: Path) -> tuple[list[Path], int, int]:
    """Its Parquet files in order, at any depth; images of its own; and how many other files. Hidden ones are none."""
    tables, others, images = list[Path](), 0, 0
    for file in path.rglob("*"):
        inside = file.relative_to(path).parts
        if any(part[0] in "._" for part in inside) or not file.is_file():
            continue
        kind = file.suffix.lower()
        if kind in _PARQUET:
            tables.append(file)
        elif kind in ENDINGS and len(inside) == 1:
            images += 1
        else:
            others += 1
    return sorted(tables), images, others


class FolderRows(ParquetRows):
    """Files of one schema as one table: one after the other, columns by their names, empty files passed over."""

    def __init__(self, path: Path, asked: Asked, files: Sequence[Path]) -> None:
        self._paths, self._asked = list(files), asked
        self._keys = _folder_keys(path, files)
        super().__init__(path, asked)
        self._starts = np.cumsum([0, *(file.rows for file in self.files)])
        self.notes = (
            f"{counted(len(self.files), 'Parquet file')} below the folder, in the order of names",
            *self.notes,
        )
        left_out = [name for name in next(iter(self._keys.values())) if name not in self.kinds]
        if left_out:
            self.notes += (
                f"folders stand for {listed(map(repr, left_out))}, which {_are(len(left_out))} no feature unless asked "
                "for (--columns, --label, --keep)",
            )

    def _state(self) -> Any:
        return [fingerprint(file) for file in self._paths]

    def _schema(self) -> Any:
        """That of the first file with rows; all others have its columns, of a kind that goes with it."""
        parquet, known = arrow("parquet"), dict[Path, Any]()
        for file in self._paths:
            with readable(file):
                state = parquet.read_metadata(file)
                if state.num_rows:
                    known[file] = state.schema.to_arrow_schema()
        if not known:
            raise BadData(f"{self.label}: its {counted(len(self._paths), 'Parquet file')} have no rows.")
        self._paths = list(known)
        self.fingerprint = self._state()
        self._keys = {file: self._keys[file] for file in known}
        self._kinds_of = {file: {field.name: field.type for field in schema} for file, schema in known.items()}
        (first, schema), *_ = known.items()
        fields = {**self._kinds_of[first], **self._asked_keys(first)}
        for file in self._paths[1:]:
            fields = self._together(fields, first, file)
        lib = arrow("lib")
        return lib.schema([lib.field(name, kind) for name, kind in fields.items()], metadata=schema.metadata)

    def _asked_keys(self, first: Path) -> dict[str, Any]:
        """Kinds of the columns that folders stand for, and that somebody asks for by name."""
        asked = {*(self._asked.columns or ()), *self._asked.beside, self._asked.id} - {*self._kinds_of[first]}
        names = [name for name in dict.fromkeys(name for keys in self._keys.values() for name in keys) if name in asked]
        cells = {name: [keys.get(name) for keys in self._keys.values()] for name in names}
        for name, values in cells.items():
            made = _typed(values)
            for file, value in zip(self._keys, made, strict=True):
                self._keys[file] = {**self._keys[file], name: value}
        return {name: self._keys[first][name].type for name in names}

    def _together(self, fields: dict[str, Any], first: Path, file: Path) -> dict[str, Any]:
        """Kinds of columns that hold those of one more file, whose columns have to be the same."""
        asked, mine, keys = self._asked, self._kinds_of[file], self._keys[file]
        wanted = {*asked.columns, *asked.no_features} - {*asked.drop} if asked.columns is not None else None
        kept = [name for name in fields if (name not in asked.drop if wanted is None else name in wanted)]
        missing = [name for name in kept if name not in mine and name not in keys]
        more = [name for name in mine if name not in fields and wanted is None and name not in asked.drop]
        if missing or more:
            what = f"lacks {_columns(missing)}, which" if missing else f"has {_columns(more)}, which"
            who = f"{plain(first)} has" if missing else f"{plain(first)} lacks"
            raise BadData(
                f"{plain(file)} {what} {who}: all files of a folder need the same columns. Choose those that all have "
                "(mercer.open_rows(path, columns=[…]), on the command line --columns)."
            )
        both = dict(fields)
        for name in kept:
            kind = mine.get(name, fields[name])
            both[name] = fields[name] if kind == fields[name] else _common(fields[name], kind)
            if both[name] is None:
                raise BadData(
                    f"{plain(file)} has column {name!r} as {kind}, and {plain(first)} as {fields[name]}: all files of "
                    "a folder need the same kinds. Leave it out (drop=[…], --drop NAME), or write it anew."
                )
        return both

    def _count(self) -> int:
        files, self.overhead = list[ParquetFile](), 0
        for path in self._paths:
            with readable(path):
                groups, overhead = row_groups(path, self.columns)
            stored = self._kinds_of[path]
            keys = {
                name: value for name, value in self._keys[path].items() if name in self.kinds and name not in stored
            }
            files.append(ParquetFile(path, groups, keys))
            self.overhead = max(self.overhead, overhead)
        self.files = tuple(files)
        return sum(file.rows for file in files)

    def _claimed(self, names: Sequence[str]) -> int:
        read = arrow("parquet").read_metadata
        return max(3 * largest_pages(file, read(file), names) for file in self._paths)

    def _batches_of(self, columns: Sequence[str]) -> Iterator[Any]:
        kinds = [self.kinds[name] for name in columns]
        for path in self._paths:
            with readable(path):
                keys = {name: self._keys[path][name] for name in columns if name not in self._kinds_of[path]}
                for batch in file_batches(path, columns, keys):
                    yield _cast(batch, columns, kinds)

    def _refuse_gaps(self, block: Array, start: int) -> None:
        if all_finite(block):
            return
        first = int(np.searchsorted(self._starts, start, side="right")) - 1
        pieces, row, left = list[tuple[str, int, int]](), start - int(self._starts[first]), len(block)
        for file in self.files[first:]:
            count = min(file.rows - row, left)
            pieces.append((file.label, row, count))
            row, left = 0, left - count
            if not left:
                break
        refuse_gaps_of_files(block, pieces, self.names, self.gaps)


def refuse_gaps_of_files(
    block: Array, pieces: Sequence[tuple[str, int, int]], names: tuple[str, ...] | None, welcome: bool
) -> None:
    """What is missing, by its file and its row there: the pieces are names of files, first rows, and how many."""
    ends = list(accumulate(count for _, _, count in pieces))
    for (label, first, count), end in zip(pieces, ends, strict=True):
        refuse_gaps_in(block[end - count : end], label, names, first, welcome)


def file_batches(
    path: Path, columns: Sequence[str], keys: Mapping[str, Any], groups: Sequence[int] | None = None
) -> Iterator[Any]:
    """Of one file, with a column for each of the keys, which has the same value everywhere."""
    lib = arrow("lib")
    stored = [name for name in columns if name not in keys]
    for batch in parquet_batches(path, stored, groups):
        count = batch.num_rows
        yield lib.RecordBatch.from_arrays(
            [lib.repeat(keys[name], count) if name in keys else batch.column(name) for name in columns],
            names=list(columns),
        )


def _folder_keys(path: Path, files: Sequence[Path]) -> dict[Path, dict[str, Any]]:
    """Of every file, the columns that the folders above it stand for."""
    found = dict[Path, dict[str, Any]]()
    for file in files:
        parts = [_KEY.fullmatch(part) for part in file.relative_to(path).parts[:-1]]
        found[file] = {unquote(part[1]): unquote(part[2]) for part in parts if part}
    return found


def _typed(values: Sequence[str | None]) -> list[Any]:
    """Texts of folders as what all of them are: whole numbers, numbers or texts."""
    lib = arrow("lib")
    there = lib.array([None if value == _NO_VALUE else value for value in values], lib.string())
    for kind in (lib.int64(), lib.float64()):
        try:
            return list(there.cast(kind))
        except lib.ArrowInvalid:
            continue
    return list(there)


def _common(one: Any, other: Any) -> Any:
    """A kind that holds the cells of both; None if there is none."""
    lib, types = arrow("lib"), arrow("types")
    if types.is_null(one) or types.is_null(other):
        return other if types.is_null(one) else one
    if all(types.is_integer(kind) or types.is_floating(kind) for kind in (one, other)):
        return lib.float64()
    return lib.large_string() if is_text(one) and is_text(other) else None


def _cast(batch: Any, columns: Sequence[str], kinds: Sequence[Any]) -> Any:
    """With the kinds that all files have together."""
    if list(batch.schema.types) == list(kinds):
        return batch
    cells = [batch.column(name).cast(kind, safe=False) for name, kind in zip(columns, kinds, strict=True)]
    return arrow("lib").RecordBatch.from_arrays(cells, names=list(columns))


def _columns(names: Sequence[str]) -> str:
    return f"the column{'s' * (len(names) > 1)} {listed(map(repr, names))}"
