"""`mercer fit`: the rows of a file, and the scores of them."""

from pathlib import Path
from typing import Annotated

import typer

from mercer_old.commands import arguments as given
from mercer_old.commands.answers import Job
from mercer_old.commands.frame import takes
from mercer_old.commands.groups import Kernels, Neighbors, Reading, Resources, Several, Solvers, TextKernels


@takes(Kernels, TextKernels, Neighbors, Solvers, Reading, Resources, Several)
def fit(
    context: typer.Context,
    data: given.DataOrTexts,
    out: given.ScoresOut = None,
    save: given.Save = None,
    report: Annotated[
        Path | None,
        typer.Option("--report", readable=False, help="Where to write a page about the fit: page.html."),
    ] = None,
    method: given.MethodOfFit = "kpca",
    components: given.Components = None,
    standardize: given.Standardize = False,
    whiten: given.Whiten = False,
    weights: given.Weights = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the plan and stop.")] = False,
) -> Job:
    """PCA, kernel PCA, locally linear embedding or a relative of a file: the plan, the scores, and a certificate.

    Talk goes to stderr, scores to --out or stdout; with --save or --report, scores are written if --out is given (- is
    stdout).
    """
    from mercer_old.commands.asked import Asked
    from mercer_old.commands.fitting import Fit

    return Fit(Asked.typed(context, data, known=given.METHODS + given.RELATIVES), out, save, report, only_plan=dry_run)
