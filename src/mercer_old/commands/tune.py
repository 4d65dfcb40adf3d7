"""`mercer tune`: which kernel and which bandwidth suit the rows of a file."""

import typer

from mercer_old.commands import arguments as given
from mercer_old.commands.answers import Job
from mercer_old.commands.frame import takes
from mercer_old.commands.groups import Reading


@takes(Reading)
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
) -> Job:
    """Compare kernels and bandwidths on a sample of a file: a table, the choice, and the reason in a sentence."""
    from mercer_old.commands.opening import Wanted
    from mercer_old.commands.tuning import Tune

    asked = {
        "n_components": components,
        "scoring": scoring,
        "folds": folds,
        "subsample": sample,
        "standardize": standardize,
        "n_jobs": jobs,
        "random_state": seed,
    }
    said = {} if kernels is None else {"kernels": [name.strip() for name in kernels.split(",")]}
    return Tune(Wanted.typed(context, data), labels, asked | said)
