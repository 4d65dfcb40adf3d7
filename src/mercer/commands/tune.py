"""`mercer tune`: which kernel and which bandwidth suit the rows of a file."""

from typing import Annotated

import typer

from mercer.commands import arguments as given
from mercer.commands.arguments import reads_a_file


@reads_a_file
def tune(
    context: typer.Context,
    data: given.Data,
    labels: given.Labels = None,
    kernels: given.Kernels = None,
    components: given.ComparedBy = None,
    scoring: given.Scoring = None,
    folds: given.Folds = 5,
    sample: given.Sample = 1000,
    standardize: given.Standardize = False,
    jobs: given.Jobs = None,
    seed: given.Seed = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the table and the choice as JSON.")] = False,
) -> None:
    """Compare kernels and bandwidths on a sample of a file: a table, the choice, and the reason in a sentence."""
    from mercer.commands.opening import Wanted
    from mercer.commands.tuning import tune_file

    said = None if kernels is None else [name.strip() for name in kernels.split(",")]
    asked = {
        "n_components": components,
        "scoring": scoring,
        "folds": folds,
        "subsample": sample,
        "standardize": standardize,
        "n_jobs": jobs,
        "random_state": seed,
    }
    tune_file(Wanted.typed(context, data), labels, asked | ({} if said is None else {"kernels": said}), as_json)
