"""NoveltyDetector: its fitted model, and the scores of calibration rows that p-values come from."""

from mercer_old.models.kernel_model import KernelModel
from mercer_old.models.linear import LinearModel
from mercer_old.models.novelty import STATISTICS, NoveltyDetector
from mercer_old.readings.novelty import Calibration
from mercer_old.store.facts import count, number, numbers, word
from mercer_old.store.reasons import Unusable
from mercer_old.store.schemas.base import Facts, Schema, set_fitted, taken

__all__ = ["NOVELTY"]

_FITTED = (
    count("n_features_in"),
    numbers("calibration_scores", "m"),
    number("threshold", finite=False),
    number("offset", finite=False),
)
_FACTS = (*_FITTED, word("statistic", *STATISTICS))


def _take(model: NoveltyDetector) -> Facts:
    return taken(model, [fact.name for fact in _FITTED]) | {"statistic": model._statistic}


def _give(model: NoveltyDetector, found: Facts) -> None:
    inner, columns = model.estimator_, found["n_features_in"]
    if not isinstance(inner, LinearModel | KernelModel):
        raise Unusable(f"{type(inner).__name__} is no model that a detector has")
    if columns != inner.n_features_in_:
        raise Unusable(f"n_features_in is {columns:,}, and that of its estimator {inner.n_features_in_:,}")
    set_fitted(model, found, [fact.name for fact in _FITTED])
    model._statistic, model._calibration = found["statistic"], Calibration(found["calibration_scores"])


NOVELTY = Schema(NoveltyDetector, _FACTS, _take, _give, inner="estimator")
