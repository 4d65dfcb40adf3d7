"""Rows in text: CSV and its relatives."""

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

from mercer_old.arrays import Array, arrow
from mercer_old.errors import BadData, listed, warn
from mercer_old.sources.beside import Column, as_typed
from mercer_old.sources.dialect import GAPS, Dialect, Saying, is_empty_field, sniff
from mercer_old.sources.faults import Fault, first_fault
from mercer_old.sources.items import all_finite
from mercer_old.sources.roles import Asked
from mercer_old.sources.stored import error_in_short, for_arrow, readable, refuse_irregular
from mercer_old.sources.tables import TableRows

_CSV_BLOCK = 1 << 20  # bytes of a text that are read at a time
_CSV_AHEAD = 48  # times the block: what Arrow's reader parses ahead, as numbers
_BLANKS = {" " * width for width in range(1, 33)}  # columns of a fixed width
_SPELLINGS = {form(gap) for gap in GAPS for form in (str, str.upper, str.title, str.capitalize)}
_NULLS = sorted(_SPELLINGS | {"NaN", "-NaN"} | _BLANKS)


class CsvRows(TableRows):
    """Text, parsed anew by every sweep. The first one counts the rows and finds what is no number, on opening."""

    def __init__(self, path: Path, asked: Asked, said: Saying | None = None) -> None:
        with readable(path):
            refuse_irregular(path)
        self.dialect: Dialect = sniff(path, said)
        self.block = max(_CSV_BLOCK, 4 * self.dialect.width)
        self.overhead = _CSV_AHEAD * self.block
        super().__init__(path, asked)
        if not self.dialect.header:
            self.names = None  # made up, to tell the columns apart
        self.notes = (self.dialect.in_words, *self.notes)
        if asked.columns is None:
            self._warn_of_codes()

    def _warn_of_codes(self) -> None:
        """A feature is a number, whatever stands in front of it."""
        codes = [name for name in self.columns if name in set(self.dialect.codes)]
        if codes:
            warn(
                f"{self.label} has numbers with zeros in front, as codes have, in {listed(map(repr, codes))}: taken as "
                "features. If they name rows, or say nothing: mercer.open_rows(path, id=…, drop=[…]), on the command "
                "line --id NAME, --drop NAME."
            )

    def _schema(self) -> Any:
        """Of the first block: text is text from there on; what comes later is told by its line."""
        self._refuse_open_quote()
        try:
            with self._open({}) as reader:
                return reader.schema
        except arrow("lib").ArrowInvalid as error:
            if "Empty CSV" in str(error) or "Could not skip" in str(error):
                raise BadData(f"{self.label} has a header and no rows: there is nothing to fit.") from None
            raise self._blamed(error, ()) from None

    def _count(self) -> int:
        return sum(batch.num_rows for batch in self._batches())

    def column(self, name: str, most: float = float("inf"), typed: bool = False) -> Column:
        """As it stands there, 00123 with its zeros; `typed`: numbers as numbers, dates as dates."""
        column = super().column(name, most)
        return as_typed(column, self.dialect.decimal) if typed else column

    def _as_number(self, cell: str) -> str:
        return self.dialect.as_number(cell)

    def _batches_of(self, columns: Sequence[str]) -> Iterator[Any]:
        try:
            with self._open(dict.fromkeys(columns, "string")) as reader:
                yield from reader
        except arrow("lib").ArrowInvalid as error:
            raise self._blamed(error, ()) from None

    def _batches(self) -> Iterator[Any]:
        is_boolean = arrow("types").is_boolean
        kinds = {name: self.kinds[name] for name in self.columns}
        types = {name: kind if is_boolean(kind) else "float64" for name, kind in kinds.items()}
        try:
            with self._open(types) as reader:
                yield from reader
        except arrow("lib").ArrowInvalid as error:
            raise self._blamed(error, self.columns) from None

    def _blamed(self, error: Exception, columns: Collection[str]) -> BadData:
        """What Arrow could not read, with its place."""
        fault = self._fault(columns)
        return BadData(fault.told(self.label) if fault else f"{self.label} cannot be read: {error_in_short(error)}.")

    def _refuse_open_quote(self) -> None:
        """It would swallow all that follows, in a column that may not even be read. It leaves an odd number of them."""
        fault = self._fault(()) if self.dialect.quotes % 2 else None
        if fault:
            raise BadData(fault.told(self.label))

    def _refuse_text(self, bad: dict[str, str], first: str = "") -> None:
        fault = self._fault(bad, gaps=False) or self._fault(bad)
        if fault and (fault.reason or is_empty_field(fault.text)):
            raise BadData(fault.told(self.label))
        first = f"; the first such value is {fault.value} in {fault.place}. {fault.hint}".rstrip(". ") if fault else ""
        try:
            super()._refuse_text(bad, first)
        except BadData as error:
            raise BadData(f"{error}{self._about_texts}") from None

    @property
    def _about_texts(self) -> str:
        """Who has one column of texts may want to compare them."""
        if len(self.columns) > 1:
            return ""
        way = "mercer.open_texts(path), on the command line --kernel spectrum (of lle --metric spectrum)"
        return f" To compare texts as they are: {way}."

    def _refuse_gaps(self, block: Array, start: int) -> None:
        if self.gaps:
            return super()._refuse_gaps(block, start)
        if all_finite(block):
            return
        fault = self._fault(self.columns)
        raise BadData(fault.told(self.label) if fault else f"{self.label} contains a missing value.")

    def _fault(self, columns: Collection[str], gaps: bool = True) -> Fault | None:
        is_boolean = arrow("types").is_boolean
        booleans = [name for name in columns if is_boolean(self.kinds[name])]
        return first_fault(self.path, self.dialect, columns, booleans, gaps)

    def _open(self, types: dict[str, Any]) -> Any:
        csv = arrow("csv")
        return csv.open_csv(
            for_arrow(self.path),
            read_options=csv.ReadOptions(
                column_names=list(self.dialect.names),
                skip_rows=self.dialect.skip,
                block_size=self.block,
                use_threads=False,
                encoding="utf8" if self.dialect.encoding == "utf-8" else self.dialect.encoding,
            ),
            parse_options=csv.ParseOptions(
                delimiter=self.dialect.delimiter, newlines_in_values=self.dialect.quotes > 0
            ),
            convert_options=csv.ConvertOptions(
                column_types=types,
                include_columns=list(types),
                null_values=_NULLS,
                decimal_point=self.dialect.decimal,
            ),
        )
