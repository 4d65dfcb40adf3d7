"""`mercer plot`: a picture of a saved model."""

from pathlib import Path
from typing import Annotated

import typer

from mercer_old.commands import arguments as given
from mercer_old.commands.answers import Job
from mercer_old.commands.frame import takes
from mercer_old.commands.groups import Reading
from mercer_old.displays.kinds import KINDS


@takes(Reading)
def plot(
    context: typer.Context,
    model: given.Model,
    data: Annotated[
        str | None,
        typer.Argument(help="The rows to draw, read as those of the fit were; left out if the model keeps its rows."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", readable=False, help="The picture: .svg, .png or .pdf.")
    ] = None,
    kind: Annotated[
        str | None, typer.Option("--kind", help=f"{', '.join(KINDS)}; if left out, the one to look at first.")
    ] = None,
    components: Annotated[
        str | None, typer.Option("--components", "-d", help="Which components, counted from 1, such as 1,3.")
    ] = None,
    theme: Annotated[str | None, typer.Option("--theme", help="light (if left out) or dark.")] = None,
    size: Annotated[str | None, typer.Option("--size", help="Width and height in inches, such as 8x6.")] = None,
    dpi: Annotated[int, typer.Option("--dpi", help="Dots per inch of a .png; 150 if left out.")] = 150,
    ellipse: Annotated[
        str | None,
        typer.Option("--ellipse", help="Of scores, around every group: concentration, confidence (centroid) or hull."),
    ] = None,
    level: Annotated[
        float | None, typer.Option("--level", help="The probability of an ellipse; 0.95 if left out.")
    ] = None,
    marginals: Annotated[bool, typer.Option("--marginals", help="Of scores: densities along both axes.")] = False,
    names: Annotated[
        bool | None,
        typer.Option("--names/--no-names", help="Of scores: names of rows; if left out, those of 60 rows at most."),
    ] = None,
    scaling: Annotated[
        str | None, typer.Option("--scaling", help="Of a biplot: distance (if left out) or correlation.")
    ] = None,
    n: Annotated[int | None, typer.Option("--n", help="How many columns, or rows, are drawn, the largest.")] = None,
    features: Annotated[
        str | None, typer.Option("--features", help="Names of columns to draw instead, separated by commas.")
    ] = None,
    cutoff: Annotated[float | None, typer.Option("--cutoff", help="Of loadings: smaller ones are left out.")] = None,
    of: Annotated[
        str | None, typer.Option("--of", help="Of contribution and cos2: features (if left out) or rows.")
    ] = None,
    image_shape: Annotated[
        str | None, typer.Option("--image-shape", help="Of rows that are pictures: height and width, such as 28x28.")
    ] = None,
) -> Job:
    """Draw a saved model: scores, scree, biplot, loadings and more.

    Labels for colours are the column --label, names of rows the column --id. For --kind metadata name columns with
    --keep. The same model and rows give the same file, to the last bit.
    """
    from mercer_old.commands.drawing import Asked, Draw
    from mercer_old.commands.opening import Wanted

    typed = Wanted.typed_with(context, data)
    how = {"level": level, "marginals": marginals or None, "scaling": scaling, "n": n, "cutoff": cutoff, "of": of}
    asked = Asked(kind, components, size, features, image_shape, how | {"theme": theme, "ellipse": ellipse}, names)
    return Draw(model, typed, out, asked, dpi)
