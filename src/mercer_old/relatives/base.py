"""The contract of a method: a value that says what it keeps and assumes, and that can be fitted."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from importlib import import_module
from importlib.util import find_spec
from typing import Any, ClassVar

import numpy as np

from mercer_old.arrays import Array
from mercer_old.errors import BadData, in_short

__all__ = ["Fitted", "Method", "first_installed", "install_line", "rows_of"]

EXTRA = "relatives"


@dataclass(frozen=True)
class Fitted:
    """What a fit gives.

    Parameters
    ----------
    coordinates : ndarray of shape (n_samples, n_components)
        Where the rows of the fit lie.
    transform : callable or None
        From new rows to their coordinates, where the method places new rows.
    inverse : callable or None
        From coordinates to rows of the input, where it goes back.
    by : str
        The library, or class, that did it.
    """

    coordinates: Array = field(repr=False)
    transform: Callable[[Any], Array] | None = None
    inverse: Callable[[Any], Array] | None = None
    by: str = ""


@dataclass(frozen=True)
class Method(ABC):
    """A way from rows to a few coordinates. Frozen, comparable, printable; its fields are its settings."""

    name: ClassVar[str]
    label: ClassVar[str]
    keeps: ClassVar[str]  # what of the rows, in one honest phrase
    assumes: ClassVar[str]
    seeds_matter: ClassVar[bool]
    takes_gaps: ClassVar[bool] = False
    extra: ClassVar[str] = ""  # that has to be installed for more than the fallback

    @property
    @abstractmethod
    def places_new(self) -> bool:
        """Whether rows that were not in the fit get coordinates."""

    @property
    @abstractmethod
    def goes_back(self) -> bool:
        """Whether coordinates lead back to rows of the input."""

    @abstractmethod
    def missing(self) -> str | None:
        """None if it can be fitted here, else one sentence with what to install."""

    @abstractmethod
    def load(self) -> str:
        """Import what a fit needs, and say what that is: no fit has to count it into its time."""

    @abstractmethod
    def fit(self, X: Any, n_components: int = 2, random_state: int | None = 0, n_jobs: int | None = None) -> Fitted:
        """Coordinates of the rows, and what else can be done with them."""

    @property
    def settings(self) -> dict[str, Any]:
        """By name, those that are not as usual."""
        return {f.name: value for f in fields(self) if (value := getattr(self, f.name)) != f.default}

    @property
    def title(self) -> str:
        """The label, with what is not usual about it."""
        said = ", ".join(f"{name}={in_short(value, 30)}" for name, value in self.settings.items())
        return f"{self.label} ({said})" if said else self.label


def first_installed(*packages: str) -> str | None:
    """The first of these that can be imported, without importing it."""
    for package in packages:
        try:
            if find_spec(package) is not None:
                return package
        except (ImportError, ValueError):  # a package that is blocked, or broken
            continue
    return None


def library(package: str) -> Any:
    """The module, and nothing else at this time."""
    return import_module(package)


def install_line(what: str, package: str) -> str:
    return f'{what} needs {package}, which is not installed. Try: pip install "mercer[{EXTRA}]"'


def rows_of(X: Any, fewest: int = 2) -> Array:
    """Finite numbers in rows, at least so many."""
    from sklearn.utils import check_array

    from mercer_old.inputs import table, told_where

    X = table(X)
    with told_where(X):
        X = check_array(X, dtype=(np.float64, np.float32))
    if len(X) < fewest:
        raise BadData(f"X has {len(X)} rows, and at least {fewest} are needed.")
    return X
