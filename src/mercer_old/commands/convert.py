"""`mercer convert`: a saved model as files that other programs read."""

from pathlib import Path
from typing import Annotated

import typer

from mercer_old.commands import arguments as given
from mercer_old.commands.answers import Job
from mercer_old.commands.frame import takes
from mercer_old.commands.groups import Reading


@takes(Reading)
def convert(
    context: typer.Context,
    model: given.Model,
    out: Annotated[
        Path,
        typer.Option("--out", "-o", readable=False, help="The file; of several, how their names begin."),
    ],
    data: Annotated[
        str | None,
        typer.Argument(help="For plink and flashpca: the rows that the model was fitted on; with --scores, any."),
    ] = None,
    to: Annotated[
        str | None, typer.Option("--to", help="onnx, plink, flashpca, csv or npz; by the ending of --out if left out.")
    ] = None,
    scores: Annotated[
        bool, typer.Option("--scores", help="Write scores, of any rows, instead of eigenvectors of length one.")
    ] = False,
    dtype: Annotated[
        str | None, typer.Option("--dtype", help="Of what an ONNX model takes and gives: float32 (usual) or float64.")
    ] = None,
) -> Job:
    """Write a fitted model as ONNX, as files of PLINK or flashpca, or as tables: all of its files or none."""
    from mercer_old.commands.converting import Convert, refuse_alone
    from mercer_old.commands.kept import Kept
    from mercer_old.commands.opening import Wanted

    typed = Wanted.typed(context, data or "")
    if data is None:
        refuse_alone(typed)
    asked = {"to": to, "scores": scores, "dtype": dtype}
    return Convert(Kept.of(model), None if data is None else typed, out, asked)
