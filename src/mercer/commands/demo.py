"""`mercer demo`: the gallery, drawn anew."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from mercer.commands.answers import Answer, Job
from mercer.commands.frame import takes
from mercer.commands.typed import whole
from mercer.errors import ClaimsFailed, MissingPart
from mercer.terminal import plain


@takes()
def demo(
    out: Annotated[Path, typer.Option(help="The folder to write index.html into; made if need be.")] = Path("gallery"),
    only: Annotated[
        list[int] | None, typer.Option(parser=whole, help="A figure to draw, into figure_N.html; may be repeated.")
    ] = None,
) -> Job:
    """Draw the gallery: sixteen figures of the lectures, as one page that opens offline."""
    return _Draw(out, only or ())


@dataclass(frozen=True)
class _Draw:
    """A page of figures, and whether what they claim holds."""

    out: Path
    only: Sequence[int]
    fills_stdout = False

    def code(self) -> str:
        return _CODE.format(out=str(self.out), only=list(self.only), name=f"{self._name(self.only)}.html")

    def _name(self, numbers: Sequence[int]) -> str:
        return "_".join(["figure", *map(str, numbers)]) if self.only else "index"

    def run(self) -> Answer:
        try:
            from mercer.report import gallery, html
        except ModuleNotFoundError as missing:
            raise MissingPart("The gallery", missing.name or "matplotlib", "app") from None
        from mercer.outlets import make_place, write_whole
        from mercer.progress import track
        from mercer.threads import one_blas_thread

        scripts = gallery.scripts(self.only)
        name = self._name([int(script.name[:2]) for script in scripts])
        page = make_place(self.out / f"{name}.html")  # an unwritable folder is said before the work, not after it
        with one_blas_thread():  # small matrices all of them: threads would only wait for each other
            entries = [gallery.make_entry(script) for script in track(scripts, "drawing")]
        write_whole(page, html.gallery_page(entries).encode())
        claims = {f"figure {entry.name}: {claim}": holds for entry in entries for claim, holds in entry.claims.items()}
        wrong = [claim for claim, holds in claims.items() if not holds]
        doubt = ClaimsFailed(f"{len(wrong)} of the figures' claims did not hold: {'; '.join(wrong)}") if wrong else None
        return Answer({"page": page.resolve(), "claims": claims}, plain(page.resolve()), doubt)


_CODE = """\
from pathlib import Path

from mercer.report import gallery, html

entries = [gallery.make_entry(script) for script in gallery.scripts({only!r})]
page = Path({out!r}) / {name!r}
page.parent.mkdir(parents=True, exist_ok=True)
page.write_text(html.gallery_page(entries), encoding="utf-8")
print(page.resolve())"""
