"""Exceptions and warnings of the package.

A text for people, fields for programs, an exit code for scripts.
"""

import sys
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any, Literal, NamedTuple

Severity = Literal["note", "caution", "meaningless"]
_OWN_PACKAGES = (__name__.partition(".")[0], "sklearn")
_collected: ContextVar[list["MercerWarning"] | None] = ContextVar("collected_warnings", default=None)


class Remedy(NamedTuple):
    """A parameter and the value that would help."""

    parameter: str
    value: object

    def __str__(self) -> str:
        return f"{self.parameter}={self.value!r}"


def _with_remedies(text: str, remedies: Sequence[Remedy]) -> str:
    return f"{text} Try {' or '.join(map(str, remedies))}." if remedies else text


class MercerError(Exception):
    """Base class of all errors of the package."""

    exit_code = 1
    remedies: tuple[Remedy, ...] = ()

    def __init__(self, message: str, *, remedies: Sequence[Remedy] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.remedies = tuple(remedies)

    def __str__(self) -> str:
        return _with_remedies(self.message, self.remedies)


class UsageError(MercerError):
    """Something was asked for that does not exist."""

    exit_code = 2


class ParameterError(UsageError, ValueError):
    """A parameter has a value that cannot be used."""

    def __init__(
        self,
        parameter: str,
        value: object,
        requirement: str,
        *,
        message: str = "",
        remedies: Sequence[Remedy] = (),
    ) -> None:
        super().__init__(message or f"{parameter}={value!r} must be {requirement}.", remedies=remedies)
        self.args = (parameter, value, requirement)  # what unpickling passes to the class
        self.parameter, self.value, self.requirement = parameter, value, requirement


class MissingDependencyError(UsageError, ImportError):
    """An optional package is not installed."""

    def __init__(self, what: str, package: str, extra: str) -> None:
        super().__init__(f'{what} needs {package}, which is not installed. Try: pip install "mercer[{extra}]"')
        self.args = (what, package, extra)
        self.what, self.package, self.extra = what, package, extra


class DataError(MercerError, ValueError):
    """The data cannot be used as they are."""

    exit_code = 3

    def __init__(
        self,
        message: str,
        *,
        source: object = "X",
        row: int | None = None,
        column: str | None = None,
        value: object = None,
        remedies: Sequence[Remedy] = (),
    ) -> None:
        super().__init__(message, remedies=remedies)
        self.source, self.row, self.column, self.value = str(source), row, column, value


class MissingValuesError(DataError):
    """The data have missing values, which this model does not accept."""


class ModelFileError(DataError):
    """A file is damaged or is not a model file."""


class NotCertifiedError(MercerError):
    """A result was computed, but its error bound is larger than requested."""

    exit_code = 4


class MemoryLimitError(MercerError, MemoryError):
    """The work needs more memory than the limit. Raised before the memory is allocated."""

    exit_code = 5

    def __init__(
        self,
        message: str,
        *,
        needed: int | None = None,
        limit: int | None = None,
        remedies: Sequence[Remedy] = (),
    ) -> None:
        super().__init__(message, remedies=remedies)
        self.needed, self.limit = needed, limit


class ClusterError(MercerError, RuntimeError):
    """A cluster has no workers, has other versions of the packages, or does not answer."""

    exit_code = 6


class OutputError(MercerError, OSError):
    """A file cannot be written."""

    exit_code = 5

    def __init__(self, message: str, *, path: str | Path = "") -> None:
        super().__init__(message)
        self.path = Path(path)


class MercerWarning(UserWarning):
    """A property of the result that the user should know.

    Attributes
    ----------
    summary : str
        The text without remedies.
    severity : {"note", "caution", "meaningless"}
        "meaningless": the components do not describe the data.
    remedies : tuple of Remedy
        Parameters that would help.
    """

    def __init__(self, summary: str, severity: Severity = "caution", remedies: Sequence[Remedy] = ()) -> None:
        super().__init__(summary, severity, tuple(remedies))
        self.summary, self.severity, self.remedies = summary, severity, tuple(remedies)

    def __str__(self) -> str:
        return _with_remedies(self.summary, self.remedies)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self.args == other.args

    def __hash__(self) -> int:
        return hash(str(self))


def warn(
    summary: str | MercerWarning,
    *,
    severity: Severity = "caution",
    remedies: Sequence[Remedy] = (),
    category: type[MercerWarning] = MercerWarning,
) -> None:
    """Issue a warning that points to the first line outside mercer and scikit-learn; a fit collects it."""
    warning = summary if isinstance(summary, MercerWarning) else category(summary, severity, remedies)
    collected = _collected.get()
    if collected is not None:
        collected.append(warning)
    depth, frame = 1, sys._getframe(1)
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] in _OWN_PACKAGES:
        depth, frame = depth + 1, frame.f_back
    warnings.warn(warning, stacklevel=depth + 1)


def note(summary: str) -> None:
    """Keep a note with the fit that runs, and issue no warning."""
    collected = _collected.get()
    if collected is not None:
        collected.append(MercerWarning(summary, "note"))


def warn_each(found: Iterable[str | MercerWarning]) -> None:
    """Issue each warning; empty texts are skipped."""
    for warning in found:
        if warning:
            warn(warning)


@contextmanager
def collect_warnings() -> Iterator[list[MercerWarning]]:
    """Collect what `warn` reports in this context, whatever the warning filters are."""
    found: list[MercerWarning] = []
    token = _collected.set(found)
    try:
        yield found
    finally:
        _collected.reset(token)


def unique(found: Iterable[MercerWarning]) -> tuple[MercerWarning, ...]:
    """Each warning once, in order."""
    return tuple(dict.fromkeys(found))


def __getattr__(name: str) -> Any:
    """Look the names of the first edition up there, until the public names are switched."""
    from importlib import import_module

    if name == "__path__":  # asked by every `from mercer.errors import …`; must not load the first edition
        raise AttributeError(name)
    return getattr(import_module("mercer_old.errors"), name)
