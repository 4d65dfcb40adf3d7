"""FactorAnalysis: loadings, noises and the mean."""

import numpy as np

from mercer_old.models.factor_analysis import FactorAnalysis
from mercer_old.store.facts import count, numbers, word
from mercer_old.store.reasons import Unusable
from mercer_old.store.schemas.base import DTYPES, Facts, Schema, dtype_named, set_fitted, taken

__all__ = ["FACTOR_ANALYSIS"]

_FITTED = (
    count("n_features_in", "d"),
    numbers("components", "k d"),
    numbers("noise_variance", "d"),
    numbers("mean", "d"),
    count("n_iter"),
    count("n_samples"),
)
_FACTS = (*_FITTED, numbers("loglike", "i"), word("dtype", *DTYPES))


def _take(model: FactorAnalysis) -> Facts:
    found = taken(model, [fact.name for fact in _FITTED])
    return found | {"loglike": np.array(model.loglike_, dtype=np.float64), "dtype": dtype_named(model)}


def _give(model: FactorAnalysis, found: Facts) -> None:
    if (found["noise_variance"] < 0).any():
        raise Unusable("a noise_variance is less than nothing")
    set_fitted(model, found, [fact.name for fact in _FITTED])
    model.loglike_, model._dtype = found["loglike"].tolist(), np.dtype(found["dtype"]).type


FACTOR_ANALYSIS = Schema(FactorAnalysis, _FACTS, _take, _give)
