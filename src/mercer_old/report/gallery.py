"""The gallery: scripts that compute, claim and draw, made into entries of a page.

A script of `examples/` has a docstring (first line the title, the rest the caption), the texts `SLIDES` and
`FORMULA`, and three functions:

    compute()        → a SimpleNamespace of arrays and numbers, seeded
    claims(results)  → {sentence: did it hold}: what the figure shows, checked on the numbers
    draw(results)    → the figure
"""

import importlib.util
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from mercer_old.errors import WrongUse
from mercer_old.look import THEMES, as_png

_PACKAGE = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Entry:
    """One figure with all that is said about it."""

    name: str  # "08_rings"
    title: str
    caption: str
    formula: str
    slides: str
    claims: dict[str, bool]
    pictures: dict[str, bytes]  # theme → PNG

    @property
    def number(self) -> str:
        return self.name[:2].lstrip("0")


def scripts(only: Iterable[int] = ()) -> list[Path]:
    """The scripts of the gallery in order; with `only`, those of these numbers."""
    installed, checkout = _PACKAGE / "examples", _PACKAGE.parent.parent / "examples"
    found = sorted((installed if installed.is_dir() else checkout).glob("[0-9][0-9]_*.py"))
    numbers = {int(path.name[:2]): path for path in found}
    unknown = [number for number in only if number not in numbers]
    if unknown:
        raise WrongUse(f"The gallery has no figure {unknown[0]}; its figures are {min(numbers)} to {max(numbers)}.")
    return [numbers[number] for number in dict.fromkeys(only)] or found


def load(path: Path) -> ModuleType:
    """The script as a module."""
    spec = importlib.util.spec_from_file_location(f"mercer_example_{path.stem}", path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def make_entry(path: Path, themes: Iterable[str] = THEMES) -> Entry:
    """Compute once, check the claims, draw in every theme."""
    script = load(path)
    title, _, caption = (script.__doc__ or "").strip().partition("\n")
    results = script.compute()
    return Entry(
        name=path.stem,
        title=title,
        caption=caption.strip(),
        formula=script.FORMULA,
        slides=script.SLIDES,
        claims=script.claims(results),
        pictures={theme: as_png(lambda: script.draw(results), theme) for theme in themes},
    )


def run_script(path: str) -> None:
    """What `python examples/NN_….py` does: save the picture here and print what it claims."""
    entry = make_entry(Path(path), themes=["light"])
    target = Path(f"{entry.name}.png")
    target.write_bytes(entry.pictures["light"])
    sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]  # a terminal without unicode gets ?
    for sentence, holds in entry.claims.items():
        print("✓" if holds else "✗", sentence)
    print(target)
    sys.exit(0 if all(entry.claims.values()) else 4)
