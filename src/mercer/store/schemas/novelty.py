"""NoveltyDetector: its fitted model, and the scores of calibration rows that p-values come from."""

from mercer.models.novelty import NoveltyDetector
from mercer.readings.novelty import Calibration
from mercer.store.facts import count, number, numbers, word
from mercer.store.schemas.base import Facts, Schema, set_fitted, taken

__all__ = ["NOVELTY"]

_FITTED = (
    count("n_features_in"),
    numbers("calibration_scores", "m"),
    number("threshold"),
    number("offset"),
)
_FACTS = (*_FITTED, word("statistic"))


def _take(model: NoveltyDetector) -> Facts:
    return taken(model, [fact.name for fact in _FITTED]) | {"statistic": model._statistic}


def _give(model: NoveltyDetector, found: Facts) -> None:
    set_fitted(model, found, [fact.name for fact in _FITTED])
    model._statistic, model._calibration = found["statistic"], Calibration(found["calibration_scores"])


NOVELTY = Schema(NoveltyDetector, _FACTS, _take, _give, inner="estimator")
