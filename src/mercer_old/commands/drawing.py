"""What `mercer plot` does: load a model, open the rows beside it, draw, and write the picture."""

from dataclasses import dataclass
from inspect import signature
from pathlib import Path
from typing import Any

from mercer_old.commands.answers import Answer
from mercer_old.commands.around import as_bad_data, warnings_as_lines
from mercer_old.commands.kept import Kept
from mercer_old.commands.opening import Wanted
from mercer_old.commands.script import Piece, Script
from mercer_old.displays.along import MOST_NAMES, NAMED, has_names
from mercer_old.displays.asking import under
from mercer_old.displays.biplot import SCALINGS
from mercer_old.displays.canvas import THEMES, check_kind, check_size
from mercer_old.displays.contribution import OF
from mercer_old.displays.kinds import display_of, first_kind, plot
from mercer_old.errors import WrongUse, in_short
from mercer_old.outlets import make_place, refuse_same_file
from mercer_old.readings.regions import REGIONS
from mercer_old.sources.items import Items
from mercer_old.terminal import plain, say

__all__ = ["Asked", "Draw"]

_WORDS = {"theme": THEMES, "ellipse": REGIONS, "scaling": SCALINGS, "of": OF}


@dataclass(frozen=True)
class Asked:
    """What was typed about the picture."""

    kind: str | None
    components: str | None
    size: str | None
    features: str | None
    image_shape: str | None
    options: dict[str, Any]  # of displays, by their names; None where nothing was typed
    names: bool | None = None  # of rows: drawn or not; None where nothing was typed

    def typed(self) -> dict[str, Any]:
        """All options of displays that were typed, as values."""
        said = self.options | {
            "components": None if self.components is None else _numbers(self.components),
            "size": None if self.size is None else check_size(_sides(self.size, "--size", float), (1.0, 1.0)),
            "features": None if self.features is None else [name.strip() for name in self.features.split(",")],
            "image_shape": None if self.image_shape is None else _sides(self.image_shape, "--image-shape", int),
        }
        return {name: value for name, value in said.items() if value is not None}


@dataclass(frozen=True)
class Draw:
    """Load, open, draw, write."""

    file: str
    typed: Wanted | None
    out: Path | None
    asked: Asked
    dpi: int
    fills_stdout = False

    def code(self) -> str:
        script, (out, kept, options) = Script(), self._checked()
        if self.typed is None:
            rows, model = Piece("None"), script.set("model", script.call("load", kept.path))
        else:
            model, rows = kept.write(script, kept.wanted(self.typed), kept.columns, kept.kind)
        given = {"kind": self.asked.kind, "names": self.asked.names} | options
        said = {name: value for name, value in given.items() if value is not None}
        display = script.call(f"{model.text}.plot", *([] if self.typed is None else [rows]), **said)
        script.add(script.call(f"{display.text}.save", out, self.dpi).text)
        return str(script)

    def _checked(self) -> tuple[Path, Kept, dict[str, Any]]:
        """Where the picture goes, the model, and the options of the display; what is wrong is said before the work."""
        if self.out is None:
            raise WrongUse("Where should the picture go? Name a file: -o picture.svg (or .png, .pdf).")
        if not 10 <= self.dpi <= 1200:
            raise WrongUse(f"--dpi {self.dpi} is not from 10 to 1200.")
        check_kind(self.out)
        options = self.asked.typed()
        _refuse_words(options)
        if self.asked.kind is not None:
            _refuse_strange(self.asked.kind, options)
        make_place(self.out)
        refuse_same_file(Path(self.file), self.out)
        if self.typed is not None:
            refuse_same_file(Path(self.typed.data), self.out)
        kept = Kept.of(self.file)
        _refuse_missing(kept.model, options)
        return self.out, kept, options

    def run(self) -> Answer:
        out, kept, options = self._checked()
        if self.typed is None:
            with warnings_as_lines(kept.path, plain(kept.path)), as_bad_data(kept.path, plain(kept.path)):
                display = _drawn(kept.model, None, self.asked.kind, options, self.asked.names)
                display.save(out, self.dpi)
        else:
            with kept.opened(kept.wanted(self.typed), kept.columns, kept.kind) as new:
                display = _drawn(kept.model, new.items, self.asked.kind, options, self.asked.names)
                display.save(out, self.dpi)
        notes = [note.replace(r"\$", "$") for note in display.notes_]
        for note in notes:
            say(note)
        say(f"Written: {plain(out)} ({type(display).__name__})")
        return Answer({"model": kept.path, "picture": out, "display": type(display).__name__, "notes": notes})


def _drawn(model: Any, items: Items | None, kind: str | None, options: dict[str, Any], names: bool | None) -> Any:
    """The display; said where there are too many rows to name them unasked."""
    kind = first_kind(model, items) if kind is None else kind
    _refuse_strange(kind, options)
    if names is None and kind in NAMED and has_names(items) and len(items or ()) > MOST_NAMES:
        say(f"{len(items or ()):,} rows are too many to name each: --names draws the names that find room.")
    asked = {} if names is None or kind not in NAMED else {"names": names}
    return plot(model, items, None, kind, options | asked)


def _refuse_strange(kind: str, options: dict[str, Any]) -> None:
    """Options that the display does not have."""
    display = display_of(kind)
    takes = {*signature(display.from_estimator).parameters, *signature(display.plot).parameters}
    for name in options:
        if name not in takes:
            raise WrongUse(f"--{name.replace('_', '-')} is not for --kind {kind}.")


def _refuse_words(options: dict[str, Any]) -> None:
    """Words that mean nothing; said before a model is loaded."""
    for name, known in _WORDS.items():
        if name in options and options[name] not in known:
            raise WrongUse(f"--{name} {plain(options[name])}: known are {', '.join(known)}.")


def _refuse_missing(model: Any, options: dict[str, Any]) -> None:
    """Components that were not fitted, as they are counted here."""
    k = under(model)._n_features_out
    missing = [j + 1 for j in options.get("components", ()) if j >= k]
    if missing:
        raise WrongUse(f"--components: there is no component {missing[0]}; {k} were fitted.")


def _numbers(text: str) -> list[int]:
    """1,3 as people count are 0 and 2."""
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdigit() and int(part) > 0 for part in parts):
        raise WrongUse(f"--components {plain(text)} are no numbers from 1 on, separated by commas, such as 1,3.")
    return [int(part) - 1 for part in parts]


def _sides(text: str, option: str, number: Any) -> tuple[Any, Any]:
    try:
        first, second = (number(part) for part in text.lower().replace("×", "x").split("x"))
    except ValueError:
        raise WrongUse(f"{option} {in_short(text)} are not two numbers, such as 8x6.") from None
    return first, second
