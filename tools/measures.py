"""Measures of the source tree: size, repeated names, private attributes across packages, complete call traces.

    python tools/measures.py [mercer] [mercer_old] [--trace PCA] [--json]

Without a name both trees are measured. A trace has every function of the package that is called, in all threads, from
the second run on: the first one imports and fills caches. Functions are counted as Python runs them, lambdas and
comprehensions too, so that another version of Python may count a few more or less. --trace prints one in the order of
first calls.
"""

import argparse
import ast
import contextlib
import importlib
import io
import json
import os
import sys
import tempfile
import threading
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
EDITIONS = "mercer", "mercer_old"
COMPREHENSIONS = "<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"
Function = ast.FunctionDef | ast.AsyncFunctionDef
Run = Callable[[], object]


# ---------------------------------------------------------------------------------------------- what the sources say


class Tree:
    """The modules below a folder, by their paths. They are read, not imported."""

    def __init__(self, folder: Path) -> None:
        self.texts = {
            path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8")
            for path in sorted(folder.rglob("*.py"))
        }
        self.modules = {path: ast.parse(text) for path, text in self.texts.items()}

    def nodes(self) -> Iterator[tuple[str, ast.AST]]:
        for path, module in self.modules.items():
            for node in ast.walk(module):
                yield path, node

    def sizes(self) -> dict[str, int]:
        nodes = [node for _, node in self.nodes()]
        return {
            "lines": sum(len(text.splitlines()) for text in self.texts.values()),
            "files": len(self.texts),
            "functions": sum(isinstance(node, Function) for node in nodes),
            "classes": sum(isinstance(node, ast.ClassDef) for node in nodes),
        }

    def repeated_names(self) -> dict[str, list[str]]:
        """Functions, classes and constants that are defined at the top of two modules or more, with the modules."""
        homes: defaultdict[str, set[str]] = defaultdict(set)
        for path, module in self.modules.items():
            for name in _defined(module.body):
                if not _is_dunder(name):
                    homes[name].add(path)
        return {name: sorted(paths) for name, paths in sorted(homes.items()) if len(paths) > 1}

    def repeated_modules(self) -> dict[str, list[str]]:
        """Modules of one name in two packages or more, `__init__` and `__main__` left out."""
        homes: defaultdict[str, list[str]] = defaultdict(list)
        for path in self.modules:
            if not _is_dunder(Path(path).stem):
                homes[Path(path).stem].append(path)
        return {name: paths for name, paths in sorted(homes.items()) if len(paths) > 1}

    def private_reads(self) -> list[str]:
        """Private names of another package that a module uses: `x._name`, or an import of `_name`.

        A name counts if another package defines it and the own one does not. Attributes of `self` and `cls` do not
        count: a class may use what it inherits.
        """
        homes: defaultdict[str, set[str]] = defaultdict(set)
        for path, node in self.nodes():
            for name in _private_definitions(node):
                homes[name].add(_package(path))
        found = []
        for path, node in self.nodes():
            for name in _private_uses(node):
                if homes[name] and _package(path) not in homes[name]:
                    line = getattr(node, "lineno", 0)
                    found.append(f"{path}:{line} {name} ({', '.join(sorted(homes[name]))})")
        return found


def _package(path: str) -> str:
    """The folder of a module at the top of the tree, or the module itself."""
    return Path(Path(path).parts[0]).stem


