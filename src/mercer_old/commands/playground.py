"""`mercer playground`: a page on which points are dragged, and three methods follow."""

from pathlib import Path
from typing import Annotated

import typer

from mercer_old.commands.answers import Job
from mercer_old.commands.frame import takes
from mercer_old.commands.groups import Reading


@takes(Reading)
def playground(
    context: typer.Context,
    data: Annotated[
        str | None,
        typer.Argument(help="Points of your own to begin with: a file with two columns of numbers, 300 rows at most."),
    ] = None,
    out: Annotated[
        Path, typer.Option("--out", "-o", readable=False, help="The page; playground.html if left out.")
    ] = Path("playground.html"),
) -> Job:
    """Write a page on which points are dragged while PCA, kernel PCA and LLE follow, with the lectures' examples.

    It is one HTML file that computes by itself and opens offline; its numbers are those of the library. Colours are
    the column --label.
    """
    from mercer_old.commands.opening import Wanted
    from mercer_old.commands.playing import Play

    return Play(Wanted.typed_with(context, data), out)
