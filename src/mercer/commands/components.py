"""`mercer components`: how many components the rows of a file have, by every rule."""

from typing import Annotated

import typer

from mercer.commands import arguments as given
from mercer.commands.arguments import kernel_parameters, model_parameters, reads_a_file


@reads_a_file
def components(
    context: typer.Context,
    data: given.DataOrTexts,
    method: given.Method = "pca",
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
    labels: Annotated[
        str | None, typer.Option("--labels", help="Name of a column of labels, for the components that they need.")
    ] = None,
    share: Annotated[
        float, typer.Option("--share", help="Of the variance, for the rule of that name; 0.9 if left out.")
    ] = 0.9,
    text: given.Text = None,
    case: given.Case = None,
    weights: given.Weights = None,
    memory: given.Memory = None,
    jobs: given.Jobs = None,
    seed: given.Seed = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the table as JSON.")] = False,
) -> None:
    """Say how many components PCA or kernel PCA of a file should keep, by every rule, and their consensus."""
    params = model_parameters(method, context)
    from mercer.commands.counting import suggest_for_file
    from mercer.commands.opening import Wanted

    wanted = Wanted.typed(context, data)
    if labels is not None:
        wanted = wanted.with_labels(labels)
    params = wanted.with_kernel(method, params, kernel_parameters(context))
    suggest_for_file(wanted, method, params, labels=labels, share=share, seed=seed, as_json=as_json)
