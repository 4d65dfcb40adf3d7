"""Novelty: rows by what is unusual about them, with p-values where rows were held out for calibration."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer_old.arrays import Array
from mercer_old.displays.asking import for_inner
from mercer_old.errors import counted
from mercer_old.models.kernel_pca import KernelPCA
from mercer_old.models.linear import LinearModel
from mercer_old.models.novelty import NoveltyDetector
from mercer_old.models.sides import sides_of
from mercer_old.report.chapters.subject import Subject
from mercer_old.report.numbers import plain_numbers

__all__ = ["Novel", "Novelty", "novelty_of"]

_RANKED = 20
_DRAWN = 1200  # rows of the picture: the most novel ones, and a sample of the others


@dataclass(frozen=True)
class Novel:
    """A row, how far it is inside the space of the components and beside it, and how often usual rows are so far."""

    row: str
    t2: float
    q: float
    p: float | None
    novel: bool


@dataclass(frozen=True)
class Novelty:
    """The most novel rows first, and some of all as points."""

    about: str
    ranked: tuple[Novel, ...]
    rows: int
    count: int  # of novel ones
    t2: tuple[float, ...]
    q: tuple[float, ...]
    strange: tuple[int, ...]  # which of the points are called novel
    t2_limit: float | None
    q_limit: float | None


def novelty_of(subject: Subject) -> Novelty | None:
    """None of models that have no sides, and where no rows are given."""
    if subject.X is None or not isinstance(subject.inner, LinearModel | KernelPCA):
        return None
    detector = subject.model if isinstance(subject.model, NoveltyDetector) else None
    sides = sides_of(subject.inner)
    items = subject.inner._new_items(for_inner(subject.model, subject.X))
    both = np.concatenate([block for _, block in subject.inner._scored(items, sides.statistics, whole=False)])
    t2, q = np.asarray(both, dtype=np.float64).T
    if detector is None:
        index = sides.index(t2, q) if sides.leaves else t2
        return _told(subject, t2, q, index, None, _BY_BOTH if sides.leaves else _BY_T2)
    p = detector.p_values(subject.X)
    order = -p + 1e-9 * np.argsort(np.argsort(-detector.score_samples(subject.X))) / len(p)
    return _told(subject, t2, q, order, p, _calibrated(detector), **_limits(detector), alpha=detector.alpha)


_WITHOUT = "No row was held out of this fit, so that there are no p-values: NoveltyDetector(model) has them."
_BY_BOTH = f"Ranked by T²/k + Q/rest, either in units of what it is on average. {_WITHOUT}"
_BY_T2 = f"Ranked by T²: the components leave nothing of the rows, and Q is zero. {_WITHOUT}"


def _calibrated(detector: Any) -> str:
    held = counted(len(detector.calibration_scores_), "row")
    return (
        f"p-values by {held} that were held out for calibration. They are a promise about new rows; of rows that the "
        "fit has seen they promise nothing."
    )


def _told(
    subject: Subject, t2: Array, q: Array, strangeness: Array, p: Array | None, about: str,
    t2_limit: float | None = None, q_limit: float | None = None, alpha: float = 0.0,
) -> Novelty:  # fmt: skip
    novel = np.zeros(len(t2), dtype=bool) if p is None else p <= alpha * (1 + 1e-9)
    order = np.argsort(-strangeness, kind="stable")
    first = order[:_RANKED]
    names = subject.items_as_texts(first)
    ranked = tuple(
        Novel(name, float(t2[i]), float(q[i]), None if p is None else float(p[i]), bool(novel[i]))
        for name, i in zip(names, first, strict=True)
    )
    drawn = order if len(order) <= _DRAWN else np.concatenate([order[: _DRAWN // 2], _spread(order[_DRAWN // 2 :])])
    return Novelty(
        about, ranked, len(t2), int(novel.sum()), plain_numbers(t2[drawn]), plain_numbers(q[drawn]),
        tuple(int(i) for i in np.flatnonzero(novel[drawn])), t2_limit, q_limit,
    )  # fmt: skip


def _spread(order: Array) -> Array:
    """As many as there is room for, from all of them."""
    return order[np.linspace(0, len(order) - 1, _DRAWN // 2).astype(np.int64)]


def _limits(detector: Any) -> dict[str, float | None]:
    """Of the statistic that decides, where it is one of both."""
    known = detector.threshold_ if np.isfinite(detector.threshold_) else None
    name = {"reconstruction": "q_limit", "t2": "t2_limit"}.get(detector._statistic)
    return {} if name is None or known is None else {name: float(known)}
