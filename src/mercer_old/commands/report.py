"""`mercer report`: a page about a saved model."""

from pathlib import Path
from typing import Annotated

import typer

from mercer_old.commands import arguments as given
from mercer_old.commands.answers import Job
from mercer_old.commands.frame import takes
from mercer_old.commands.groups import Reading


@takes(Reading)
def report(
    context: typer.Context,
    model: given.Model,
    data: Annotated[
        str | None,
        typer.Argument(help="The rows of the fit, or others to show, read as those of the fit were."),
    ] = None,
    out: Annotated[Path, typer.Option("--out", "-o", readable=False, help="The page; report.html if left out.")] = Path(
        "report.html"
    ),
) -> Job:
    """Write a page about a saved model: a map of the rows, components, what is proven, how sure, and what to do next.

    It is one HTML file, light and dark, that opens offline. Without DATA, rows are shown if the model keeps them.
    Labels for colours are the columns --label and --keep, names of rows the column --id.
    """
    from mercer_old.commands.opening import Wanted
    from mercer_old.commands.reporting import Report

    return Report(model, Wanted.typed_with(context, data), out)
