"""A column of texts in a table: CSV, Parquet, Arrow and Feather."""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from mercer_old.arrays import arrow
from mercer_old.errors import BadData, NoRoom, listed, warn
from mercer_old.limits import bytes_in_words
from mercer_old.sources.delimited import CsvRows
from mercer_old.sources.dialect import Saying
from mercer_old.sources.lines import bad_bytes
from mercer_old.sources.roles import Asked
from mercer_old.sources.tables import ArrowRows, ParquetRows, TableRows

_TEXT = ("string", "large_string", "string_view", "binary", "large_binary", "null")


class _TextColumn(TableRows):
    """One column that is no numbers."""

    def _settle_texts(self, asked: Asked, index: str | None) -> None:
        """Text is what is wanted: of several columns, and of others, one sentence."""
        if len(self.columns) != 1:
            names = listed(map(repr, self.columns), 10)
            raise BadData(
                f"{self.label} has {len(self.columns)} columns, and texts are one: {names}. Choose by "
                "mercer.open_texts(path, column=…), on the command line --text NAME."
            )
        (name,) = self.columns
        kind = self.kinds[name]
        kind = kind.value_type if arrow("types").is_dictionary(kind) else kind
        if not self._reads(str(kind)):
            raise BadData(f"Column {name!r} of {self.label} holds {kind}, which is no text.")

    def _reads(self, kind: str) -> bool:
        return kind in _TEXT

    def texts(self, most: float) -> Iterator[Any]:
        """All of them, as long as they fit."""
        size = 0
        for batch in self._batches_of(self.columns):
            some = batch.column(self.columns[0]).to_pylist()
            size += sum(map(sys.getsizeof, some)) + 8 * len(some)
            if size > most:
                raise NoRoom(
                    f"{self.label}: texts are held in memory, and column {self.columns[0]!r} is beyond the limit of "
                    f"{bytes_in_words(most)}. Give a larger memory_limit, or fewer rows."
                )
            yield from some


class _ParquetTexts(_TextColumn, ParquetRows):
    pass


class _ArrowTexts(_TextColumn, ArrowRows):
    pass


class _CsvTexts(_TextColumn, CsvRows):
    """Whatever stands in the column is text: 00123 keeps its zeros."""

    def _reads(self, kind: str) -> bool:
        return True

    def _batches_of(self, columns: Sequence[str]) -> Iterator[Any]:
        try:
            yield from super()._batches_of(columns)
        except BadData:
            raise
        except ValueError as error:
            told = BadData(bad_bytes(self.path)) if "UTF8" in str(error) else error
            raise told from None

    def _count(self) -> int:
        return sum(batch.num_rows for batch in self._batches_of(self.columns))


_READERS: dict[str, Any] = {
    ".parquet": _ParquetTexts,
    ".pq": _ParquetTexts,
    ".arrow": _ArrowTexts,
    ".feather": _ArrowTexts,
    ".csv": _CsvTexts,
    ".tsv": _CsvTexts,
}
TABLES = tuple(_READERS)


def read_column(path: Path, ending: str, asked: Asked, said: Saying) -> tuple[list[Any], TableRows]:
    """The texts of a column, and the table that it is in; without a name, those of the only one."""
    kind = _READERS[ending]
    found: Any = kind(path, asked, said) if kind is _CsvTexts else kind(path, asked)
    name = found.columns[0]
    if kind is _CsvTexts and asked.columns is None and said.header is None:
        warn(
            f"The first line of {found.label} is taken as the name of its column: {name!r}. If it is a text, say so: "
            "mercer.open_texts(path, header=False), on the command line --no-header; if it is a name, header=True or "
            "--header."
        )
    if str(found.kinds[name]) == "double":  # whole numbers may be codes
        warn(f"Column {name!r} of {found.label} holds decimal numbers, which are compared letter by letter, as texts.")
    texts = list(found.texts(asked.most))
    empty = sum(text == "" for text in texts)
    if empty:
        warn(
            f"Column {name!r} of {found.label} is empty in {empty:,} of {len(texts):,} rows, first in row "
            f"{texts.index('')} (counted from 0): they count as empty texts."
        )
    return texts, found
