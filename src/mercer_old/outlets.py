"""Where scores and pages go: a file that appears when it is complete, or not at all."""

import gzip
import os
import shutil
import stat
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from errno import EACCES, EISDIR
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from mercer_old.annotated import Annotations, annotate
from mercer_old.arrays import Array, arrow, hdf5
from mercer_old.errors import CannotWrite, MercerError, WrongUse, counted
from mercer_old.parts import clear_abandoned, keep, keep_name, locked, new_part
from mercer_old.terminal import end_quietly, plain

__all__ = [
    "Annotations", "Labels", "lasting_file", "make_place", "outlet", "refuse_no_copy", "refuse_place",
    "refuse_same_file", "refuse_taken", "refuse_unwritable", "whole_file", "write_whole",
]  # fmt: skip

_Sink = Callable[[Array], None]
_NO_COPY = "scores are added to a copy of the .h5ad file that rows are read from, and these are none of its rows."
_BINARY = getattr(os, "O_BINARY", 0)  # Windows would change line ends


@contextmanager
def _told(path: Path) -> Iterator[None]:
    """What the system objects to, in one sentence with the name of the file."""
    try:
        yield
    except OSError as error:
        raise CannotWrite(path, error) from None


@dataclass(frozen=True)
class Labels:
    """First columns that say what each row is, by their headings; arrays of numbers (.npy) have no place for them."""

    columns: Mapping[str, Sequence[Any]]
    named: bool = True  # whether the first of them names rows

    def some(self, start: int, count: int) -> list[Any]:
        """Of every column, these cells as an array of Arrow."""
        return [_cells(column[start : start + count]) for column in self.columns.values()]

    def schema(self) -> list[tuple[str, Any]]:
        return [(name, cells.type) for name, cells in zip(self.columns, self.some(0, 0), strict=True)]


def _cells(column: Sequence[Any]) -> Any:
    """Cells of a file as they are; texts as UTF-8 can hold them: half of a surrogate pair is written out."""
    lib = arrow("lib")
    if hasattr(column, "__arrow_array__"):
        return lib.array(column)
    texts = (bytes(text).decode("latin-1") if isinstance(text, bytes) else str(text) for text in column)
    return lib.array([text.encode("utf-8", "backslashreplace").decode() for text in texts], lib.string())


@dataclass(frozen=True)
class _Table:
    """What is written: columns of one kind of numbers, so many rows, perhaps after labels."""

    names: Sequence[str]
    n_rows: int
    dtype: Any
    labels: Labels | None = None
    annotations: Annotations | None = None

    def __post_init__(self) -> None:
        refuse_taken(self.labels, self.names)

    @property
    def columns(self) -> list[str]:
        return [*(self.labels.columns if self.labels else []), *self.names]

    def schema(self) -> Any:
        lib = arrow("lib")
        kinds = [(name, lib.from_numpy_dtype(np.dtype(self.dtype))) for name in self.names]
        return lib.schema([*(self.labels.schema() if self.labels else []), *kinds])

    def batches(self, write: Callable[[Any], None]) -> _Sink:
        """Block after block, each with the labels of its rows."""
        lib, start = arrow("lib"), 0

        def sink(block: Array) -> None:
            nonlocal start
            columns = [lib.array(np.ascontiguousarray(block[:, j], dtype=self.dtype)) for j in range(len(self.names))]
            if self.labels:
                columns = [*self.labels.some(start, len(block)), *columns]
            write(lib.RecordBatch.from_arrays(columns, names=self.columns))
            start += len(block)

        return sink


def refuse_taken(labels: Labels | None, names: Sequence[str]) -> None:
    """Two columns of one name are none that anybody could choose."""
    taken = [name for name in (labels.columns if labels else ()) if name in set(names)]
    if taken:
        raise WrongUse(f"Column {taken[0]!r} cannot be written along: scores have a column of that name. Rename it.")


@contextmanager
def outlet(
    path: Path | None,
    names: Sequence[str],
    n_rows: int,
    dtype: Any = np.float64,
    labels: Labels | None = None,
    annotations: Annotations | None = None,
) -> Iterator[_Sink]:
    """A function that takes block after block; None writes CSV to standard output."""
    table = _Table(names, n_rows, dtype, labels, annotations)
    if path is None:
        yield from _to_standard_output(table)
        return
    fed = False
    try:
        with _whole_file(path) as file, _kind_of(path)(file, table) as write:
            yield _guarded(write, path)
            fed = True
    except OSError as error:
        if not fed and not isinstance(error.__context__, CannotWrite):  # whoever fed it has failed, not the file
            raise
        raise CannotWrite(path, error) from None


