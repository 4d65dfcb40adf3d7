"""What `mercer demo` does: figures with their claims, a report on real data, the playground, and a page of doors."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from mercer_old.commands.answers import Answer
from mercer_old.errors import ClaimsFailed, MissingPart
from mercer_old.outlets import make_place, write_whole
from mercer_old.terminal import plain

__all__ = ["Show", "ShowFigures"]

_PAGES = {"gallery": "figures.html", "report": "report.html", "playground": "playground.html"}
_COMPONENTS = 10


@dataclass(frozen=True)
class ShowFigures:
    """Some of the figures on one page, and whether what they claim holds."""

    out: Path
    only: Sequence[int]
    fills_stdout = False

    def code(self) -> str:
        return _FIGURES.format(out=str(self.out), only=list(self.only), name=_name(self.only))

    def run(self) -> Answer:
        scripts = _gallery().scripts(self.only)
        page = make_place(self.out / _name([int(script.name[:2]) for script in scripts]))
        return _answer(page, _drawn(scripts, page))


@dataclass(frozen=True)
class Show:
    """All figures, the report and the playground, each on a page of its own beside the one that leads to them."""

    out: Path
    fills_stdout = False

    def code(self) -> str:
        return _ALL.format(out=str(self.out), components=_COMPONENTS, pages=_PAGES)

    def run(self) -> Answer:
        gallery = _gallery()
        # An unwritable folder is told before the work, not after it.
        index, *pages = (make_place(self.out / name) for name in ("index.html", *_PAGES.values()))
        figures, report, playground = pages
        claims = _drawn(gallery.scripts(), figures)
        rows = _report(report)
        _playground(playground)
        write_whole(index, _index(claims, rows))
        return _answer(index, claims, dict(zip(_PAGES, pages, strict=True)))


def _name(numbers: Sequence[int]) -> str:
    return "_".join(["figure", *map(str, dict.fromkeys(numbers))]) + ".html"


def _gallery() -> ModuleType:
    try:
        from mercer_old.report import gallery
    except ModuleNotFoundError as missing:
        raise MissingPart("The gallery", missing.name or "matplotlib", "app") from None
    return gallery


def _drawn(scripts: list[Path], page: Path) -> dict[str, bool]:
    """The figures of these scripts on a page; what they claim, and whether it holds."""
    from mercer_old.progress import track
    from mercer_old.report import html
    from mercer_old.report.gallery import make_entry
    from mercer_old.threads import one_blas_thread

    with one_blas_thread():  # small matrices all of them: threads would only wait for each other
        entries = [make_entry(script) for script in track(scripts, "drawing")]
    write_whole(page, html.gallery_page(entries).encode())
    return {f"figure {entry.name}: {claim}": holds for entry in entries for claim, holds in entry.claims.items()}


def _report(page: Path) -> int:
    """A report on handwritten digits, which scikit-learn brings along; returns how many there are."""
    from sklearn.datasets import load_digits

    from mercer_old.models.kernel_pca import KernelPCA

    digits = load_digits()
    model = KernelPCA(_COMPONENTS, kernel="rbf", gamma="median").fit(digits.data)
    model.report(digits.data, labels={"digit": digits.target.astype(str)}, path=page)
    return len(digits.data)


def _playground(page: Path) -> None:
    from mercer_old.report.playground import playground

    playground(path=page)


def _index(claims: dict[str, bool], rows: int) -> bytes:
    from mercer_old.report.index import index_page

    return index_page(_PAGES, claims, rows).encode()


def _answer(page: Path, claims: dict[str, bool], pages: dict[str, Path] | None = None) -> Answer:
    wrong = [claim for claim, holds in claims.items() if not holds]
    doubt = ClaimsFailed(f"{len(wrong)} of the figures' claims did not hold: {'; '.join(wrong)}") if wrong else None
    others = {} if pages is None else {"pages": {name: other.resolve() for name, other in pages.items()}}
    return Answer({"page": page.resolve(), **others, "claims": claims}, plain(page.resolve()), doubt)


_FIGURES = """\
from pathlib import Path

from mercer_old.report import gallery, html

entries = [gallery.make_entry(script) for script in gallery.scripts({only!r})]
page = Path({out!r}) / {name!r}
page.parent.mkdir(parents=True, exist_ok=True)
page.write_text(html.gallery_page(entries), encoding="utf-8")
print(page.resolve())"""

_ALL = """\
from pathlib import Path

from mercer_old import KernelPCA, playground
from mercer_old.report import gallery, html
from mercer_old.report.index import index_page
from sklearn.datasets import load_digits

folder, pages = Path({out!r}), {pages!r}
folder.mkdir(parents=True, exist_ok=True)
digits = load_digits()
model = KernelPCA({components}, kernel="rbf", gamma="median").fit(digits.data)
model.report(digits.data, labels={{"digit": digits.target.astype(str)}}, path=folder / pages["report"])
playground(path=folder / pages["playground"])
entries = [gallery.make_entry(script) for script in gallery.scripts()]
(folder / pages["gallery"]).write_text(html.gallery_page(entries), encoding="utf-8")
claims = {{f"{{entry.name}}: {{claim}}": holds for entry in entries for claim, holds in entry.claims.items()}}
index = folder / "index.html"
index.write_text(index_page(pages, claims, len(digits.data)), encoding="utf-8")
print(index.resolve())"""
