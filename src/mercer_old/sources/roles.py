"""Which column of a table is what: a feature, the names of rows, a label, written along, or left out."""

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from mercer_old.arrays import arrow
from mercer_old.errors import BadData, listed

__all__ = [
    "Asked",
    "about_names",
    "index_of_pandas",
    "index_without_name",
    "is_text",
    "named_columns",
    "refuse_unknown",
]

_INDEX_LEVEL = re.compile(r"__index_level_\d+__")


@dataclass(frozen=True)
class Asked:
    """What was asked of the columns of a table."""

    columns: Sequence[str] | None = None
    drop: Sequence[str] = ()
    id: str | None = None
    label: str | None = None
    keep: Sequence[str] = ()
    most: float = float("inf")  # bytes that columns beside the features may take

    @property
    def beside(self) -> tuple[str, ...]:
        """The columns that are written along, each once: the label first."""
        return tuple(dict.fromkeys([*([] if self.label is None else [self.label]), *self.keep]))

    @property
    def no_features(self) -> set[str]:
        return {*self.drop, *self.beside, *([] if self.id is None else [self.id])}


def named_columns(names: Sequence[str], asked: Asked, label: str) -> tuple[str, ...]:
    """The columns that may be features, in the file's order if all, in the asked order else."""
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise BadData(f"{label} has more than one column called {listed(map(repr, twice))}; rename them.")
    said = [*(asked.columns or ()), *asked.drop, *asked.beside, *([] if asked.id is None else [asked.id])]
    refuse_unknown(said, names, label)
    repeated = [name for name, count in Counter(asked.columns or ()).items() if count > 1]
    if repeated:
        raise BadData(f"Column {repeated[0]!r} of {label} was asked for more than once.")
    if asked.columns is None and "" in names[1:] and "" not in asked.no_features:
        raise BadData(f"{label} has a column without a name that is not the first one: leave it out: drop=[''].")
    if asked.id is not None and asked.id in (asked.columns or ()):
        raise BadData(f"Column {asked.id!r} of {label} is asked for as a feature, and as the names of rows.")
    if asked.columns is not None:  # a label among them is a feature as well: of a model that was fitted with it
        return tuple(name for name in asked.columns if name not in set(asked.drop))
    others = asked.no_features
    return tuple(name for name in names if name not in others and not _INDEX_LEVEL.fullmatch(name))


def refuse_unknown(said: Sequence[str], names: Sequence[str], label: str) -> None:
    """One sentence for a column that is not there, with the names that are near."""
    known = set(names)
    unknown = [name for name in said if name not in known]
    if not unknown:
        return
    near = get_close_matches(str(unknown[0]), [str(name) for name in names[:10_000]], 3, 0.6)
    small = [name for name in names if str(name).lower() == str(unknown[0]).lower()]
    guess = f" Did you mean {listed(map(repr, dict.fromkeys([*small, *near])))}?" if small or near else ""
    has = listed(map(repr, names), 20) or "none"
    raise BadData(f"{label} has no column {listed(map(repr, unknown))}; it has {has}.{guess}")


def about_names(name: str, why: str = "as R and pandas write names of rows") -> str:
    return f"column {name!r} names rows, {why} (--id)"


def index_without_name(names: Sequence[str]) -> str | None:
    """The first column, if it is one that R or pandas wrote as names of rows."""
    return names[0] if names and names[0] in ("", "Unnamed: 0") else None


def index_of_pandas(schema: Any) -> str | None:
    """The column that was the index of a frame of pandas, as it says in the file."""
    try:
        said = json.loads((schema.metadata or {}).get(b"pandas", b"{}"))
        indices = said.get("index_columns", [])
    except (ValueError, AttributeError, RecursionError):
        return None
    first = indices[0] if isinstance(indices, list) and len(indices) == 1 else None
    return first if isinstance(first, str) and first in schema.names else None


def is_text(kind: Any) -> bool:
    """Whether a column of this type of Arrow has texts, as they are or by their numbers in a list."""
    types = arrow("types")
    kind = kind.value_type if types.is_dictionary(kind) else kind
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))
