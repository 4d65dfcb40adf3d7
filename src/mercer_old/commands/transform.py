"""`mercer transform`: the scores of new rows, by a model that was kept."""

import typer

from mercer_old.commands import arguments as given
from mercer_old.commands.answers import Job
from mercer_old.commands.frame import takes
from mercer_old.commands.groups import Limits, Reading, Several


@takes(Reading, Limits, Several)
def transform(context: typer.Context, model: given.Model, new: given.New, out: given.ScoresOut = None) -> Job:
    """Scores of new rows by a model that `mercer fit --save` has kept; nothing is fitted.

    NEW is read as the file of the fit was. Columns are found by their names, in any order; without names on both
    sides, by their places.
    """
    from mercer_old.commands.kept import Kept
    from mercer_old.commands.opening import Wanted
    from mercer_old.commands.transforming import Transform

    kept = Kept.of(model, context.params["memory"], context.params["jobs"])
    return Transform(kept, kept.wanted(Wanted.typed(context, new)), out)
