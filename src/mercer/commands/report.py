"""`mercer report`: a page about a saved model."""

from pathlib import Path
from typing import Annotated

import typer

from mercer.commands import arguments as given
from mercer.commands.answers import Job
from mercer.commands.frame import takes
from mercer.commands.groups import Reading


@takes(Reading)
def report(
    context: typer.Context,
    model: given.Model,
    data: Annotated[
        str | None,
        typer.Argument(help="The rows of the fit, or others to draw, read as those of the fit were."),
    ] = None,
    out: Annotated[Path, typer.Option("--out", "-o", readable=False, help="The page; report.html if left out.")] = Path(
        "report.html"
    ),
) -> Job:
    """Write a page about a saved model: pictures, what is proven, the plan and why, where it comes from, what next.

    It is one HTML file, light and dark, that opens offline. Without DATA, rows are drawn if the model keeps them.
    Labels for colours are the column --label, names of rows the column --id.
    """
    from mercer.commands.opening import Wanted
    from mercer.commands.reporting import Report

    return Report(model, Wanted.typed_with(context, data), out)
