"""How a command answers: figures for scripts, words for people, and the Python that does the same."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from math import isfinite
from numbers import Integral, Real
from typing import Any, Protocol

from mercer_old.errors import MercerError

__all__ = ["Answer", "Job", "as_document"]


@dataclass(frozen=True)
class Answer:
    """What a command has found."""

    figures: Mapping[str, Any]  # printed by --json
    words: str | None = None  # printed otherwise, unless what was asked for is in a file
    doubt: MercerError | None = None  # raised after both, where an answer is not as good as was asked for


class Job(Protocol):
    """A command that knows all it was told, and has not begun."""

    @property
    def fills_stdout(self) -> bool:
        """Whether rows go to standard output, so that nothing else can."""

    def code(self) -> str:
        """The Python that does the same."""

    def run(self) -> Answer:
        """Do it."""


def as_document(figures: Mapping[str, Any]) -> str:
    """JSON for any reader: what is no number is null, and what a terminal would obey is escaped."""
    text = json.dumps(_plain_value(figures), indent=2, ensure_ascii=False, allow_nan=False)
    return "".join(c if c.isprintable() or c == "\n" else json.dumps(c)[1:-1] for c in text)


def _plain_value(value: Any) -> Any:
    """Records as objects with their words, arrays as lists; anything else that JSON does not know, as text."""
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, Mapping):
        return {str(name): _plain_value(each) for name, each in value.items()}
    if isinstance(value, list | tuple | set | range):
        return [_plain_value(each) for each in value]
    if hasattr(value, "tolist"):  # of numpy, a number or an array
        return _plain_value(value.tolist())
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        return float(value) if isfinite(value) else None
    if is_dataclass(value) and not isinstance(value, type):
        told = {field.name: _plain_value(getattr(value, field.name)) for field in fields(value)}
        return told | {"in_words": str(value)}
    return str(value)