def _is_dunder(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


def _is_private(name: str) -> bool:
    return name.startswith("_") and not _is_dunder(name) and name != "_"


def _defined(body: list[ast.stmt]) -> Iterator[str]:
    """Names of functions, classes and variables of a module or class body."""
    for node in body:
        if isinstance(node, Function | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                yield from (part.id for part in ast.walk(target) if isinstance(part, ast.Name))


def _private_definitions(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Module | ast.ClassDef):
        yield from filter(_is_private, _defined(node.body))
    elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and _is_private(node.attr):
        yield node.attr


def _private_uses(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load) and _is_private(node.attr):
        owner = node.value
        inherited = isinstance(owner, ast.Name) and owner.id in ("self", "cls")
        if not inherited and ast.unparse(owner) != "super()":
            yield node.attr
    elif isinstance(node, ast.ImportFrom):
        yield from (alias.name for alias in node.names if _is_private(alias.name))


# ---------------------------------------------------------------------------------------------- what runs


class Step(NamedTuple):
    """A function of the package, where it is first called."""

    file: str
    function: str
    line: int
    depth: int  # functions of the package that wait for it


class Trace:
    """All functions of a package that a run calls, in the order of first calls."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.steps: dict[tuple[str, CodeType], Step] = {}
        self.hops: set[tuple[str, str]] = set()  # file of the caller, file of the called
        self.n_calls = 0
        self._prefix = str(folder) + os.sep
        self._lock = threading.Lock()
        self._recording = False

    def record(self, run: Run, *, warm_up: bool = True) -> None:
        """Call `run`, and once before without recording. Threads that the first call starts are recorded as well."""
        before = sys.getprofile(), threading.getprofile()
        threading.setprofile(self._look)
        sys.setprofile(self._look)
        try:
            if warm_up:
                run()
            self._recording = True
            run()
        finally:
            self._recording = False
            sys.setprofile(before[0])
            threading.setprofile(before[1])

    def _look(self, frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event != "call" or not self._recording or not code.co_filename.startswith(self._prefix):
            return
        file, callers = self._file(code), self._callers(frame)
        with self._lock:
            self.n_calls += 1
            if callers and callers[0] != file:
                self.hops.add((callers[0], file))
            self.steps.setdefault(
                (code.co_filename, code), Step(file, code.co_qualname, code.co_firstlineno, len(callers))
            )

    def _file(self, code: CodeType) -> str:
        return Path(code.co_filename).relative_to(self.folder).as_posix()

    def _callers(self, frame: FrameType) -> list[str]:
        """The files of the package that wait for a call in this thread, the nearest first."""
        files, caller = [], frame.f_back
        while caller is not None:
            if caller.f_code.co_filename.startswith(self._prefix):
                files.append(self._file(caller.f_code))
            caller = caller.f_back
        return files

    @property
    def files(self) -> list[str]:
        return list(dict.fromkeys(step.file for step in self.steps.values()))

    def counts(self) -> dict[str, int]:
        names = [step.function.rpartition(".")[2] for step in self.steps.values()]
        return {
            "files": len(self.files),
            "functions": len(names),
            "of which comprehensions": sum(name in COMPREHENSIONS for name in names),
            "hops between files": len(self.hops),
            "calls": self.n_calls,
        }

    def __str__(self) -> str:
        lines = []
        for step in self.steps.values():
            lines.append(f"{'  ' * step.depth}{step.function}  {step.file}:{step.line}")
        return "\n".join(lines)


class NotThereError(Exception):
    """This edition does not have what is to be traced."""


def _home(package: str, name: str) -> Any:
    """The module that offers a class of this package: `mercer` hands out names of the first edition, too."""
    for home in (package, f"{package}.estimators"):
        with contextlib.suppress(ImportError, AttributeError):
            module = importlib.import_module(home)
            if getattr(module, name).__module__.startswith(f"{package}."):
                return module
    raise NotThereError(f"{package} does not have {name}")


def _fit(name: str, **parameters: Any) -> Callable[[str], AbstractContextManager[Run]]:
    """`mercer.PCA().fit(X)`, the lookup of the name included."""

    @contextmanager
    def prepare(package: str) -> Iterator[Run]:
        import numpy as np

        home = _home(package, name)
        X = np.random.default_rng(0).normal(size=(600, 4))
        yield lambda: getattr(home, name)(**parameters).fit(X)

    return prepare


def _command(*arguments: str) -> Callable[[str], AbstractContextManager[Run]]:
    """A command in this process, in a folder with `rows.csv` and the model `m.mercer`."""

    @contextmanager
    def prepare(package: str) -> Iterator[Run]:
        import numpy as np

        main = importlib.import_module(f"{package}.__main__").main
        if not main.__module__.startswith(f"{package}."):
            raise NotThereError(f"{package} does not have a command line")
        X = np.random.default_rng(0).normal(size=(600, 4))
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            np.savetxt("rows.csv", X, delimiter=",", header="a,b,c,d", comments="")
            _run_command(main, ["fit", "rows.csv", "--method", "pca", "--save", "m.mercer"])
            yield lambda: _run_command(main, list(arguments))

    return prepare


def _run_command(main: Callable[[], None], arguments: list[str]) -> None:
    """Call it as a shell would; what it prints is shown if it fails."""
    before, sys.argv, code = sys.argv, ["mercer", *arguments], None
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()) as messages:
            main()
    except SystemExit as end:
        code = end.code
    finally:
        sys.argv = before
    if code not in (None, 0):
        raise RuntimeError(f"mercer {' '.join(arguments)} ended with {code}: {messages.getvalue()}")


TRACES = {
    "PCA": _fit("PCA"),
    "KernelPCA": _fit("KernelPCA", n_components=2, kernel="rbf"),
    "LLE": _fit("LocallyLinearEmbedding", n_neighbors=10),
    "mercer fit": _command("fit", "rows.csv", "--method", "pca", "--save", "again.mercer", "--out", "scores.csv"),
    "mercer report": _command("report", "m.mercer", "rows.csv", "--out", "page.html"),
}


def trace(package: str, name: str) -> Trace:
    """The complete trace of one of `TRACES`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with TRACES[name](package) as run:
            file = importlib.import_module(package).__file__
            found = Trace(Path(str(file)).parent)
            found.record(run)
    return found


# ---------------------------------------------------------------------------------------------- output


def measures(package: str, names: list[str]) -> dict[str, Any]:
    """All measures of a tree and these traces, ready for JSON."""
    tree = Tree(ROOT / "src" / package)
    traces: dict[str, Any] = {}
    for name in names:
        try:
            found = trace(package, name)
        except NotThereError as error:
            traces[name] = {"skipped": str(error)}
            continue
        steps = [step._asdict() for step in found.steps.values()]
        traces[name] = {"counts": found.counts(), "hops": sorted(found.hops), "steps": steps, "text": str(found)}
    return {
        "sizes": tree.sizes(),
        "repeated names": tree.repeated_names(),
        "repeated modules": tree.repeated_modules(),
        "private reads": tree.private_reads(),
        "traces": traces,
    }


def table(found: dict[str, dict[str, Any]]) -> str:
    """The figures of all trees as a Markdown table, one column each."""
    columns: dict[str, dict[str, str]] = {}
    for package, figures in found.items():
        column = {name: f"{count:,}" for name, count in figures["sizes"].items()}
        names = figures["repeated names"]
        column["public names defined twice"] = f"{sum(not _is_private(name) for name in names):,}"
        column["private names defined twice"] = f"{sum(map(_is_private, names)):,}"
        column["modules of the same name"] = f"{len(figures['repeated modules']):,}"
        column["private names used across packages"] = f"{len(figures['private reads']):,}"
        for name, one in figures["traces"].items():
            counts = one.get("counts")
            hops = counts and f"{counts['hops between files']} hops, {counts['calls']:,} calls"
            column[f"trace of {name}: files/functions"] = (
                f"{counts['files']}/{counts['functions']} ({hops})" if counts else "not there"
            )
        columns[package] = column
    lines = [f"| | {' | '.join(columns)} |", "|---|" + "---|" * len(columns)]
    for name in next(iter(columns.values())):
        lines.append(f"| {name} | {' | '.join(column[name] for column in columns.values())} |")
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trees", nargs="*", metavar="tree", default=[], help=" or ".join(EDITIONS))
    parser.add_argument("--trace", choices=TRACES, help="print this trace in the order of first calls")
    parser.add_argument("--names", action="store_true", help="list repeated and private names as well")
    parser.add_argument("--json", action="store_true", help="print everything as JSON")
    given = parser.parse_args(arguments)
    unknown = set(given.trees) - set(EDITIONS)
    if unknown:
        parser.error(f"there is no tree {', '.join(sorted(unknown))}: {' or '.join(EDITIONS)}")
    sys.path.insert(0, str(ROOT / "src"))
    names = [given.trace] if given.trace else list(TRACES)
    found = {package: measures(package, names) for package in given.trees or EDITIONS}
    if given.json:
        print(json.dumps(found, indent=1))
        return
    print(table(found))
    for package, figures in found.items():
        if given.names:
            for kind in ("repeated names", "repeated modules"):
                print(f"\n{package}, {kind}:")
                print(*(f"  {name}: {', '.join(paths)}" for name, paths in figures[kind].items()), sep="\n")
            print(f"\n{package}, private names used across packages:", *figures["private reads"], sep="\n  ")
        if given.trace:
            print(f"\n{package}, {given.trace}:\n{figures['traces'][given.trace].get('text', 'not there')}")


if __name__ == "__main__":
    main()
