"""The measures of the house: how long files and functions are, how many names there are, who asks what rows are.

    python tools/measures.py [COMMIT ...]

One column for each commit, and one for the tree as it stands. Nothing is imported: the sources are read.
"""

import ast
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = "src/mercer/"
MAY_ASK = ("sources/", "kernels/")  # rooms that are there to know what rows are made of
KINDS_OF_ROWS = re.compile(r"\b(\w*Rows|RowSource|\w*Items|Given)\b")

Function = ast.FunctionDef | ast.AsyncFunctionDef
Named = Function | ast.ClassDef


class House:
    """The modules of one version, by their paths below src/mercer."""

    def __init__(self, texts: dict[str, str]) -> None:
        self.texts = texts
        self.trees = {path: ast.parse(text) for path, text in texts.items()}

    @classmethod
    def of_commit(cls, commit: str) -> "House":
        paths = _git("ls-tree", "-r", "--name-only", commit, PACKAGE).splitlines()
        chosen = [path for path in paths if path.endswith(".py")]
        return cls({path.removeprefix(PACKAGE): _git("show", f"{commit}:{path}") for path in chosen})

    @classmethod
    def as_it_stands(cls) -> "House":
        folder = ROOT / PACKAGE
        paths = sorted(folder.rglob("*.py"))
        return cls({path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8") for path in paths})

    def lengths(self) -> dict[str, int]:
        """Lines of the modules that hold something: those called `__init__` only say what a room is for."""
        return {path: len(text.splitlines()) for path, text in self.texts.items() if not path.endswith("__init__.py")}

    def bodies(self) -> Iterator[tuple[int, str]]:
        """Lines of every function, its docstring not counted; constructors, which scikit-learn wants long, are not."""
        for path, tree in self.trees.items():
            for node in ast.walk(tree):
                if isinstance(node, Function) and node.name != "__init__":
                    yield _body(node), f"{path}:{node.name}"

    def definitions(self) -> Iterator[tuple[str, str]]:
        """Functions and classes at the top of a module without an underscore, with the module."""
        for path, tree in self.trees.items():
            for node in tree.body:
                if isinstance(node, Named) and not node.name.startswith("_"):
                    yield path, node.name

    def constants(self) -> Iterator[tuple[str, str]]:
        for path, tree in self.trees.items():
            for node in tree.body:
                if isinstance(node, ast.Assign):
                    names = [name for target in node.targets for name in ast.walk(target) if isinstance(name, ast.Name)]
                    yield from ((path, name.id) for name in names if not name.id.startswith("_"))

    def exported(self) -> set[str]:
        """Every name that some `__all__` has."""
        found: set[str] = set()
        for tree in self.trees.values():
            for node in tree.body:
                if isinstance(node, ast.Assign) and "__all__" in [ast.unparse(target) for target in node.targets]:
                    found |= {str(item.value) for item in ast.walk(node.value) if isinstance(item, ast.Constant)}
        return found

    def calls(self, function: str) -> Iterator[tuple[str, ast.Call]]:
        """Where a function is called, but by those who may."""
        for path, tree in self.trees.items():
            if not path.startswith(MAY_ASK):
                for node in ast.walk(tree):
                    if isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] == function:
                        yield path, node


def _git(*command: str) -> str:
    return subprocess.run(["git", *command], capture_output=True, text=True, check=True, cwd=ROOT).stdout


def _body(function: Function) -> int:
    said = function.body[1:] if ast.get_docstring(function) is not None else function.body
    return (said[-1].end_lineno or 0) - said[0].lineno + 1 if said else 0


def _twice(definitions: Iterator[tuple[str, str]]) -> list[str]:
    """Names that are defined in more than one module."""
    homes: defaultdict[str, set[str]] = defaultdict(set)
    for path, name in definitions:
        homes[name].add(path)
    return sorted(name for name, paths in homes.items() if len(paths) > 1)


def _longest(house: House) -> str:
    length, name = max(house.bodies())
    return f"{length} ({name})"


def _largest(house: House) -> str:
    path = max(house.lengths(), key=house.lengths().__getitem__)
    return f"{house.lengths()[path]} ({path})"


def _rows_asked(house: House) -> list[str]:
    asked = house.calls("isinstance")
    return [path for path, call in asked if KINDS_OF_ROWS.search(ast.unparse(call.args[1]))]


MEASURES: dict[str, Callable[[House], object]] = {
    "files": lambda house: len(house.lengths()),
    "lines": lambda house: sum(house.lengths().values()),
    "files in models/": lambda house: sum(path.startswith("models/") for path in house.lengths()),
    "lines of a file, median": lambda house: round(median(house.lengths().values())),
    "lines of a file, at most": _largest,
    "files over 400 lines": lambda house: sum(lines > 400 for lines in house.lengths().values()),
    "lines of a function body, median": lambda house: round(median(lines for lines, _ in house.bodies())),
    "lines of a function body, at most": _longest,
    "function bodies over 60 lines": lambda house: sum(lines > 60 for lines, _ in house.bodies()),
    "functions and classes without an underscore": lambda house: len(list(house.definitions())),
    "… of which no `__all__` has the name": lambda house: sum(
        name not in house.exported() for _, name in house.definitions()
    ),
    "homonyms: functions and classes": lambda house: len(_twice(house.definitions())),
    "homonyms: constants and aliases": lambda house: len(_twice(house.constants())),
    "`isinstance(…, …Rows)` outside sources/, kernels/": lambda house: len(_rows_asked(house)),
    "`issparse` outside sources/, kernels/": lambda house: len(list(house.calls("issparse"))),
}


def table(houses: dict[str, House]) -> str:
    lines = [f"| | {' | '.join(houses)} |", "|---|" + "---|" * len(houses)]
    for name, measure in MEASURES.items():
        lines.append(f"| {name} | {' | '.join(str(measure(house)) for house in houses.values())} |")
    return "\n".join(lines)


def main(commits: list[str]) -> None:
    now = House.as_it_stands()
    print(table({commit: House.of_commit(commit) for commit in commits} | {"now": now}))
    print(f"\nDefined in two modules: {', '.join(_twice(now.definitions())) or 'nothing'}.")
    print(f"Constants of one name in two modules: {', '.join(_twice(now.constants())) or 'none'}.")
    print(f"Who asks which kind of rows: {', '.join(_rows_asked(now)) or 'nobody'}.")
    print(f"Who asks whether rows are sparse: {', '.join(path for path, _ in now.calls('issparse')) or 'nobody'}.")


if __name__ == "__main__":
    main(sys.argv[1:])
