"""`mercer stability`: how sure the components of a file are."""

import typer

from mercer_old.commands import arguments as given
from mercer_old.commands.answers import Job
from mercer_old.commands.frame import takes
from mercer_old.commands.groups import Kernels, Reading, Resources, Solvers, TextKernels


@takes(Kernels, TextKernels, Solvers, Reading, Resources)
def stability(
    context: typer.Context,
    data: given.DataOrModel,
    rows: given.RowsOfModel = None,
    method: given.Method = "pca",
    components: given.Components = None,
    standardize: given.Standardize = False,
    draws: given.Draws = 50,
) -> Job:
    """Draw the rows of a file again and again, and say which components of PCA or kernel PCA stay where they are."""
    from mercer_old.commands.asked_again import asked_of
    from mercer_old.commands.sureness import Sureness

    asked = asked_of(context, data, rows, needs="stability draws those of the fit again")
    return Sureness(asked, draws, context.params["seed"])
