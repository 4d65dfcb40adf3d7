"""Walks: from one end of a component to the other, and the row, picture or text that is met at every step."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer_old.arrays import Array, to_numpy
from mercer_old.displays.pictures import check_shape
from mercer_old.displays.preimage import with_way_back
from mercer_old.errors import shortened
from mercer_old.models.kernel_model import KernelModel
from mercer_old.models.kernel_pca import KernelPCA
from mercer_old.models.linear import LinearModel
from mercer_old.report.chapters.subject import Subject, too_few
from mercer_old.report.numbers import in_bytes, plain_numbers

__all__ = ["Path", "Walk", "walk_of"]

_COMPONENTS = 3
_STEPS = 9
_WITHIN = 0.01, 0.99  # quantiles of the scores between which the way is
_MOST_COLUMNS = 8
_SAMPLE = 2000  # rows that say how far columns reach
_NEAREST = 3  # items at every step
_LONGEST = 120  # letters of an item
_MOST_PIXELS = 4096
_LEAST = 3


@dataclass(frozen=True)
class Path:
    """Along one component; of pictures, columns and items there is one each step, or none."""

    component: str  # with its share
    scores: tuple[float, ...]
    off: tuple[float, ...]  # how far the image of what is met is from the point; of PCA it is there
    pictures: tuple[str, ...]  # of pixels in bytes
    columns: tuple[str, ...]  # that change most
    values: tuple[tuple[float, ...], ...]  # step × column
    low: tuple[float, ...]  # of these columns, where they begin and end in the data
    high: tuple[float, ...]
    items: tuple[tuple[str, ...], ...]  # nearest to every step


@dataclass(frozen=True)
class Walk:
    """Along the first components."""

    kind: str  # "pictures", "columns" or "items"
    about: str
    shape: tuple[int, ...]  # height and width of pictures
    paths: tuple[Path, ...]


def walk_of(subject: Subject) -> Walk | None:
    """None of models without a way back, and where no rows are at hand."""
    inner = subject.inner
    if subject.scores is None or not subject.kind or not isinstance(inner, LinearModel | KernelPCA):
        return None
    if not _count(subject):
        return None
    too_few(len(subject), _LEAST, "A walk along a component")
    return _through_rows(subject) if subject.of_numbers else _past_items(subject)


def _through_rows(subject: Subject) -> Walk:
    shape = check_shape(None, len(subject.names))
    shape = shape if shape is not None and shape[0] * shape[1] <= _MOST_PIXELS else None
    ways = [_way(subject, j) for j in range(_count(subject))]
    found = [_met(subject.inner, points) for points in ways]
    rows = np.concatenate([each for each, _ in found])
    low, high = (float(end) for end in np.quantile(rows[np.isfinite(rows)], [0.001, 0.999]))
    paths = []
    for j, (each, off) in enumerate(found):
        seen = {"pictures": tuple(in_bytes(row, low, high) for row in each)} if shape else _columns(subject, each)
        paths.append(_path(subject, j, ways[j], off, **seen))
    about = (
        "Each step is the row that has this score and zero in all other components."
        if isinstance(subject.inner, LinearModel)
        else "Each step is the row whose image comes nearest to the point that has this score and zero in all others."
    )
    return Walk("pictures" if shape else "columns", about, shape or (), tuple(paths))


def _count(subject: Subject) -> int:
    return min(_COMPONENTS, int(subject.inner._n_features_out))


def _way(subject: Subject, j: int) -> Array:
    """Points of the space of scores, along one component."""
    assert subject.scores is not None
    points = np.zeros((_STEPS, subject.scores.shape[1]))
    low, high = np.quantile(subject.scores[:, j], _WITHIN)
    points[:, j] = np.linspace(low, high, _STEPS)
    return points


def _met(model: Any, points: Array) -> tuple[Array, Array]:
    """The rows there, and of kernels how far their images are from the points."""
    back = with_way_back(model)
    at_home = model._home().bring(points)
    if isinstance(model, KernelModel) and back.preimage is not None:
        rows, off = back.inverse_transform(at_home, return_error=True)
        return np.asarray(to_numpy(rows), dtype=np.float64), np.asarray(to_numpy(off), dtype=np.float64)
    return np.asarray(to_numpy(back.inverse_transform(at_home)), dtype=np.float64), np.empty(0)


def _columns(subject: Subject, rows: Array) -> dict[str, Any]:
    """Those that change most on the way, in units of their range in the data."""
    some = subject.rows(subject.sample(_SAMPLE))
    low, high = np.nanmin(some, axis=0), np.nanmax(some, axis=0)
    change = np.divide(np.ptp(rows, axis=0), high - low, out=np.zeros(rows.shape[1]), where=high > low)
    most = np.sort(np.argsort(-np.nan_to_num(change), kind="stable")[:_MOST_COLUMNS])
    return {
        "columns": tuple(subject.names[i] for i in most),
        "values": tuple(plain_numbers(row) for row in rows[:, most]),
        "low": plain_numbers(low[most]),
        "high": plain_numbers(high[most]),
    }


def _past_items(subject: Subject) -> Walk:
    """Of texts, tables and things: the items of the rows that lie nearest to every step along the component."""
    assert subject.scores is not None
    paths = []
    for j in range(_count(subject)):
        points = _way(subject, j)
        nearest = [np.argsort(np.abs(subject.scores[:, j] - at), kind="stable")[:_NEAREST] for at in points[:, j]]
        items = tuple(
            tuple(shortened(item, _LONGEST) for item in subject.items_as_texts(np.asarray(some))) for some in nearest
        )
        paths.append(_path(subject, j, points, np.empty(0), items=items))
    about = f"At each step the {_NEAREST} items whose scores along this component are nearest."
    return Walk("items", about, (), tuple(paths))


def _path(subject: Subject, j: int, points: Array, off: Array, **met: Any) -> Path:
    nothing: dict[str, Any] = {"pictures": (), "columns": (), "values": (), "low": (), "high": (), "items": ()}
    return Path(subject.axis(j), plain_numbers(points[:, j]), plain_numbers(off), **(nothing | met))
