"""What a schema is."""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer_old.arrays import here
from mercer_old.errors import in_short, listed
from mercer_old.store.facts import Fact, Sizes
from mercer_old.store.reasons import Unusable

__all__ = ["DTYPES", "Facts", "Schema", "dtype_named", "has_all", "set_fitted", "taken"]

Facts = dict[str, Any]  # by their names; None is nothing
DTYPES = ("float64", "float32")


@dataclass(frozen=True)
class Schema:
    """The facts of a model, and the ways from it to them and back."""

    model: type
    facts: tuple[Fact, ...]
    take: Callable[[Any], Facts]
    give: Callable[[Any, Facts], None]
    inner: str = ""  # a fact that is another fitted model

    def checked(self, found: Facts) -> Facts:
        """The facts, each of the right kind and as large as the others say; what is none of them is refused."""
        known = {fact.name for fact in self.facts}
        unknown = [name for name, value in found.items() if name not in known and value is not None]
        if unknown:
            raise Unusable(
                f"{self.model.__name__} has no {listed(map(in_short, unknown))}; it may come from a newer mercer"
            )
        sizes: Sizes = {}
        return {fact.name: fact.checked(found.get(fact.name), sizes) for fact in self.facts}


def taken(model: Any, names: Iterable[str]) -> Facts:
    """Fitted names without their underscores, as plain values; those that a model has not (yet) are left out."""
    found = {name: vars(model).get(f"{name}_") for name in names}
    return {name: _plain(value) for name, value in found.items()}


def _plain(value: Any) -> Any:
    """An array of numpy, or a number of Python."""
    if isinstance(value, np.generic):
        return value.item()
    return here(value)


def set_fitted(model: Any, facts: Facts, names: Iterable[str]) -> None:
    """The way back."""
    for name in names:
        if facts[name] is not None:
            setattr(model, f"{name}_", facts[name])


def has_all(found: Facts, names: Collection[str]) -> bool:
    """Whether facts that belong together are there: all of them, or none."""
    missing = [name for name in names if found[name] is None]
    if missing and len(missing) < len(names):
        raise Unusable(f"{listed(missing)} {'are' if len(missing) > 1 else 'is'} missing")
    return not missing


def dtype_named(model: Any) -> str:
    return str(np.dtype(model._dtype).name)
