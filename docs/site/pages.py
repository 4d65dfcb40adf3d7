"""Pages of the repository, moved to their places in the site with all their links."""

import os
import re
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parents[2]
#: What the site has beside docs/.
OTHERS = "CHANGELOG.md", "CODE_OF_CONDUCT.md", "CONTRIBUTING.md", "RELEASING.md", "SECURITY.md", "benchmarks/**/*.md"
#: Where what is no page of its own is shown.
SHOWN = {
    "README.md": "index.md",
    "examples": "gallery.md",
    "src/mercer/textbook.py": "reference/textbook.rst",
    "src/mercer/datasets.py": "reference/datasets.rst",
}
NAMES = "docs/reference/api.md"  # one page here; there one for every name, by its anchor

_LINK = re.compile(r"(\]\()([^)#\s]*)(#[^)\s]*)?([^)]*\))")


def sources() -> list[str]:
    """Every page, by its path in the repository."""
    found = [*(ROOT / "docs").rglob("*.md"), *(path for pattern in OTHERS for path in ROOT.glob(pattern))]
    return sorted(path.relative_to(ROOT).as_posix() for path in found)


def place(path: str) -> str:
    """Where the site has a file of the repository."""
    if path in SHOWN:
        return SHOWN[path]
    if path.startswith("examples/"):
        return f"gallery/{PurePosixPath(path).stem}.md"
    return path.removeprefix("docs/")


def markdown() -> dict[str, str]:
    """The text of every page by its place, with links that lead there from that place."""
    return {place(path): moved((ROOT / path).read_text(encoding="utf-8"), path) for path in sources()}


def pictures() -> dict[str, bytes]:
    return {place(f"docs/pictures/{path.name}"): path.read_bytes() for path in (ROOT / "docs/pictures").glob("*.png")}


def moved(text: str, path: str) -> str:
    """The text of a page with its links as they are seen from its place; code is left alone."""
    parts = re.split(r"(```.*?```)", text, flags=re.S)
    return "".join(part if part.startswith("```") else _LINK.sub(lambda link: _led(link, path), part) for part in parts)


def _led(link: re.Match[str], path: str) -> str:
    opening, target, anchor, rest = link.groups()
    if not target or ":" in target:
        return link[0]
    there = os.path.normpath(PurePosixPath(path).parent / target)
    if there == NAMES and anchor:
        there, anchor = f"docs/{name_page(anchor[1:])}", None
    if there.endswith(".py") and there not in SHOWN and not there.startswith("examples/"):
        raise ValueError(f"{path} links to {target}, which the site does not show.")
    back = os.path.relpath(place(there), PurePosixPath(place(path)).parent)
    return f"{opening}{back}{anchor or ''}{rest}"


def name_page(anchor: str) -> str:
    """The page of a public name, by its anchor in the page that has all of them."""
    from docs.site.names import public_names

    return next(f"reference/names/{name}.rst" for name in public_names() if name.lower().endswith(f".{anchor}"))
