"""The commands there are. Each imports what it needs when it runs, so that `mercer --help` answers at once."""

from typing import Annotated

import typer

import mercer_old as mercer
from mercer_old.commands.compare import compare
from mercer_old.commands.components import components
from mercer_old.commands.convert import convert
from mercer_old.commands.demo import demo
from mercer_old.commands.denoise import denoise
from mercer_old.commands.doctor import doctor
from mercer_old.commands.fit import fit
from mercer_old.commands.impute import impute
from mercer_old.commands.influence import influence
from mercer_old.commands.inspect import inspect
from mercer_old.commands.inverse import inverse
from mercer_old.commands.novelty import novelty
from mercer_old.commands.plan import plan
from mercer_old.commands.playground import playground
from mercer_old.commands.plot import plot
from mercer_old.commands.report import report
from mercer_old.commands.stability import stability
from mercer_old.commands.transform import transform
from mercer_old.commands.tune import tune
from mercer_old.commands.verify import verify
from mercer_old.terminal import put

app = typer.Typer(
    help="Dimension reduction that people can trust on real data.",
    epilog="Exit codes: 0 done, 2 wrong use or a missing part, 3 bad data, 4 not verified, 5 no room, "
    "6 a cluster that failed, 129 hung up, 130 interrupted, 143 terminated.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,  # our errors become sentences in __main__; a defect keeps its traceback
)


def _print_version(wanted: bool) -> None:
    if wanted:
        put(f"mercer {mercer.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    pass


_GROUPS = {
    "Fit and apply": (fit, transform, inverse, denoise, impute, novelty),
    "Understand": (components, influence, stability, plot, report),
    "Choose": (compare, plan, tune),
    "Model files": (inspect, verify, convert),
    "About mercer": (doctor, demo, playground),
}
for title, commands in _GROUPS.items():
    for command in commands:
        app.command(rich_help_panel=title)(command)
