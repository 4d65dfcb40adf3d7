"""Records that JSON can say, and the way back: a dataclass from what its fields were written as."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

__all__ = ["as_record"]


def as_record(kind: Any, said: Any) -> Any:
    """What was said, as this type: dataclasses from dicts, tuples from lists, everything else as it is."""
    origin = get_origin(kind)
    if origin in (Union, UnionType):
        return None if said is None else as_record(_meant(kind), said)
    if origin is tuple:
        return tuple(as_record(get_args(kind)[0], each) for each in said)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return {name: as_record(get_args(kind)[1], each) for name, each in said.items()}
    if is_dataclass(kind) and isinstance(kind, type):
        types = _types(kind)
        return kind(**{field.name: as_record(types[field.name], said[field.name]) for field in fields(kind)})
    return said


@cache
def _types(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)


def _meant(kind: Any) -> Any:
    """Of a record that may be missing, the record; of numbers or texts, whatever was said."""
    there = [each for each in get_args(kind) if each is not NoneType]
    return there[0] if len(there) == 1 else Any
