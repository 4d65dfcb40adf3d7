"""The gallery as pages: the sixteen figures in both themes, with what they claim and the scripts that draw them."""

import hashlib
import json
from functools import cache
from pathlib import Path

from docs.site.pages import ROOT
from mercer_old.look import THEMES
from mercer_old.report.gallery import Entry, make_entry
from mercer_old.threads import one_blas_thread

ABOUT = """\
The figures of [the lectures](lectures.md), each a script of a page that computes, checks what it claims, and draws.
`make demo` draws all of them into one page of their own."""


def figure(script: Path, kept: Path) -> Entry:
    """The figure of a script: as it was kept there, if neither the script nor the package has changed since."""
    folder = kept / script.stem / hashlib.sha256(script.read_bytes() + package()).hexdigest()[:16]
    said = folder / "said.json"
    if said.exists():
        pictures = {theme: (folder / f"{theme}.png").read_bytes() for theme in THEMES}
        return Entry(pictures=pictures, **json.loads(said.read_text(encoding="utf-8")))
    with one_blas_thread():
        entry = make_entry(script)
    assert all(entry.claims.values()), f"{entry.name} claims what does not hold: {entry.claims}"
    folder.mkdir(parents=True, exist_ok=True)
    for theme, picture in entry.pictures.items():
        (folder / f"{theme}.png").write_bytes(picture)
    words = {name: value for name, value in vars(entry).items() if name not in ("pictures", "claims")}
    claims = {sentence: bool(holds) for sentence, holds in entry.claims.items()}
    said.write_text(json.dumps(words | {"claims": claims}), encoding="utf-8")  # last: what is half drawn is drawn anew
    return entry


@cache
def package() -> bytes:
    """A digest of all code that figures are drawn by."""
    files = sorted((ROOT / "src" / "mercer").rglob("*.py"))
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).digest()


def pages(entries: list[Entry]) -> dict[str, str]:
    return {"gallery.md": overview(entries)} | {f"gallery/{entry.name}.md": figure_page(entry) for entry in entries}


def pictures(entries: list[Entry]) -> dict[str, bytes]:
    return {f"gallery/{entry.name}_{theme}.png": entry.pictures[theme] for entry in entries for theme in THEMES}


def overview(entries: list[Entry]) -> str:
    lines = ["# Gallery", "", ABOUT, "", '<div class="gallery">', ""]
    for entry in entries:
        lines += [f'<a href="gallery/{entry.name}.html">', *both_themes(entry, "_images/")]
        lines += [f"<span>{entry.number}. {entry.title}</span></a>", ""]
    lines += ["</div>", "", "```{toctree}", ":hidden:", "", *(f"gallery/{entry.name}" for entry in entries), "```", ""]
    return "\n".join(lines)


def both_themes(entry: Entry, folder: str) -> list[str]:
    return [
        f'<img class="only-{theme}" loading="lazy" alt="" src="{folder}{entry.name}_{theme}.png">' for theme in THEMES
    ]


def figure_page(entry: Entry) -> str:
    pictures = [
        f"```{{image}} {entry.name}_{theme}.png\n:class: only-{theme}\n:alt: {entry.title}\n```" for theme in THEMES
    ]
    claims = [f"- ✓ {sentence}" for sentence in entry.claims]
    script = (ROOT / "examples" / f"{entry.name}.py").read_text(encoding="utf-8").strip()
    parts = [f"# {entry.number}. {entry.title}", *pictures, entry.caption, f"```text\n{entry.formula}\n```"]
    parts += [f"Slides: {entry.slides}.", "## What it claims", "\n".join(claims)]
    parts += ["## How it is drawn", f"`examples/{entry.name}.py`:", f"````python\n{script}\n````"]
    return "\n\n".join(parts) + "\n"
