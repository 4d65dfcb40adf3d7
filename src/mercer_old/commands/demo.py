"""`mercer demo`: the gallery, a report on real data and the playground, drawn anew, with a page that leads to them."""

from pathlib import Path
from typing import Annotated

import typer

from mercer_old.commands.answers import Job
from mercer_old.commands.frame import takes
from mercer_old.commands.typed import whole


@takes()
def demo(
    out: Annotated[Path, typer.Option(help="The folder to write index.html into; made if need be.")] = Path("gallery"),
    only: Annotated[
        list[int] | None,
        typer.Option(parser=whole, help="A figure to draw, alone, into figure_N.html; may be repeated."),
    ] = None,
) -> Job:
    """Draw the gallery of the lectures, a report on real data and the playground, with a page that leads to all.

    The pages open offline. The path of index.html is printed.
    """
    from mercer_old.commands.showing import Show, ShowFigures

    return ShowFigures(out, only) if only else Show(out)
