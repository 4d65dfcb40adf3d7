"""`mercer plan`: what a fit of so many rows would do, take and need."""

from typing import Annotated

import typer

from mercer.commands import arguments as given
from mercer.commands.arguments import count, kernel_parameters, model_parameters, number_of_components
from mercer.commands.wording import in_options
from mercer.errors import NoRoom, WrongUse, counted
from mercer.terminal import put


def plan(
    context: typer.Context,
    rows: Annotated[list[int], typer.Option(parser=count, help="Number of rows; may be repeated.")],
    features: Annotated[int, typer.Option(parser=count, help="Number of columns; of texts, letters of each.")],
    method: given.Method = "kpca",
    components: given.Components = None,
    kernel: given.Kernel = None,
    n: given.N = None,
    shortest: given.Shortest = None,
    by: given.By = None,
    counts: given.Counts = None,
    normalize: given.Normalize = None,
    length: given.Length = None,
    wildcards: given.Wildcards = None,
    m: given.M = None,
    alphabet: given.Alphabet = None,
    decay: given.Decay = None,
    up_to: given.UpTo = None,
    neighbors: given.Neighbors = None,
    metric: given.Metric = None,
    memory: given.Memory = None,
    jobs: given.Jobs = None,
) -> None:
    """Say what PCA, kernel PCA or LLE of so many rows would do, take and need, without doing it."""
    params = model_parameters(method, context)
    from mercer.commands.opening import is_of_tables, is_of_texts, with_kernel_of_texts
    from mercer.functions.planning import plan as plan_ahead

    params = with_kernel_of_texts(method, params, kernel_parameters(context))
    if is_of_tables(params):
        raise WrongUse("A plan for a table depends on its columns: mercer fit FILE --kernel table --dry-run tells it.")
    for number in rows:
        usual = {"kpca": 10, "pca": min(10, number, features), "lle": min(2, features)}[method]
        wanted = usual if components is None else number_of_components(components, method)
        try:
            text = in_options(plan_ahead(number, features, wanted, method=method, **params).in_words)
        except NoRoom as error:
            if len(rows) == 1:
                raise
            text = f"not possible: {in_options(str(error))}"
        except ValueError as error:  # a kernel, a memory limit or a number that does not exist
            raise WrongUse(str(error)) from None
        put(f"{counted(number, 'text' if is_of_texts(params) else 'row')}: {text}")
