"""Bad and odd files, command lines and processes, as tables: how each is made, and what has to come out."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

A = np.array([[1.0, 2.0], [3.0, 5.0], [4.0, 4.5], [-2.0, 0.25]])  # what most of the files hold


@dataclass(frozen=True)
class Case:
    """A file, and what has to come of it: rows, rows and a warning, or one sentence."""

    name: str
    make: Any  # bytes or text of the file, or a function of its path
    rows: Any = None  # None: it is refused
    words: str = ""  # of the warning, or of the sentence: a regular expression
    file: str = "x.csv"
    options: dict = field(default_factory=dict)  # of open_rows
    arguments: tuple = ()  # the same on the command line
    by_the_fit: bool = False  # whether the file is good, and its rows are not

    def write(self, folder):
        path = folder / self.file
        if callable(self.make):
            self.make(path)
        else:
            path.write_bytes(self.make.encode() if isinstance(self.make, str) else self.make)
        return path


def drop(*names):
    return {"options": {"drop": list(names)}, "arguments": tuple(part for name in names for part in ("--drop", name))}


def said(**options):
    """The same in Python and on the command line."""
    arguments = tuple(part for name, value in options.items() for part in (f"--{name}", value))
    return {"options": options, "arguments": arguments}
