"""`mercer compare`: methods side by side on the rows of a file."""

from pathlib import Path
from typing import Annotated

import typer

from mercer_old.commands import arguments as given
from mercer_old.commands import typed
from mercer_old.commands.answers import Job
from mercer_old.commands.frame import takes
from mercer_old.commands.groups import Reading, Resources


@takes(Reading, Resources)
def compare(
    context: typer.Context,
    data: given.Data,
    methods: Annotated[
        str | None,
        typer.Option(
            "--methods", help="Names separated by commas, such as pca,kernel-pca,t-sne,umap; all if left out."
        ),
    ] = None,
    components: Annotated[
        int, typer.Option("--components", "-d", parser=typed.count, help="How many coordinates; 2 if left out.")
    ] = 2,
    standardize: given.Standardize = False,
    repeats: Annotated[
        int,
        typer.Option("--repeats", parser=typed.whole, help="Fits with a fifth of the rows left out; 3 if left out."),
    ] = 3,
    sample: Annotated[
        int | None,
        typer.Option(
            "--sample", parser=typed.count, help="Rows to measure on; if left out all up to 2000, of more 1000."
        ),
    ] = None,
    budget: Annotated[
        float | None, typer.Option("--budget", help="Seconds for all fits of a method; 300 if left out.")
    ] = None,
    here: Annotated[
        bool,
        typer.Option("--here", help="No processes of their own: quicker for few rows; memory and budget are left out."),
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", readable=False, help="A page with advice, linked maps and all numbers: compare.html."
        ),
    ] = None,
) -> Job:
    """Fit PCA, kernel PCA, LLE and their relatives to the same rows, and say what each keeps, costs and is good for.

    Labels for colours and hits are the column --label. With --table columns of all kinds are compared. Methods of other
    libraries that are not installed are lines that say what to install.
    """
    from mercer_old.commands.comparing import Compare
    from mercer_old.commands.opening import Wanted

    limits = {"memory_limit": context.params["memory"], "n_jobs": context.params["jobs"]}
    asked = {
        "methods": None if methods is None else [name.strip() for name in methods.split(",")],
        "n_components": components,
        "standardize": standardize,
        "repeats": repeats,
        "sample": sample,
        "budget": 300.0 if budget is None else budget,
        "random_state": context.params["seed"],
        "apart": not here,
    }
    return Compare(Wanted.typed(context, data), asked | limits, out)
