"""Stability: would other rows of the same kind give the same components? By a stated number of draws."""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import issparse

from mercer_old.errors import BadData, counted
from mercer_old.models.kernel_pca import KernelPCA
from mercer_old.models.linear import LinearModel
from mercer_old.readings.stability import OFTEN
from mercer_old.report.chapters.subject import Subject
from mercer_old.studies.stability import stability
from mercer_old.studies.stable import KINDS_IN_WORDS

__all__ = ["Sureness", "Turn", "sureness_of"]

_DRAWS, _FEWEST = 25, 10
_MOST_WORK = 1.6e10  # multiplications of all draws, which is a second or two
_FEATURES = 400  # that a draw works with at most


@dataclass(frozen=True)
class Turn:
    """By how many degrees the space of the first components turns from draw to draw."""

    component: str
    median: float
    often: float  # nine of ten draws turn by less
    words: str


@dataclass(frozen=True)
class Sureness:
    """What draws of rows say."""

    verdict: str
    draws: int
    rows: str
    seen: float  # share of the variance that was looked at
    turns: tuple[Turn, ...]


def sureness_of(subject: Subject) -> Sureness | None:
    """None of models it is not asked of, and of rows that are not those of the fit."""
    if not isinstance(subject.model, LinearModel | KernelPCA) or not subject.of_fit:
        return None
    given = subject.given
    if given is None or np.any(getattr(subject.inner, "n_missing_", 0)):
        return None
    features = int(subject.inner.n_features_in_) if isinstance(subject.inner, LinearModel) else len(subject)
    each = len(subject) * min(_FEATURES, max(features, 2)) ** 2
    before = _before(subject)
    draws = min(_DRAWS, int((_MOST_WORK - before) // each))
    if draws < _FEWEST:
        raise BadData(
            f"{_FEWEST} draws of {counted(len(subject), 'row')} would be {before + _FEWEST * each:.1g} "
            f"multiplications, and a page takes {_MOST_WORK:.0g} at most: mercer.stability(model, X) does them."
        )
    found = stability(subject.inner, given, n_boot=draws)
    often = np.quantile(found.angles, OFTEN, axis=0)
    kinds = {number: group.kind for group in found.groups for number in group.numbers}
    turns = tuple(
        Turn(
            subject.name(j),
            float(np.median(found.angles[:, j])),
            float(often[j]),
            KINDS_IN_WORDS[kinds[j + 1]],
        )
        for j in range(min(len(found.variances), 30))
    )
    return Sureness(found.verdict, found.draws, found.rows, float(found.seen), turns)


def _before(subject: Subject) -> float:
    """Multiplications until draws of many columns begin, about: their leading directions are looked for first. Of more
    dense rows than columns these are those of a small matrix, and cost less than the draws."""
    inner = subject.inner
    if not isinstance(inner, LinearModel) or inner.n_features_in_ <= _FEATURES:
        return 0.0
    few = inner.n_features_in_ <= len(subject)
    times = 8 if issparse(subject.seen(np.arange(1))) else 0 if few else 2
    return float(times * len(subject) * int(inner.n_features_in_) * _FEATURES)
