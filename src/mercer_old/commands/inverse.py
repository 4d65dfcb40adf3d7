"""`mercer inverse`: the rows that scores stand for."""

import typer

from mercer_old.commands import arguments as given
from mercer_old.commands.answers import Job
from mercer_old.commands.frame import takes
from mercer_old.commands.groups import Limits, Reading


@takes(Reading, Limits)
def inverse(
    context: typer.Context,
    model: given.Model,
    scores: given.Scores,
    out: given.RowsOut = None,
    error: given.WithError = False,
) -> Job:
    """The rows, or texts, that scores stand for, by a model of PCA or kernel PCA that was kept.

    Of PCA they lie in the plane of its axes; of kernel PCA they are pre-images, and --error says how good ones.
    """
    from mercer_old.commands.going_back import GoBack
    from mercer_old.commands.kept import Kept
    from mercer_old.commands.opening import Wanted

    kept = Kept.of(model, context.params["memory"], context.params["jobs"])
    return GoBack(kept, kept.wanted(Wanted.typed(context, scores), of_scores=True), out, error, noisy=False)
