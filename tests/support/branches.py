"""The command line in forks of the test's own process, which has imported everything already."""

import io
import os
import signal
import subprocess
import sys
import traceback
import unicodedata
import warnings
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile

import typer.main

import mercer_old.cli
import mercer_old.commands.counting
import mercer_old.commands.driving
import mercer_old.commands.fitting  # what commands import when they run: branches need not do it again
import mercer_old.commands.health
import mercer_old.commands.novel_rows
import mercer_old.commands.planning
import mercer_old.commands.reporting
import mercer_old.commands.sureness
import mercer_old.commands.tuning
import mercer_old.functions.planning
import mercer_old.report.gallery
import mercer_old.report.html
from mercer.__main__ import main
from mercer_old.plans import pace

# The same for all branches, with all that is looked up at its first use: to make it takes longer than many a fit.
COMMAND = typer.main.get_command(mercer_old.cli.app)
COMMAND.commands["fit"].make_context("fit", ["-"])
LONGEST = 1500  # characters of a sentence with a name of a file in it


def run(*arguments, code=None, anew=False):
    """The command, or lines of Python in its place: in a branch of this process, which has imported everything already,
    unless it has to begin anew."""
    if hasattr(os, "fork") and not anew:
        return branch(["mercer", *map(str, arguments)], work=script(code) if code else main)
    command = [sys.executable, "-c", code] if code else [sys.executable, "-m", "mercer"]
    return subprocess.run([*command, *map(str, arguments)], capture_output=True, text=True)


def run_code(code, folder):
    """Lines of Python as a script of their own in this folder: in a branch, where there are any."""
    if not hasattr(os, "fork"):
        return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=folder)
    return branch(["script"], before=lambda: os.chdir(folder), work=script(code))


def script(code):
    return lambda: exec(compile(code, "script", "exec"), {"__name__": "__main__"})  # noqa: S102


def branch(argv, streams=None, before=lambda: None, work=main):
    """The command in a fork, with files for standard output and error, or what `streams` says: a number, None: closed.

    `before` is called in the fork.
    """
    with TemporaryFile("w+") as out, TemporaryFile("w+") as err:
        child = start(argv, {0: os.devnull, 1: out.fileno(), 2: err.fileno()} | (streams or {}), before, work)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        return subprocess.CompletedProcess(argv, code, *map(text_of, (out, err)))


def start(argv, streams, before, work=main):
    """The command in a fork, the number of which is given back."""
    known = measured_pace()
    child = os.fork()
    if not child:
        code = 1
        try:
            pace._measured_pace = lambda: known
            if threaded := sys.modules.get("dask.threaded"):
                threaded.default_pool = None  # its threads are not here
            before()
            code = become(argv, streams, work)
        finally:
            os._exit(code)
    return child


def run_all(commands, within="."):
    """Many commands one after the other in a single fork, which is quicker; if one ends the process, so do the rest."""
    commands = list(commands)
    known = measured_pace()
    with TemporaryDirectory() as folder:
        child = os.fork()
        if not child:
            pace._measured_pace = lambda: known
            if threaded := sys.modules.get("dask.threaded"):
                threaded.default_pool = None  # its threads are not here
            os.chdir(within)
            for i, argv in enumerate(commands):
                with Path(folder, f"{i}.out").open("wb") as out, Path(folder, f"{i}.err").open("wb") as err:
                    code = become(["mercer", *map(str, argv)], {0: os.devnull, 1: out.fileno(), 2: err.fileno()})
                Path(folder, f"{i}.code").write_text(str(code))
            os._exit(0)
        crash = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        return [result(Path(folder), i, crash) for i in range(len(commands))]


@cache
def measured_pace():
    """Of this machine, once for all branches: to measure it takes half of the time of a small fit with a plan."""
    return pace._measured_pace()


def result(folder, i, crash):
    if not (folder / f"{i}.code").exists():
        return subprocess.CompletedProcess([], crash, "", "the process ended here, or before")
    out, err, code = ((folder / f"{i}.{kind}").read_text() for kind in ("out", "err", "code"))
    return subprocess.CompletedProcess([], int(code), out, err)


def text_of(file):
    file.seek(0)
    return file.read()


def become(argv, streams, work=main):
    """The command itself, and the code it ends with; nothing is done of what pytest would do at its end."""
    code = 1
    try:
        for number, mode in ((0, "r"), (1, "w"), (2, "w")):
            connect(number, mode, streams[number])
        sys.argv = argv
        typer.main.get_command = lambda app: COMMAND
        warnings.resetwarnings()
        signal.signal(signal.SIGINT, signal.default_int_handler)
        work()
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 0 if end.code is None else 1
    except BaseException:
        traceback.print_exc()
    try:
        for stream in filter(None, (sys.stdout, sys.stderr)):
            stream.flush()
    except (OSError, ValueError):
        code = 120  # as Python ends when it cannot flush
    return code


def connect(number, mode, target):
    """A standard stream to a file, by its number or name; None: closed, as Python finds it then."""
    name = ("stdin", "stdout", "stderr")[number]
    if target is None:
        os.close(number)
        setattr(sys, name, None)
        return
    if not isinstance(target, int):
        target = os.open(target, os.O_RDONLY if mode == "r" else os.O_WRONLY)
    os.dup2(target, number)
    setattr(sys, name, io.TextIOWrapper(io.FileIO(number, mode, closefd=False), line_buffering=True))


def refuse_raw_text(end):
    """Nothing that a terminal would obey, no traceback, and not more than can be read."""
    text = end.stdout + end.stderr
    assert "Traceback" not in text and "╭" not in text, text
    assert not [c for c in text if unicodedata.category(c) in ("Cc", "Cf", "Cs") and c != "\n"], repr(text)
    assert all(len(line) < LONGEST for line in end.stderr.splitlines()), end.stderr
