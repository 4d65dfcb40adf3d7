"""`mercer plan`: what a fit of so many rows would do, take and need."""

from typing import Annotated

import typer

from mercer_old.commands import arguments as given
from mercer_old.commands.answers import Job
from mercer_old.commands.arguments import kernel_parameters, model_parameters
from mercer_old.commands.frame import takes
from mercer_old.commands.groups import TextKernels
from mercer_old.commands.typed import count


@takes(TextKernels)
def plan(
    context: typer.Context,
    rows: Annotated[list[int], typer.Option(parser=count, help="Number of rows; may be repeated.")],
    features: Annotated[int, typer.Option(parser=count, help="Number of columns; of texts, letters of each.")],
    method: given.Method = "kpca",
    components: given.Components = None,
    kernel: given.Kernel = None,
    neighbors: given.Neighbors = None,
    metric: given.Metric = None,
    memory: given.Memory = None,
    jobs: given.Jobs = None,
) -> Job:
    """Say what PCA, kernel PCA or LLE of so many rows would do, take and need, without doing it."""
    params = model_parameters(method, context)
    from mercer_old.commands.opening import with_kernel_of_texts
    from mercer_old.commands.planning import Foresee

    params = with_kernel_of_texts(method, params, kernel_parameters(context))
    return Foresee(rows, features, method, components, params)
