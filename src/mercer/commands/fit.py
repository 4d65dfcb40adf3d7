"""`mercer fit`: the rows of a file, and the scores of them."""

from pathlib import Path
from typing import Annotated

import typer

from mercer.commands import arguments as given
from mercer.commands.arguments import kernel_parameters, model_parameters, number_of_components, reads_a_file


@reads_a_file
def fit(
    context: typer.Context,
    data: given.DataOrTexts,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", readable=False, help="Where to write scores (.csv, .parquet, .npy …); CSV to stdout."
        ),
    ] = None,
    method: given.Method = "kpca",
    components: given.Components = None,
    standardize: given.Standardize = False,
    whiten: given.Whiten = False,
    neighbors: given.Neighbors = None,
    variant: given.Variant = None,
    reg: given.Reg = None,
    metric: given.Metric = None,
    on_disconnected: given.OnDisconnected = None,
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
    text: given.Text = None,
    case: given.Case = None,
    weights: given.Weights = None,
    memory: given.Memory = None,
    jobs: given.Jobs = None,
    seed: given.Seed = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the plan and stop.")] = False,
) -> None:
    """PCA, kernel PCA or locally linear embedding of a file: the plan, the scores, and a certificate.

    Talk goes to stderr, scores to --out or stdout.
    """
    params = model_parameters(method, context)
    params["n_components"] = number_of_components(components, method)
    from mercer.commands.fitting import fit_file
    from mercer.commands.opening import Wanted

    wanted = Wanted.typed(context, data)
    fit_file(wanted, out, method, wanted.with_kernel(method, params, kernel_parameters(context)), only_plan=dry_run)
