"""JSON without surprises: no key twice, no NaN, no depth that exhausts a parser, and one way to write everything."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np

from mercer_old.errors import BadModel
from mercer_old.terminal import plain

__all__ = ["as_json", "from_json"]

_DEEPEST = 40  # brackets within brackets; sums of kernels are the deepest that is written
_OPEN, _CLOSE = (np.frombuffer(marks, dtype=np.uint8) for marks in (b"[{", b"]}"))
_STRINGS = re.compile(rb'"(?:[^"\\]|\\.)*+"', re.DOTALL)


def as_json(value: Any) -> str:
    """The same text for the same value, in ASCII."""
    return json.dumps(value, allow_nan=False, ensure_ascii=True, separators=(",", ":"))


def from_json(raw: bytes, path: Path) -> Any:
    """What a text says, or one sentence."""
    try:
        if _depth(raw) > _DEEPEST:
            raise ValueError(f"brackets within brackets, more than {_DEEPEST} deep")
        return json.loads(raw.decode("utf-8"), object_pairs_hook=_once, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        why = str(error).partition("\n")[0][:200] or "it is no JSON"
        raise BadModel(f"{plain(path)} is no model file that can be used: its header is damaged ({why}).") from None


def _depth(raw: bytes) -> int:
    """The most brackets that are open at once, outside of strings."""
    marks = np.frombuffer(_STRINGS.sub(b"", raw), dtype=np.uint8)
    steps = np.isin(marks, _OPEN).view(np.int8) - np.isin(marks, _CLOSE).view(np.int8)
    return int(np.cumsum(steps, dtype=np.int32).max(initial=0))


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name comes twice")
    return found


def _refuse(word: str) -> None:
    raise ValueError(f"{word} is no number of JSON")
