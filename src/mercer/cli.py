"""Thin commands. Each imports what it needs when it runs, so that `mercer --help` answers at once."""

from pathlib import Path
from typing import Annotated

import typer

import mercer
from mercer.errors import ClaimsFailed, MissingPart

app = typer.Typer(
    help="Dimension reduction that people can trust on real data.",
    epilog="Exit codes: 0 done, 2 wrong use or a missing part, 3 bad data, 4 not verified, 5 no room, 130 interrupted.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,  # our errors become sentences in __main__; a defect keeps its traceback
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"mercer {mercer.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    pass


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="The folder to write index.html into; made if need be.")] = Path("gallery"),
    only: Annotated[list[int] | None, typer.Option(help="Number of a figure to draw; may be repeated.")] = None,
) -> None:
    """Draw the gallery: sixteen figures of the lectures, as one page that opens offline."""
    try:
        from mercer.report import gallery, html
    except ModuleNotFoundError as missing:
        raise MissingPart("The gallery", missing.name or "matplotlib", "app") from None
    from rich.console import Console
    from rich.progress import track

    from mercer.threads import one_blas_thread

    scripts = gallery.scripts(only or ())
    page = html.prepare(out / "index.html")  # an unwritable folder is said before the work, not after it
    on_terminal = Console(stderr=True)
    shown = track(scripts, "drawing", console=on_terminal, transient=True, disable=not on_terminal.is_terminal)
    with one_blas_thread():  # small matrices all of them: threads would only wait for each other
        entries = [gallery.make_entry(script) for script in shown]
    html.write(page, html.gallery_page(entries))
    typer.echo(page.resolve())
    wrong = [f"figure {entry.name}: {claim}" for entry in entries for claim, holds in entry.claims.items() if not holds]
    if wrong:
        raise ClaimsFailed(f"{len(wrong)} of the figures' claims did not hold: {'; '.join(wrong)}")
