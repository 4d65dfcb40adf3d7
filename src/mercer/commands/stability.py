"""`mercer stability`: how sure the components of a file are."""

import typer

from mercer.commands import arguments as given
from mercer.commands.answers import Job
from mercer.commands.frame import takes
from mercer.commands.groups import Kernels, Reading, Resources, Solvers, TextKernels


@takes(Kernels, TextKernels, Solvers, Reading, Resources)
def stability(
    context: typer.Context,
    data: given.DataOrTexts,
    method: given.Method = "pca",
    components: given.Components = None,
    standardize: given.Standardize = False,
    draws: given.Draws = 50,
) -> Job:
    """Draw the rows of a file again and again, and say which components of PCA or kernel PCA stay where they are."""
    from mercer.commands.asked import Asked
    from mercer.commands.sureness import Sureness

    return Sureness(Asked.typed(context, data), draws, context.params["seed"])
