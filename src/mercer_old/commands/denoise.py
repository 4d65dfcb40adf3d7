"""`mercer denoise`: new rows without what the components of a model do not have."""

import typer

from mercer_old.commands import arguments as given
from mercer_old.commands.answers import Job
from mercer_old.commands.frame import takes
from mercer_old.commands.groups import Limits, Reading


@takes(Reading, Limits)
def denoise(
    context: typer.Context,
    model: given.Model,
    new: given.New,
    out: given.RowsOut = None,
    error: given.WithError = False,
) -> Job:
    """New rows without what lies beside the components of a model that was kept: to their scores and back again."""
    from mercer_old.commands.going_back import GoBack
    from mercer_old.commands.kept import Kept
    from mercer_old.commands.opening import Wanted

    kept = Kept.of(model, context.params["memory"], context.params["jobs"])
    return GoBack(kept, kept.wanted(Wanted.typed(context, new)), out, error, noisy=True)
