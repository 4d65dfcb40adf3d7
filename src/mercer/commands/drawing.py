"""What `mercer plot` does: load a model, open the rows beside it, draw, and write the picture."""

from dataclasses import dataclass, replace
from inspect import signature
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from mercer.commands.around import as_bad_data, file_for, warnings_as_lines
from mercer.commands.opening import Wanted, in_short_words
from mercer.displays.asking import under
from mercer.displays.biplot import SCALINGS
from mercer.displays.canvas import THEMES, check_kind, check_size
from mercer.displays.contribution import OF
from mercer.displays.kinds import LABELLED, display_of, first_kind, plot
from mercer.errors import WrongUse, in_short
from mercer.kernels.base import kind_of_items
from mercer.outlets import make_place, refuse_same_file
from mercer.readings.regions import REGIONS
from mercer.sources.cells import as_cells, things_of
from mercer.sources.items import Items
from mercer.store.files import opened
from mercer.terminal import plain, say

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

    def typed(self) -> dict[str, Any]:
        """All options of displays that were typed, as values."""
        said = self.options | {
            "components": None if self.components is None else _numbers(self.components),
            "size": None if self.size is None else check_size(_sides(self.size, "--size", float), (1.0, 1.0)),
            "features": None if self.features is None else [name.strip() for name in self.features.split(",")],
            "image_shape": None if self.image_shape is None else _sides(self.image_shape, "--image-shape", int),
        }
        return {name: value for name, value in said.items() if value is not None}


def draw_file(file: str, typed: Wanted | None, out: Path | None, asked: Asked, dpi: int) -> None:
    """Load, open, draw, write."""
    if out is None:
        raise WrongUse("Where should the picture go? Name a file: -o picture.svg (or .png, .pdf).")
    if not 10 <= dpi <= 1200:
        raise WrongUse(f"--dpi {dpi} is not from 10 to 1200.")
    check_kind(out)
    options = asked.typed()
    _refuse_words(options)
    if asked.kind is not None:
        _refuse_strange(asked.kind, options)
    make_place(out)
    refuse_same_file(Path(file), out)
    with opened(Path(file)) as stored:
        model, notes = stored.model(), stored.header.get("notes") or {}
    _refuse_missing(model, options)
    if typed is None:
        with warnings_as_lines(Path(file), plain(file)), as_bad_data(Path(file), plain(file)):
            display = _drawn(model, None, asked.kind, options)
            display.save(out, dpi)
    else:
        refuse_same_file(Path(typed.data), out)
        wanted = _as_fitted(model, notes, typed)
        with file_for(wanted.data) as (path, name), warnings_as_lines(path, name), as_bad_data(path, name):
            items = _open(model, wanted, path)
            say(f"{name}: {in_short_words(items)}")
            display = _drawn(model, items, asked.kind, options)
            display.save(out, dpi)
    for note in display.notes_:
        say(note.replace(r"\$", "$"))
    say(f"Written: {plain(out)} ({type(display).__name__})")


def _as_fitted(model: Any, notes: dict[str, Any], typed: Wanted) -> Wanted:
    """The file read as that of the fit was, but for what is typed; of a file with more columns, those of the model."""
    usual = Wanted.from_notes(notes, typed.data)
    wanted = replace(usual, **typed.as_notes())
    names = getattr(model, "feature_names_in_", None)
    if wanted.columns is None and names is not None and _kind(model) == "rows":
        return replace(wanted, columns=[str(name) for name in names], drop=())
    return wanted


def _kind(model: Any) -> str:
    """What the model compares: rows, texts or tables."""
    inner = under(model)
    return kind_of_items(getattr(inner, "kernel", getattr(inner, "metric", None))) or "rows"


def _open(model: Any, wanted: Wanted, path: Path) -> Items:
    """The items of a file; the kernel of a table is found for a stand-in, as the model has its own."""
    inner = under(model)
    stand_in = SimpleNamespace(memory_limit=inner.memory_limit, kernel=getattr(inner, "kernel", None))
    if hasattr(inner, "metric"):
        stand_in = SimpleNamespace(memory_limit=inner.memory_limit, metric=inner.metric)
    return wanted.open(path, stand_in, _kind(model) == "texts")[0]


def _drawn(model: Any, items: Items | None, kind: str | None, options: dict[str, Any]) -> Any:
    """The display, with labels and names of rows where it shows them."""
    kind = first_kind(model, items) if kind is None else kind
    _refuse_strange(kind, options)
    beside = {} if items is None else {name: _labels(items, name) for name in items.beside}
    y: Any = None
    if kind == "metadata":
        y = beside or None
    elif kind in LABELLED and beside:
        y = next(iter(beside.values()))
    takes = signature(display_of(kind).from_estimator).parameters
    by_row = kind in ("scores", "novelty") or options.get("of") == "rows"
    if items is not None and items.row_names is not None and "names" in takes and by_row:
        options = options | {"names": [str(name) for name in items.row_names]}
    return plot(model, items, y, kind, options)


def _labels(items: Items, column: str) -> list[Any]:
    """Of a column beside the rows; what is empty is no label."""
    return [None if label == "" else label for label in things_of(as_cells(list(items.beside[column])))]


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
