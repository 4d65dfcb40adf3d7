"""The pictures of a report: those that a model has, each in both themes, or a sentence that says why there is none."""

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mercer.displays.canvas import THEMES, as_bytes
from mercer.displays.kinds import LABELLED, first_kind, plot
from mercer.errors import MissingPart
from mercer.models.linear import LinearModel
from mercer.models.local_model import LocalModel
from mercer.readings.rules.suggestion import Suggestion

__all__ = ["Picture", "pictures_of"]

_MOST_GRADIENTS = 5000  # rows that arrows of a kernel are taken at
_INCH = 6.5  # rem: the smallest text of a picture is as large as that of the page, nearly


@dataclass(frozen=True)
class Picture:
    """A display in both themes, with what it says in words."""

    kind: str
    notes: tuple[str, ...]
    images: Mapping[str, bytes]  # of every theme, an SVG; none where it could not be drawn
    width: int = 0  # rem

    def uri(self, theme: str) -> str:
        return f"data:image/svg+xml;base64,{base64.b64encode(self.images[theme]).decode('ascii')}"


def pictures_of(model: Any, X: Any, y: Any, suggestion: Suggestion | None) -> list[Picture]:
    """The one to look at first, and those that say what it is made of."""
    return [_drawn(kind, model, X, y, suggestion) for kind in _kinds(model, X)]


def _kinds(model: Any, X: Any) -> list[str]:
    inner = getattr(model, "estimator_", model)
    kinds = [first_kind(model, X)]
    if isinstance(inner, LocalModel):
        return list(dict.fromkeys([*kinds, "spectrum"]))
    kinds.append("scree")
    if isinstance(inner, LinearModel):
        kinds += ["loadings"] + ["biplot"] * (X is not None and inner._n_features_out > 1)
    elif inner is model and _has_gradients(inner):
        kinds += ["biplot"] * (inner._n_features_out > 1)
    return list(dict.fromkeys(kinds))


def _has_gradients(model: Any) -> bool:
    """Whether columns have arrows: of kernels of rows that change with them, where there are not too many rows."""
    rows = getattr(model, "X_fit_", None)
    return rows is not None and bool(model.kernel_.differentiable) and rows.shape[0] <= _MOST_GRADIENTS


def _drawn(kind: str, model: Any, X: Any, y: Any, suggestion: Suggestion | None) -> Picture:
    """A display that refuses says why, and the page goes on."""
    try:
        display = _display(kind, model, X, y, suggestion)  # drawn in the first theme
        images = {
            theme: as_bytes((display.plot(theme=theme) if nth else display).figure_, "svg")
            for nth, theme in enumerate(THEMES)
        }
    except MissingPart:
        raise
    except ValueError as error:
        return Picture(kind, (str(error),), {})
    notes = tuple(note.replace(r"\$", "$") for note in display.notes_)
    return Picture(kind, notes, images, round(display.figure_.get_size_inches()[0] * _INCH))


def _display(kind: str, model: Any, X: Any, y: Any, suggestion: Suggestion | None) -> Any:
    inner = getattr(model, "estimator_", model)
    first = next(iter(THEMES))
    if kind == "scree":  # rules were asked already
        scree = plot(inner, None, None, kind, {"rules": False})
        scree.suggestion = suggestion
        return scree.plot(theme=first)
    return plot(model if kind == "novelty" else inner, X, y if kind in LABELLED else None, kind, {"theme": first})
