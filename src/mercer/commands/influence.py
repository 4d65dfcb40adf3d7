"""`mercer influence`: which columns of a file drive the components."""

from typing import Annotated

import typer

from mercer.commands import arguments as given
from mercer.commands.arguments import kernel_parameters, model_parameters, number_of_components, reads_a_file


@reads_a_file
def influence(
    context: typer.Context,
    data: given.DataOrTexts,
    method: given.Method = "kpca",
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
    m: given.M = None,
    alphabet: given.Alphabet = None,
    decay: given.Decay = None,
    up_to: given.UpTo = None,
    solver: given.Solver = None,
    landmarks: given.Landmarks = None,
    refine: given.Refine = None,
    text: given.Text = None,
    case: given.Case = None,
    weights: given.Weights = None,
    memory: given.Memory = None,
    jobs: given.Jobs = None,
    seed: given.Seed = None,
    with_clusters: Annotated[
        bool, typer.Option("--clusters", help="Say as well whether the components show clusters.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the table as JSON.")] = False,
) -> None:
    """Say which columns drive the components of PCA or kernel PCA of a file; of texts, which grams."""
    params = model_parameters(method, context)
    params["n_components"] = number_of_components(components, method)
    from mercer.commands.driving import influence_in_file
    from mercer.commands.opening import Wanted

    wanted = Wanted.typed(context, data)
    params = wanted.with_kernel(method, params, kernel_parameters(context))
    influence_in_file(wanted, method, params, seed=seed, with_clusters=with_clusters, as_json=as_json)
