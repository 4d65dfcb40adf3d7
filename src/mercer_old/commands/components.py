"""`mercer components`: how many components the rows of a file have, by every rule."""

from typing import Annotated

import typer

from mercer_old.commands import arguments as given
from mercer_old.commands.answers import Job
from mercer_old.commands.frame import takes
from mercer_old.commands.groups import Kernels, Reading, Resources, Solvers, TextKernels


@takes(Kernels, TextKernels, Solvers, Reading, Resources)
def components(
    context: typer.Context,
    data: given.DataOrModel,
    rows: given.RowsOfModel = None,
    method: given.Method = "pca",
    standardize: given.Standardize = False,
    labels: Annotated[
        str | None, typer.Option("--labels", help="Name of a column of labels, for the components that they need.")
    ] = None,
    share: Annotated[
        float, typer.Option("--share", help="Of the variance, for the rule of that name; 0.9 if left out.")
    ] = 0.9,
    weights: given.Weights = None,
) -> Job:
    """Say how many components PCA or kernel PCA of a file should keep, by every rule, and their consensus."""
    from mercer_old.commands.asked_again import asked_of
    from mercer_old.commands.counting import Count

    return Count(asked_of(context, data, rows, labels), labels, share, context.params["seed"])
