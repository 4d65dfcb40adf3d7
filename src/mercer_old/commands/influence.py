"""`mercer influence`: which columns of a file drive the components."""

from typing import Annotated

import typer

from mercer_old.commands import arguments as given
from mercer_old.commands.answers import Job
from mercer_old.commands.frame import takes
from mercer_old.commands.groups import Kernels, Reading, Resources, Solvers, TextKernels


@takes(Kernels, TextKernels, Solvers, Reading, Resources)
def influence(
    context: typer.Context,
    data: given.DataOrModel,
    rows: given.RowsOfModel = None,
    method: given.Method = "kpca",
    components: given.Components = None,
    standardize: given.Standardize = False,
    weights: given.Weights = None,
    with_clusters: Annotated[
        bool, typer.Option("--clusters", help="Say as well whether the components show clusters.")
    ] = False,
) -> Job:
    """Say which columns drive the components of PCA or kernel PCA of a file; of texts, which grams."""
    from mercer_old.commands.asked_again import asked_of
    from mercer_old.commands.driving import Drive

    return Drive(asked_of(context, data, rows), context.params["seed"], with_clusters)
