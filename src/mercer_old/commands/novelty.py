"""`mercer novelty`: which rows of a file are unlike those of another."""

from pathlib import Path
from typing import Annotated

import typer

from mercer_old.commands import arguments as given
from mercer_old.commands.answers import Job
from mercer_old.commands.frame import takes
from mercer_old.commands.groups import Kernels, Reading, Resources, Solvers, TextKernels
from mercer_old.errors import WrongUse


@takes(Kernels, TextKernels, Solvers, Reading, Resources)
def novelty(
    context: typer.Context,
    train: Annotated[
        str,
        typer.Argument(help="The file of rows that are usual, as `mercer fit` reads it; or a detector kept by --save."),
    ],
    new: Annotated[str, typer.Argument(help="The file of rows to look at, with the same columns.")],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", readable=False, help="Where to write the verdicts (.csv, .parquet, .npy …)."),
    ] = None,
    save: Annotated[
        Path | None, typer.Option("--save", readable=False, help="Where to keep the detector: d.mercer.")
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
) -> Job:
    """Which rows of NEW are unlike those of TRAIN: a score, a p-value and a verdict for each, as CSV.

    The p-values hold whatever the data are: of rows like those of TRAIN, a share of alpha is called novel. Without
    --kernel, columns are standardised and compared by rbf with gamma median.
    """
    if method not in ("kpca", "pca"):
        raise WrongUse(f"--method {method} has no measure of novelty: kpca and pca have one.")
    from mercer_old.commands.asked import Asked
    from mercer_old.commands.kept import Kept, is_model_file, refuse_options_of_fits
    from mercer_old.commands.novel_rows import Look, LookAgain
    from mercer_old.commands.opening import Wanted

    if is_model_file(train):
        refuse_options_of_fits(context, train)
        kept = Kept.of(train, context.params["memory"], context.params["jobs"])
        return LookAgain(kept, kept.wanted(Wanted.typed(context, new)), out, save, fdr)
    asked = {
        "statistic": statistic,
        "alpha": alpha,
        "calibration": calibration,
        "trim": trim,
        "random_state": context.params["seed"],
    }
    said = {name: value for name, value in asked.items() if value is not None}
    return Look(Asked.typed(context, train), new, out, save, said, fdr)
