"""`mercer impute`: rows with their gaps filled, by a model that was kept."""

import typer

from mercer_old.commands import arguments as given
from mercer_old.commands.answers import Job
from mercer_old.commands.frame import takes
from mercer_old.commands.groups import Limits, Reading


@takes(Reading, Limits)
def impute(context: typer.Context, model: given.Model, new: given.New, out: given.RowsOut = None) -> Job:
    """Rows with what a model of `mercer fit --method ppca --save` says where numbers are missing; others stay.

    An empty cell, NA or NaN is a gap. It is filled with what is to be expected, given the other numbers of its row.
    """
    from mercer_old.commands.filling import Fill
    from mercer_old.commands.kept import Kept
    from mercer_old.commands.opening import Wanted

    kept = Kept.of(model, context.params["memory"], context.params["jobs"])
    return Fill(kept, kept.wanted(Wanted.typed(context, new)), out)
