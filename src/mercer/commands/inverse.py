"""`mercer inverse`: the rows that scores stand for."""

import typer

from mercer.commands import arguments as given
from mercer.commands.answers import Job
from mercer.commands.frame import takes
from mercer.commands.groups import Limits, Reading


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
    from mercer.commands.going_back import GoBack
    from mercer.commands.kept import Kept
    from mercer.commands.opening import Wanted

    kept = Kept.of(model, context.params["memory"], context.params["jobs"])
    return GoBack(kept, kept.wanted(Wanted.typed(context, scores), of_scores=True), out, error, noisy=False)
