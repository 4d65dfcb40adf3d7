"""From a fitted model and rows to facts: every question is asked here, once, and no page asks any."""

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mercer_old.arrays import Array, to_numpy
from mercer_old.displays.asking import under
from mercer_old.errors import MissingPart, WrongUse, counted
from mercer_old.models.kernel_pca import KernelPCA
from mercer_old.models.linear import LinearModel
from mercer_old.models.local_model import LocalModel
from mercer_old.models.novelty import NoveltyDetector
from mercer_old.models.with_gaps import FillsGaps
from mercer_old.readings.rules.suggestion import Suggestion
from mercer_old.report.chapters.columns import Columns, columns_of
from mercer_old.report.chapters.fields import fields_of
from mercer_old.report.chapters.novelty import novelty_of
from mercer_old.report.chapters.subject import Subject, subject_of
from mercer_old.report.chapters.sureness import sureness_of
from mercer_old.report.chapters.sweep import sweep_of
from mercer_old.report.chapters.walk import walk_of
from mercer_old.report.cloud import Arrows, Cloud, cloud_of
from mercer_old.report.facts import Chapters, Facts, Note, facts_of
from mercer_old.report.origin import origin_of
from mercer_old.store.trees import sizes_of
from mercer_old.studies.suggesting import suggest

__all__ = ["gathered", "refuse_no_page"]

_SAME = 1e-3  # of a standard deviation, and of a variance
_LARGE = 1e-4  # of the first variance: below, single precision rounds
_MOST_NUMBERS = {"linear": 2_000_000, "kernel": 400_000_000}  # of the rows, or of the matrix, that rules may ask of
_AXES = 10  # components that a map may show


def gathered(model: Any, X: Any = None, labels: Any = None, sample_weight: Any = None, **known: Any) -> Facts:
    """All that is to be told of a fitted model and rows; `known` is what `origin_of` takes."""
    refuse_no_page(model)
    check_is_fitted(under(model))
    subject = subject_of(model, X, labels)
    known.setdefault("others", subject.X is not None and subject.scores is not None and _are_others(subject))
    subject = replace(subject, of_fit=not known["others"])
    origin = origin_of(model, subject.X, **known)
    said, why_not = _asked_rules(subject, sample_weight)
    return facts_of(model, origin, said, why_not, _chapters(subject))


def refuse_no_page(model: Any) -> None:
    """What has no components with eigenvalues, and no neighbours, has no page that would tell of it."""
    if not isinstance(model, LinearModel | KernelPCA | LocalModel | NoveltyDetector):
        raise WrongUse(
            f"There is no page about {type(model).__name__}: its certificate_ is what is known of it, and "
            "mercer.compare writes a page with its picture."
        )


# ---------------------------------------------------------------------- chapters

_ASKED: dict[str, Callable[[Subject], Any]] = {
    "columns": columns_of,
    "fields": fields_of,
    "walk": walk_of,
    "sweep": sweep_of,
    "novelty": novelty_of,
    "sureness": sureness_of,
}


def _chapters(subject: Subject) -> Chapters:
    """Those that have an answer, with what was warned of; a chapter that refuses says why, and the page goes on."""
    told: list[Note] = []
    found = {name: _answer(name, ask, subject, told) for name, ask in _ASKED.items()}
    found["cloud"] = _answer("cloud", lambda about: _cloud(about, found["columns"]), subject, told)
    if found["cloud"] is not None and subject.of_numbers and len(subject.names) > subject.most_columns:
        told.append(Note("cloud", _about_columns(subject)))
    return Chapters(**found, notes=tuple(dict.fromkeys(told)))


def _about_columns(subject: Subject) -> str:
    which = f"{counted(subject.most_columns, 'column')} of {len(subject.names):,}"
    return f"To keep the page small, the map knows {which}: those that drive the components most come first."


def _answer(name: str, ask: Callable[[Subject], Any], subject: Subject, told: list[Note]) -> Any:
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            answer = ask(subject)
        except MissingPart:
            raise
        except ValueError as error:
            told.append(Note(name, str(error)))
            return None
    if answer is not None:
        told += [Note(name, str(each.message)) for each in warned if issubclass(each.category, UserWarning)]
    return answer


def _cloud(subject: Subject, columns: Columns | None) -> Cloud | None:
    """All rows as points."""
    if subject.scores is None:
        return None
    k = min(_AXES, subject.scores.shape[1])
    arrows = None
    if columns is not None and columns.arrows:
        longer = tuple((*tips, *(0.0,) * (k - len(tips)))[:k] for tips in columns.leading)
        arrows = Arrows(columns.arrows, longer)
    return cloud_of(
        subject.scores[:, :k],
        [subject.axis(j) for j in range(k)],
        ids=subject.ids,
        columns=subject.columns(() if columns is None else columns.arrows),
        color=next(iter(subject.labels), None),
        arrows=arrows,
    )


# ---------------------------------------------------------------------- rules, and whose rows these are


def _asked_rules(subject: Subject, weight: Any) -> tuple[Suggestion | None, str]:
    """What rules say of how many components to keep, or why they are not asked; rows other than those of the fit are
    none of their business."""
    model = subject.model
    if not isinstance(model, LinearModel | KernelPCA):
        return None, ""
    rows = subject.X if subject.of_fit and _are_few(subject) else None
    first = next(iter(subject.labels.values()), None) if rows is not None else None
    why = ""
    for labels in (*([] if first is None else [first]), None):  # nobody promised that labels are those of a rule
        try:
            return suggest(model, rows, labels, sample_weight=weight), ""
        except ValueError as error:
            why = str(error)
    return None, why


def _are_few(subject: Subject) -> bool:
    """Whether rules may permute the rows; of more they say that they need them: `mercer.suggest(model, X)`."""
    if isinstance(subject.inner, LinearModel):
        return len(subject) * int(subject.inner.n_features_in_) <= _MOST_NUMBERS["linear"]
    return len(subject) ** 2 <= _MOST_NUMBERS["kernel"]


def _are_others(subject: Subject) -> bool:
    """Scores of the rows of a fit have mean zero and the variances of the components; those of others have not."""
    model, scores = subject.model, subject.scores
    assert scores is not None
    if isinstance(model, NoveltyDetector):  # whose fit was to some of its rows
        return False
    rows = sizes_of(under(model))["rows"]
    if rows is not None and rows != len(scores):
        return True
    if np.any(getattr(model, "n_missing_", 0)):  # of rows with gaps, means of scores say nothing
        return False
    return isinstance(model, LinearModel | KernelPCA) and not _are_of_fit(model, scores)


def _are_of_fit(model: Any, scores: Array) -> bool:
    """By components that are not tiny."""
    variances = np.asarray(to_numpy(model.explained_variance_), dtype=np.float64)
    large = variances > _LARGE * variances.max(initial=0.0)
    deviations = np.sqrt(variances[large])
    found = scores[:, large] * _unit(model, deviations, large)
    centred = np.abs(found.mean(axis=0)) <= _SAME * deviations
    divided = 0 if isinstance(model, FillsGaps) else 1  # by n where a distribution is the most likely one
    return bool((centred & (np.abs(found.std(axis=0, ddof=divided) - deviations) <= _SAME * deviations)).all())


def _unit(model: Any, deviations: Array, large: Array) -> Any:
    """From scores to distances along the axes: those of a distribution are drawn to its mean."""
    if isinstance(model, FillsGaps):
        shrinkage = model._shrinkage()[large]
        return np.divide(1.0, shrinkage, out=np.zeros_like(shrinkage), where=shrinkage > 0)
    return deviations if getattr(model, "whiten", False) else 1.0
