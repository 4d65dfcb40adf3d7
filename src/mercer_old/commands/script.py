"""Python for people to keep: what a command does, as a script that is complete and runs."""

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from inspect import signature
from pathlib import Path
from typing import Any

__all__ = ["Piece", "Script", "within"]


@dataclass(frozen=True)
class Piece:
    """Python that is written as it is: the name of a variable, a call."""

    text: str


class Script:
    """Lines, below the imports that they ask for."""

    def __init__(self) -> None:
        self._modules: dict[str, set[str]] = {}
        self._lines: list[str] = []

    def add(self, line: str) -> None:
        self._lines.append(line)

    def set(self, name: str, value: Any) -> Piece:
        """A variable."""
        self.add(f"{name} = {self.written(value)}")
        return Piece(name)

    def named(self, name: str, module: str = "mercer") -> Piece:
        """What a module has; imported."""
        self._modules.setdefault(module, set()).add(name)
        return Piece(name)

    def call(self, function: str, *values: Any, module: str = "mercer", **named: Any) -> Piece:
        """A call of a function, which is imported unless it is a method."""
        if "." not in function:
            self.named(function, module)
        given = [*map(self.written, values), *(f"{name}={self.written(value)}" for name, value in named.items())]
        return Piece(f"{function}({', '.join(given)})")

    def written(self, value: Any) -> str:
        """A value in Python; kernels with what is not usual about them."""
        if isinstance(value, Piece):
            return value.text
        if isinstance(value, Path):
            return repr(str(value))
        if isinstance(value, Mapping):
            return f"{{{', '.join(f'{key!r}: {self.written(each)}' for key, each in value.items())}}}"
        if isinstance(value, list | tuple):
            return f"[{', '.join(map(self.written, value))}]"
        if is_dataclass(value) and not isinstance(value, type):
            unusual = {f.name: getattr(value, f.name) for f in fields(value) if f.init and not _is_usual(f, value)}
            return self.call(type(value).__name__, module="mercer.kernels", **unusual).text
        if hasattr(value, "get_params"):
            return self.call(type(value).__name__, **_unusual_parameters(value)).text
        return repr(value)

    def __str__(self) -> str:
        imports = [
            f"from {module} import {', '.join(sorted(names, key=str.lower))}"
            for module, names in sorted(self._modules.items())
        ]
        return "\n".join([*imports, "", *self._lines])


def within(header: str, code: str, *imports: str) -> str:
    """A script whose lines, but for the imports, stand below a header."""
    lines = code.split("\n")
    first = next(i for i, line in enumerate(lines) if line and not line.startswith(("import ", "from ")))
    body = [f"    {line}" if line else line for line in lines[first:]]
    plain = [line for line in lines[:first] if line.startswith("import ")]
    named = sorted([*(line for line in lines[:first] if line.startswith("from ")), *imports])
    return "\n".join([*plain, *([""] if plain else []), *named, "", header, *body])


def _unusual_parameters(model: Any) -> dict[str, Any]:
    """Of an estimator; that it shows its progress is for terminals."""
    usual = {name: each.default for name, each in signature(type(model)).parameters.items()}
    given = model.get_params(deep=False).items()
    return {name: value for name, value in given if name != "progress" and not _same(value, usual[name])}


def _same(value: Any, usual: Any) -> bool:
    return type(value) is type(usual) and bool(value == usual)


def _is_usual(field: Any, value: Any) -> bool:
    usual = field.default_factory() if field.default_factory is not MISSING else field.default
    return bool(usual is not MISSING and getattr(value, field.name) == usual)
