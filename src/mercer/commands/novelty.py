"""`mercer novelty`: which rows of a file are unlike those of another."""

from pathlib import Path
from typing import Annotated

import typer

from mercer.commands import arguments as given
from mercer.commands.arguments import kernel_parameters, model_parameters, number_of_components, reads_a_file
from mercer.errors import WrongUse


@reads_a_file
def novelty(
    context: typer.Context,
    train: Annotated[str, typer.Argument(help="The file of rows that are usual, as `mercer fit` reads it.")],
    new: Annotated[str, typer.Argument(help="The file of rows to look at, with the same columns.")],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", readable=False, help="Where to write the verdicts (.csv, .parquet, .npy …)."),
    ] = None,
    statistic: given.Statistic = None,
    alpha: given.Alpha = None,
    fdr: given.Fdr = None,
    calibration: given.Calibration = None,
    trim: given.Trim = None,
    method: Annotated[str, typer.Option("--method", help="kpca (kernel PCA) or pca.")] = "kpca",
    components: Annotated[
        str | None,
        typer.Option("--components", "-d", help="Number of components, or a share of variance; 0.5, of pca 0.9."),
    ] = None,
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
    text: given.Text = None,
    case: given.Case = None,
    memory: given.Memory = None,
    jobs: given.Jobs = None,
    seed: given.Seed = None,
) -> None:
    """Which rows of NEW are unlike those of TRAIN: a score, a p-value and a verdict for each, as CSV.

    The p-values hold whatever the data are: of rows like those of TRAIN, a share of alpha is called novel. Without
    --kernel, columns are standardised and compared by rbf with gamma median.
    """
    if method not in ("kpca", "pca"):
        raise WrongUse(f"--method {method} has no measure of novelty: kpca and pca have one.")
    params = model_parameters(method, context)
    params["n_components"] = number_of_components(components, method)
    from mercer.commands.novel_rows import look_at
    from mercer.commands.opening import Wanted

    wanted = Wanted.typed(context, train)
    params = wanted.with_kernel(method, params, kernel_parameters(context))
    asked = {"statistic": statistic, "alpha": alpha, "calibration": calibration, "trim": trim, "random_state": seed}
    look_at(wanted, new, out, method, params, {name: value for name, value in asked.items() if value is not None}, fdr)
