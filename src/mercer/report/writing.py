"""A page about a fitted model, from the first question to the file."""

from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mercer.arrays import Array, to_numpy
from mercer.displays.along import first_label
from mercer.displays.asking import scores_of, under
from mercer.displays.palette import Groups
from mercer.errors import WrongUse
from mercer.kernels.base import kind_of_items
from mercer.models.kernel_pca import KernelPCA
from mercer.models.linear import LinearModel
from mercer.models.local_model import LocalModel
from mercer.models.novelty import NoveltyDetector
from mercer.outlets import write_whole
from mercer.readings.rules.suggestion import Suggestion
from mercer.report.facts import facts_of
from mercer.report.model_page import model_page
from mercer.report.origin import Origin, origin_of
from mercer.report.pictures import pictures_of
from mercer.report.templates import check_page
from mercer.sources.files import open_rows
from mercer.sources.kinds import OPENERS
from mercer.store.trees import sizes_of
from mercer.studies.suggesting import suggest

__all__ = ["refuse_no_page", "write_report"]

_SAME = 1e-3  # of a standard deviation, and of a variance
_LARGE = 1e-4  # of the first variance: below, single precision rounds


def write_report(
    model: Any, path: str | Path, X: Any = None, y: Any = None, sample_weight: Any = None, **known: Any
) -> Path:
    """Tell, draw and write; `known` is what `origin_of` takes."""
    check_is_fitted(under(model))
    page = check_page(path)
    refuse_no_page(model)
    X = _opener(under(model))(X) if isinstance(X, Path) else X
    scores = None if X is None else scores_of(model, X)  # rows that the model does not take are refused here
    known.setdefault("others", scores is not None and _are_others(model, scores))
    origin = origin_of(model, X, **known)
    count = origin.rows if scores is None else len(scores)
    if count is not None:
        Groups.of(y, count)  # as labels that are not those of the rows are
    said, why_not = _asked_rules(model, X, y, sample_weight, origin)
    facts = facts_of(model, origin, said, why_not)
    content = model_page(facts, pictures_of(model, X, y, said))
    write_whole(page, content.encode("utf-8", "backslashreplace"))
    return page


def refuse_no_page(model: Any) -> None:
    """What has no components with eigenvalues, and no neighbours, has no page that would tell of it."""
    if not isinstance(model, LinearModel | KernelPCA | LocalModel | NoveltyDetector):
        raise WrongUse(
            f"There is no page about {type(model).__name__}: its certificate_ is what is known of it, and "
            "mercer.compare writes a page with its picture."
        )


def _asked_rules(model: Any, X: Any, y: Any, weight: Any, origin: Origin) -> tuple[Suggestion | None, str]:
    """What rules say of how many components to keep, or why they are not asked; rows other than those of the fit are
    none of their business."""
    if not isinstance(model, LinearModel | KernelPCA):
        return None, ""
    rows = None if origin.others else X
    borrowed = [] if y is not None or rows is None or (beside := first_label(rows)) is None else [beside]
    for labels in (*borrowed, None if origin.others else y):  # of a column that stands beside the rows, nobody promised
        try:
            return suggest(model, rows, labels, sample_weight=weight), ""
        except ValueError as error:
            why = str(error)
    return None, why


def _opener(inner: Any) -> Any:
    """What opens a file of what the model compares."""
    return OPENERS.get(kind_of_items(getattr(inner, "kernel_", getattr(inner, "metric", None))), open_rows)


def _are_others(model: Any, scores: Array) -> bool:
    """Scores of the rows of a fit have mean zero and the variances of the components; those of others have not."""
    rows = sizes_of(under(model))["rows"]
    if isinstance(model, NoveltyDetector) or (rows is not None and rows != len(scores)):
        return not isinstance(model, NoveltyDetector)  # whose fit was to some of its rows
    return isinstance(model, LinearModel | KernelPCA) and not _are_of_fit(model, scores)


def _are_of_fit(model: Any, scores: Array) -> bool:
    """By components that are not tiny."""
    variances = np.asarray(to_numpy(model.explained_variance_), dtype=np.float64)
    large = variances > _LARGE * variances.max(initial=0.0)
    deviations = np.sqrt(variances[large])
    found = scores[:, large] * (deviations if getattr(model, "whiten", False) else 1.0)
    centred = np.abs(found.mean(axis=0)) <= _SAME * deviations
    return bool((centred & (np.abs(found.std(axis=0, ddof=1) - deviations) <= _SAME * deviations)).all())
