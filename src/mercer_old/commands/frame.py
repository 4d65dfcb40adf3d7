"""What is around every command: options in groups that are listed once, and four that all commands have.

A command is a function that takes what is its own and returns a job. `takes` puts the groups it names into its
signature, where typer finds them; what was typed for them is in the context, from which the job is made.
"""

import inspect
from collections.abc import Callable
from copy import copy
from functools import wraps
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from mercer_old.commands.answers import Job, as_document
from mercer_old.commands.groups import Talk
from mercer_old.commands.workers import Workers
from mercer_old.errors import WrongUse
from mercer_old.startup import meet_sklearn
from mercer_old.terminal import MANNERS, put

__all__ = ["carry_out", "takes"]

_Command = Callable[..., Job]
_ALONE = Workers()


def takes(*groups: type, with_models: bool = True) -> Callable[[_Command], Callable[..., None]]:
    """A command with the options of these groups, and with those of every command; models are what most ask for."""

    def framed(command: _Command) -> Callable[..., None]:
        own = inspect.signature(command, eval_str=True).parameters
        shared = {each.name: each for group in (*groups, Talk) for each in _parameters(group)}

        @wraps(command)
        def run(**given: Any) -> None:
            talk = {name: given[name] for name in get_type_hints(Talk)}
            if with_models:
                meet_sklearn()
            workers = Workers.typed(given)
            carry_out(lambda: command(**{name: given[name] for name in own}), workers, **talk)

        every = [each.replace(kind=each.KEYWORD_ONLY) for each in {**own, **shared}.values()]
        run.__signature__ = inspect.Signature(every)  # type: ignore[attr-defined]
        run.__annotations__ = {each.name: each.annotation for each in every}
        return run

    return framed


def carry_out(
    ask: Callable[[], Job],
    workers: Workers = _ALONE,
    *,
    as_json: bool,
    quiet: bool,
    debug: bool,
    show_code: bool,
) -> None:
    """Make the job, and print its answer, or the Python that does the same, to standard output."""
    MANNERS.quiet, MANNERS.debug = quiet, debug
    job = ask()
    if show_code:
        put(workers.written(job.code()))
        return
    if as_json and job.fills_stdout:
        raise WrongUse("--json and the rows would both go to standard output: name a file for the rows with --out.")
    with workers.at_work():
        answer = job.run()
    if as_json:
        warned = dict.fromkeys([*answer.figures.get("warnings", ()), *MANNERS.warned])
        put(as_document({**answer.figures, "warnings": list(warned)}))
    elif answer.words is not None:
        put(answer.words)
    if answer.doubt is not None:
        raise answer.doubt


def _parameters(group: type) -> list[inspect.Parameter]:
    """The options of a group, each below the group's title in the help."""
    return [
        inspect.Parameter(
            name, inspect.Parameter.KEYWORD_ONLY, default=getattr(group, name), annotation=_below(kind, group)
        )
        for name, kind in get_type_hints(group, include_extras=True).items()
    ]


def _below(kind: Any, group: type) -> Any:
    assert get_origin(kind) is Annotated
    of, option = get_args(kind)
    option = copy(option)
    option.rich_help_panel = inspect.getdoc(group)
    return Annotated[of, option]
