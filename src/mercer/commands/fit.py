"""`mercer fit`: the rows of a file, and the scores of them."""

from pathlib import Path
from typing import Annotated

import typer

from mercer.commands import arguments as given
from mercer.commands.arguments import model_parameters, number_of_components


def fit(
    context: typer.Context,
    data: Annotated[str, typer.Argument(help="A .csv, .tsv, .parquet, .arrow, .feather or .npy file; - reads CSV.")],
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
    solver: given.Solver = None,
    landmarks: given.Landmarks = None,
    refine: given.Refine = None,
    columns: given.Columns = None,
    drop: given.Drop = None,
    header: given.Header = None,
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

    fit_file(
        data,
        out,
        method,
        params,
        columns=None if columns is None else [name.strip() for name in columns.split(",")],
        drop=drop or [],
        weights=weights,
        header=header,
        only_plan=dry_run,
    )
