"""`mercer convert`: a saved model as files that other programs read."""

from pathlib import Path
from typing import Annotated

import typer

from mercer.commands import arguments as given
from mercer.commands.arguments import reads_a_file


@reads_a_file
def convert(
    context: typer.Context,
    model: Annotated[Path, typer.Argument(readable=False, help="The file of a fitted model, as `save` writes it.")],
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
    text: given.Text = None,
    case: given.Case = None,
) -> None:
    """Write a fitted model as ONNX, as files of PLINK or flashpca, or as tables: all of its files or none."""
    from mercer.commands.converting import convert_file

    convert_file(model, data, out, context, {"to": to, "scores": scores, "dtype": dtype})
