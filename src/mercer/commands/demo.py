"""`mercer demo`: the gallery, drawn anew."""

from pathlib import Path
from typing import Annotated

import typer

from mercer.commands.arguments import whole
from mercer.errors import ClaimsFailed, MissingPart
from mercer.terminal import plain, put


def demo(
    out: Annotated[Path, typer.Option(help="The folder to write index.html into; made if need be.")] = Path("gallery"),
    only: Annotated[
        list[int] | None, typer.Option(parser=whole, help="A figure to draw, into figure_N.html; may be repeated.")
    ] = None,
) -> None:
    """Draw the gallery: sixteen figures of the lectures, as one page that opens offline."""
    try:
        from mercer.report import gallery, html
    except ModuleNotFoundError as missing:
        raise MissingPart("The gallery", missing.name or "matplotlib", "app") from None
    from mercer.outlets import make_place, write_whole
    from mercer.progress import track
    from mercer.threads import one_blas_thread

    scripts = gallery.scripts(only or ())
    name = "_".join(["figure", *(str(int(script.name[:2])) for script in scripts)]) if only else "index"
    page = make_place(out / f"{name}.html")  # an unwritable folder is said before the work, not after it
    with one_blas_thread():  # small matrices all of them: threads would only wait for each other
        entries = [gallery.make_entry(script) for script in track(scripts, "drawing")]
    write_whole(page, html.gallery_page(entries).encode())
    put(plain(page.resolve()))
    wrong = [f"figure {entry.name}: {claim}" for entry in entries for claim, holds in entry.claims.items() if not holds]
    if wrong:
        raise ClaimsFailed(f"{len(wrong)} of the figures' claims did not hold: {'; '.join(wrong)}")