@contextmanager
def _whole_file(path: Path, lasting: bool = False) -> Iterator[Any]:
    """A file to write bytes to, which appears when it is complete, or not at all.

    It is written under another name next to its own and renamed at the end: an error or Ctrl-C leaves nothing, and an
    older file stays as it was. Who was allowed to read that may read the new one, and nobody else. Pipes and devices
    are written to as they are.
    """
    if _is_special(path):
        with _opened(path, path, os.O_WRONLY) as file:
            yield file
        return
    path = path.resolve()  # the target of a link, not the link
    clear_abandoned(path.parent)
    temporary = new_part(path.parent)  # known before it exists, so that no signal can come between
    try:
        with ExitStack() as until_named:
            with _made(temporary, path, until_named) as file:
                yield file
                if lasting:
                    file.flush()
                    keep(file.fileno())
            temporary.replace(path)
        if lasting:
            keep_name(path.parent)
    finally:
        temporary.unlink(missing_ok=True)


def _made(temporary: Path, wanted: Path, locks: ExitStack) -> Any:
    """A new file, locked; once more in the rare case that somebody took it for an abandoned one before that."""
    while True:
        file = _opened(temporary, wanted, os.O_RDWR | os.O_CREAT | os.O_EXCL | _BINARY)
        if locks.enter_context(locked(file.fileno(), temporary)):
            return file
        file.close()


def write_whole(path: Path, content: bytes) -> None:
    """All or nothing: a reader never meets half a file, and a failure leaves the old one."""
    with _told(path), _whole_file(path) as file:
        file.write(content)


@contextmanager
def whole_file(path: Path) -> Iterator[Any]:
    """A file to write bytes to: all or nothing, and one sentence if it cannot be."""
    with _told(path), _whole_file(path) as file:
        yield file


@contextmanager
def lasting_file(path: Path) -> Iterator[Any]:
    """The same, for what is large; and on the disk, not only on its way, before it has its name.

    A machine that loses power leaves the old file or the new one.
    """
    with _told(path), _whole_file(path, lasting=True) as file:
        yield file


def _opened(path: Path, wanted: Path, flags: int) -> Any:
    """Opened for writing; a file that is to replace another may be read by whom that could be read."""
    rights = stat.S_IMODE(wanted.stat().st_mode) if wanted.exists() and path != wanted else None
    with _told(wanted):
        file = os.open(path, flags, 0o666 if rights is None else 0o600)
        if rights is not None:
            os.chmod(file if os.chmod in os.supports_fd else path, rights)  # noqa: PTH101 (also of a file without a name)
        return os.fdopen(file, "w+b" if flags & os.O_RDWR else "wb")


def _is_special(path: Path) -> bool:
    """Whether it is there and no regular file: a pipe, a terminal, /dev/null."""
    return path.exists() and not path.is_file()


def _guarded(write: _Sink, path: Path) -> _Sink:
    def sink(block: Array) -> None:
        with _told(path):
            write(block)

    return sink


def _to_standard_output(table: _Table) -> Iterator[_Sink]:
    """As CSV; who reads it may stop whenever they like. What ends it after some rows says how many are there."""
    written = list[int]()
    try:
        with _csv(sys.stdout.buffer, table) as sink:

            def counting(block: Array) -> None:
                sink(block)
                written.append(len(block))

            yield counting
        sys.stdout.flush()
    except BrokenPipeError:
        end_quietly()
    except (MercerError, ValueError) as error:
        if written:
            there = f"Standard output has {sum(written):,} of {counted(table.n_rows, 'row')} already"
            error.args = (f"{error} {there}; name a file to have all or none.",)
        raise


def refuse_unwritable(path: Path) -> None:
    """Say before the work, not after it, that scores cannot be written to a file of this name."""
    with _told(path):
        if not path.is_dir():
            _kind_of(path)
        _refuse_place(path)


def refuse_place(path: Path) -> None:
    """Say before the work that nothing can be written there, whatever it is."""
    with _told(path):
        _refuse_place(path)


def make_place(path: Path) -> Path:
    """Make the folder of a file that is to be, and say before the work that it cannot be written there."""
    with _told(path.parent):
        path.parent.mkdir(parents=True, exist_ok=True)
    refuse_place(path)
    return path


def _refuse_place(path: Path) -> None:
    if path.is_dir():
        raise IsADirectoryError(EISDIR, "it is a folder")
    if path.exists() and not os.access(path, os.W_OK):
        raise PermissionError(EACCES, "it is read-only")
    if path.is_block_device() or path.is_socket():
        raise PermissionError(EACCES, "it is a disk or a socket")
    if not _is_special(path):
        with tempfile.TemporaryFile(dir=path.resolve().parent):
            pass


def refuse_same_file(source: Path | None, path: Path) -> None:
    """Scores must not take the place of the rows they come from."""
    if source is not None and path.exists() and source.exists() and path.samefile(source):
        raise WrongUse(f"{plain(path)} is the file that rows are read from; write the scores to another one.")
    if path.suffix.lower() == ".h5ad" and (source is None or source.suffix.lower() != ".h5ad"):
        raise WrongUse(f"{plain(path)}: {_NO_COPY}")


