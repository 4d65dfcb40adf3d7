"""The walk through the house that a fit takes: which files a reader comes through, and how often back to one.

    python tools/walk.py

A function is read when it is first called, so that each is one step, in the order of first calls, and a row of steps
in one file is one line. Three things are left out:

- rooms below `sources`, which are tools: errors, budgets, threads, sums;
- functions of a single statement, whose name is all there is to read, and what scikit-learn asks for (`__…__`);
- coming back to a room below `plans`: solvers, operators, kernels answer through their contracts (a product, an entry,
  a certificate), so that a file of theirs is read where it is first asked.

Coming back to a file of `plans` and above is a return, ↩: there the story is told, and should be told in one go. Fits
have one thread, so that the work of tiles is on the walk.
"""

import ast
import sys
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import mercer_old

HOUSE = Path(mercer_old.__file__).parent
STORY = {"plans", "readings", "fits", "drop_in", "models"}
CONTRACTS = {"sources", "kernels", "spaces", "sweeps", "operators", "solvers", "certificates"}


@dataclass(frozen=True)
class Hop:
    """Functions of one file that are read one after the other."""

    file: str  # below src/mercer_old
    names: list[str]
    back: bool  # whether the file had been left before

    @property
    def is_return(self) -> bool:
        return self.back and _room(Path(self.file)) in STORY

    def __str__(self) -> str:
        return f"{'↩ ' if self.back else ''}{self.file}: {', '.join(self.names)}"


@dataclass(frozen=True)
class Walk:
    """The hops of a fit in the order of first calls."""

    title: str
    hops: list[Hop]

    @property
    def files(self) -> list[str]:
        """Each once, in order."""
        return list(dict.fromkeys(hop.file for hop in self.hops))

    @property
    def returns(self) -> int:
        return sum(hop.is_return for hop in self.hops)

    @property
    def told(self) -> list[str]:
        """The files of it in which the story is told."""
        return [file for file in self.files if _room(Path(file)) in STORY]

    @property
    def count(self) -> str:
        asked = len(self.files) - len(self.told)
        return f"told in {len(self.told)} files with {self.returns} returns, and {asked} files are asked on the way"

    def __str__(self) -> str:
        shown = [str(hop) for hop in self.hops if hop.is_return or not hop.back]
        return "\n".join([f"{self.title}: {self.count}", *shown])


def walk(title: str, make: Callable[[], Any], X: Any) -> Walk:
    """What `fit` comes through. It runs once before, so that imports and first uses are over."""
    called: dict[CodeType, None] = {}

    def look(frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            called.setdefault(frame.f_code)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        make().fit(X)
        model, before = make(), sys.getprofile()
        sys.setprofile(look)
        try:
            model.fit(X)
        finally:
            sys.setprofile(before)
    return Walk(title, _hops([code for code in called if _is_read(code)]))


def _hops(codes: list[CodeType]) -> list[Hop]:
    hops: list[Hop] = []
    for code in codes:
        file = Path(code.co_filename).relative_to(HOUSE).as_posix()
        if not hops or hops[-1].file != file:
            hops.append(Hop(file, [], file in {hop.file for hop in hops}))
        hops[-1].names.append(code.co_name)
    return hops


def _room(file: Path) -> str:
    return Path(file.parts[0]).stem


def _is_read(code: CodeType) -> bool:
    """Whether it is a function of a room that counts, with something to read in it."""
    path = Path(code.co_filename)
    if not path.is_relative_to(HOUSE) or _room(path.relative_to(HOUSE)) not in STORY | CONTRACTS:
        return False
    named = not code.co_name.startswith(("<", "__")) or code.co_name == "__init__"
    return named and _statements(path).get(code.co_firstlineno, 0) > 1


@cache
def _statements(path: Path) -> dict[int, int]:
    """How many statements every function has, by its first line as code objects know it; the docstring is none."""
    found = {}
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef):
            first = node.decorator_list[0].lineno if node.decorator_list else node.lineno
            inner = sum(isinstance(part, ast.stmt) for part in ast.walk(node)) - 1
            found[first] = inner - (ast.get_docstring(node) is not None)
    return found


def walks() -> list[Walk]:
    """Kernel PCA of rows, PCA of a file, locally linear embedding of rows."""
    import numpy as np

    from mercer import PCA, KernelPCA, LocallyLinearEmbedding

    X = np.random.default_rng(0).normal(size=(600, 4))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.npy"
        np.save(path, X)
        return [
            walk('KernelPCA(5, kernel="rbf").fit(X)', lambda: KernelPCA(5, kernel="rbf", n_jobs=1), X),
            walk("PCA(2).fit(path)", lambda: PCA(2, n_jobs=1), path),
            walk("LocallyLinearEmbedding().fit(X)", lambda: LocallyLinearEmbedding(n_jobs=1), X),
        ]


if __name__ == "__main__":
    print("\n\n".join(map(str, walks())))
