"""A walk on the command line as a terminal shows it: the commands of the guide, run for real."""

import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from mercer_old import look

COMMANDS = (
    "mercer fit penguins.csv --method pca -d 2 --standardize --label species --drop island --drop sex "
    "--save penguins.mercer -o scores.csv",
    "mercer transform penguins.mercer new.csv -o new_scores.csv",
    "head -3 new_scores.csv",
    "mercer novelty penguins.csv new.csv --drop island --drop sex --drop species --save usual.mercer -o verdicts.csv",
    "mercer plot penguins.mercer penguins.csv -o penguins.svg",
    "mercer verify penguins.mercer",
)
WIDTH, LINE = 118, 0.168  # letters of a line; inches between two
PAPER, INK, TYPED = "#10161d", "#c9d3de", "#7cc7ff"


def write_tables(folder):
    from palmerpenguins import load_penguins

    table = load_penguins().dropna().drop(columns="year")
    table.insert(0, "bird", [f"bird {i}" for i in table.index])
    table[table.index % 10 > 0].to_csv(folder / "penguins.csv", index=False)
    table[table.index % 10 == 0].to_csv(folder / "new.csv", index=False)


def recorded():
    """What stands on the terminal, line by line, with whether it was typed."""
    with tempfile.TemporaryDirectory() as name:
        write_tables(Path(name))
        for command in COMMANDS:
            yield from ((line, True) for line in wrapped(f"$ {command}"))
            words = command.split()
            run = [sys.executable, "-m", *words] if words[0] == "mercer" else words
            done = subprocess.run(run, cwd=name, capture_output=True, text=True, check=True)
            for line in (done.stderr + done.stdout).splitlines():
                yield from ((part, False) for part in wrapped(line))
            yield "", False


def wrapped(line):
    return textwrap.wrap(line, WIDTH, subsequent_indent="    ") or [""]


def draw():
    lines = list(recorded())[:-1]
    figure = Figure(figsize=(8.4, LINE * (len(lines) + 2)))
    figure.add_artist(Rectangle((0, 0), 1, 1, transform=figure.transFigure, color=PAPER, zorder=-1))
    for number, (text, typed) in enumerate(lines, 1):
        place = 1 - number / (len(lines) + 1)
        figure.text(0.015, place, text, color=TYPED if typed else INK, family="monospace", size=8, parse_math=False)
    return figure


PICTURES = {"terminal": lambda: look.as_png(draw)}