def refuse_no_copy(told: Annotations | None, path: Path) -> None:
    """Say before the work that there is no file to add scores to: that of rows that were columns has none."""
    if told is None and path.suffix.lower() == ".h5ad":
        raise WrongUse(f"{plain(path)}: {_NO_COPY}")


def _kind_of(path: Path) -> Any:
    """How to write a file of this name; pipes and devices, whose names say nothing, take CSV."""
    if path.suffix == "" and _is_special(path):
        return _csv
    kind, packed = path.suffix.lower(), path.suffix.lower() == ".gz"
    kind = path.with_suffix("").suffix.lower() if packed else kind
    if kind not in KINDS or (packed and kind not in (".csv", ".tsv")):
        known = ", ".join([*KINDS, ".csv.gz", ".tsv.gz"])
        raise WrongUse(f"{plain(path)}: files of this kind cannot be written; known are {known}.")
    return partial(_packed, KINDS[kind]) if packed else KINDS[kind]


@contextmanager
def _npy(file: Any, table: _Table) -> Iterator[_Sink]:
    header = {"descr": np.lib.format.dtype_to_descr(np.dtype(table.dtype)), "fortran_order": False}
    np.lib.format.write_array_header_1_0(file, header | {"shape": (table.n_rows, len(table.names))})
    yield lambda block: file.write(np.ascontiguousarray(block, dtype=table.dtype).data)


@contextmanager
def _npz(file: Any, table: _Table) -> Iterator[_Sink]:
    """Scores, names of their columns, and names of rows with their heading; nothing that would have to be unpickled."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED, allowZip64=True) as archive:
        with archive.open("scores.npy", "w", force_zip64=True) as member, _npy(member, table) as sink:
            yield sink
        first = next(iter(table.labels.columns.items())) if table.labels and table.labels.named else None
        others = {"columns": list(table.names)}
        if first:
            others |= {"heading": [first[0]], "ids": [str(cell) for cell in first[1]]}
        for name, texts in others.items():
            with archive.open(f"{name}.npy", "w") as member:
                np.lib.format.write_array(member, np.array(texts, dtype=np.str_), allow_pickle=False)


@contextmanager
def _h5ad(file: Any, table: _Table) -> Iterator[_Sink]:
    """The file that rows were read from, with scores and what was found beside them, where scanpy has it."""
    told = table.annotations
    if told is None:
        raise WrongUse(_NO_COPY)
    with told.source.open("rb") as source:
        shutil.copyfileobj(source, file, 1 << 24)
    with hdf5().File(file, "r+") as store:
        scores, start = annotate(store, told, (table.n_rows, len(table.names)), table.dtype), 0

        def sink(block: Array) -> None:
            nonlocal start
            scores[start : start + len(block)] = block
            start += len(block)

        yield sink


@contextmanager
def _packed(kind: Any, file: Any, table: _Table) -> Iterator[_Sink]:
    """The same through gzip, without a time, so that the same scores are the same bytes."""
    with gzip.GzipFile("", "wb", 6, file, mtime=0) as packed, kind(packed, table) as sink:
        yield sink


@contextmanager
def _csv(file: Any, table: _Table, delimiter: str = ",") -> Iterator[_Sink]:
    """The first line is written with the first rows: if those are bad, nothing is."""
    csv, names = arrow("csv"), [_quoted_if_need_be(name, delimiter) for name in table.columns]  # Arrow would quote all
    first = [f"{delimiter.join(names)}\n".encode()]
    options = csv.WriteOptions(include_header=False, delimiter=delimiter)
    with csv.CSVWriter(file, table.schema(), write_options=options) as writer:
        write = table.batches(writer.write_batch)

        def sink(block: Array) -> None:
            file.write(first.pop() if first else b"")
            write(block)

        yield sink
        file.write(first.pop() if first else b"")


def _quoted_if_need_be(name: str, delimiter: str) -> str:
    quoted = '"' + name.replace('"', '""') + '"'
    return quoted if any(mark in name for mark in (delimiter, '"', "\n", "\r")) else name


@contextmanager
def _parquet(file: Any, table: _Table) -> Iterator[_Sink]:
    with arrow("parquet").ParquetWriter(file, table.schema()) as writer:
        yield table.batches(writer.write_batch)


@contextmanager
def _ipc(file: Any, table: _Table) -> Iterator[_Sink]:
    with arrow("ipc").new_file(file, table.schema()) as writer:
        yield table.batches(writer.write_batch)


KINDS = {
    ".npy": _npy,
    ".npz": _npz,
    ".h5ad": _h5ad,
    ".csv": _csv,
    ".tsv": partial(_csv, delimiter="\t"),
    ".parquet": _parquet,
    ".arrow": _ipc,
    ".feather": _ipc,
}
