"""`mercer stability`: how sure the components of a file are."""

from typing import Annotated

import typer

from mercer.commands import arguments as given
from mercer.commands.arguments import kernel_parameters, model_parameters, number_of_components, reads_a_file


@reads_a_file
def stability(
    context: typer.Context,
    data: given.DataOrTexts,
    method: given.Method = "pca",
    components: given.Components = None,
    standardize: given.Standardize = False,
    kernel: given.Kernel = None,
    gamma: given.Gamma = None,
    degree: given.Degree = None,
    coef0: given.Coef0 = None,
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
    solver: given.Solver = None,
    landmarks: given.Landmarks = None,
    refine: given.Refine = None,
    draws: given.Draws = 50,
    text: given.Text = None,
    case: given.Case = None,
    memory: given.Memory = None,
    jobs: given.Jobs = None,
    seed: given.Seed = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the table and the verdict as JSON.")] = False,
) -> None:
    """Draw the rows of a file again and again, and say which components of PCA or kernel PCA stay where they are."""
    params = model_parameters(method, context)
    params["n_components"] = number_of_components(components, method)
    from mercer.commands.opening import Wanted
    from mercer.commands.sureness import stability_of_file

    wanted = Wanted.typed(context, data)
    params = wanted.with_kernel(method, params, kernel_parameters(context))
    stability_of_file(wanted, method, params, draws=draws, seed=seed, as_json=as_json)
