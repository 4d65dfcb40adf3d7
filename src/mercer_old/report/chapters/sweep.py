"""The bandwidth: the same rows by the same kernel with other γ, computed beforehand for a slider."""

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mercer_old.arrays import Array, dense
from mercer_old.displays.words import percent
from mercer_old.kernels.bandwidth import ByGamma
from mercer_old.kernels.dot import Polynomial, Sigmoid
from mercer_old.models.kernel_pca import KernelPCA
from mercer_old.report.chapters.subject import Subject, too_few
from mercer_old.report.labels import groups_of

__all__ = ["Step", "Sweep", "sweep_of"]

_ROWS = 300  # of a sample
_FACTORS = tuple(2.0**power for power in range(-5, 6))
_GRID = 1000  # places along either side of a picture
_LEAST = 3


@dataclass(frozen=True)
class Step:
    """The picture with one γ."""

    gamma: float
    words: str
    warning: str  # of a fit with this γ
    share: float | None  # of the variance, that both components have
    x: tuple[int, ...]  # from 0 to 1000 of the picture's side
    y: tuple[int, ...]


@dataclass(frozen=True)
class Sweep:
    """Pictures from a small γ to a large one, of a sample of the rows."""

    kernel: str
    used: int  # which step is that of the model
    rows: int
    of: int  # so many that there are
    about: str
    groups: tuple[str, ...]
    codes: tuple[int, ...]  # the group of every row; −1: none
    steps: tuple[Step, ...]


def sweep_of(subject: Subject) -> Sweep | None:
    """None of models without a bandwidth, and where no rows are at hand."""
    inner = subject.inner
    kernel = getattr(inner, "kernel_", None)
    if not (isinstance(inner, KernelPCA) and isinstance(kernel, ByGamma) and subject.of_numbers):
        return None
    assert subject.scores is not None
    if isinstance(kernel, Polynomial | Sigmoid):  # whose γ is a slope, not a bandwidth
        return None
    some = subject.sample(_ROWS)
    too_few(len(some), _LEAST, "A sweep of bandwidths")
    rows = dense(subject.seen(some), np.float64)
    names, codes = groups_of(subject.labels, some)
    pictures = [_with(kernel, kernel.known_gamma * factor, rows) for factor in _FACTORS]
    turned = _turned_alike([each.scores for each in pictures], subject.scores[some])
    return Sweep(
        kernel=type(kernel).__name__,
        used=_FACTORS.index(1.0),
        rows=len(rows),
        of=len(subject),
        about=_others(kernel, rows),
        groups=names,
        codes=codes,
        steps=tuple(map(_step, pictures, turned, _FACTORS)),
    )


@dataclass(frozen=True, eq=False)
class _Picture:
    gamma: float
    scores: Array  # of the rows, on two components
    share: float | None
    warning: str


def _with(kernel: Any, gamma: float, rows: Array) -> _Picture:
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        model = KernelPCA(2, kernel=replace(kernel, gamma=gamma), eigen_solver="dense").fit(rows)
    shares = model.explained_variance_ratio_
    share = float(shares.sum()) if np.isfinite(shares).all() else None
    scores = np.asarray(model.transform(rows), dtype=np.float64)
    return _Picture(gamma, scores, share, str(warned[0].message) if warned else "")


def _turned_alike(pictures: list[Array], model: Array) -> list[Array]:
    """Each axis points where it does in the picture before, so that points move and do not jump; that of the model's γ
    where it does in the map."""
    alike = [pictures[0]]
    for picture in pictures[1:]:
        alike.append(picture * _signs(picture, alike[-1]))
    used = alike[_FACTORS.index(1.0)]
    signs = _signs(used[:, : model.shape[1]], model[:, : used.shape[1]])
    return [picture * np.resize(signs, 2) for picture in alike]


def _signs(these: Array, those: Array) -> Array:
    return np.where(np.einsum("ij,ij->j", these, those) < 0, -1.0, 1.0)


def _step(picture: _Picture, scores: Array, factor: float) -> Step:
    x, y = (_places(column) for column in scores.T)
    words = _words(picture.gamma, factor, picture.share)
    return Step(picture.gamma, words, picture.warning, picture.share, x, y)


def _places(scores: Array) -> tuple[int, ...]:
    low, reach = float(scores.min()), float(np.ptp(scores))
    part = (scores - low) / reach if reach > 0 else np.full(len(scores), 0.5)
    return tuple(int(place) for place in np.round(_GRID * part))


def _words(gamma: float, factor: float, share: float | None) -> str:
    times = "that of the model" if factor == 1 else f"{factor:g} times that of the model"
    times = f"1/{1 / factor:g} of that of the model" if factor < 1 else times
    of = "" if share is None else f": the first two components have {percent(share)} of the variance"
    return f"γ = {gamma:.4g}, {times}{of}."


def _others(kernel: ByGamma, rows: Array) -> str:
    """What would be taken if nobody said a number."""
    usual = replace(kernel, gamma=None).resolved(rows, np.random.default_rng(0)).known_gamma  # type: ignore[type-var]
    said = f"The usual γ, where none is given, is {usual:.4g}"
    try:
        median = replace(kernel, gamma="median").resolved(rows, np.random.default_rng(0)).known_gamma  # type: ignore[type-var]
    except ValueError:
        return f"{said}."
    return f'{said}; gamma="median", by the distances of these rows, is {median:.4g}.'
