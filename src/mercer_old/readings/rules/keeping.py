"""How many components a fit keeps: as it was asked, by a number, a share or the name of a rule."""

from collections.abc import Callable
from numbers import Integral

import numpy as np
from numpy.typing import DTypeLike

from mercer_old.arrays import Array
from mercer_old.errors import BadData
from mercer_old.readings.components import fewest_for_share
from mercer_old.readings.rules.known import LINEAR_RULES
from mercer_old.readings.rules.likelihood import minka, schwarz
from mercer_old.readings.rules.scree import Opinion, Scree

__all__ = ["by_linear_rule", "number_to_keep"]

Asked = int | float | str | None  # n_components


def number_to_keep(
    asked: Asked,
    values: Array,
    total: float,
    *,
    by_rule: Callable[[str], Opinion] | None = None,
    more: bool = True,
    dtype: DTypeLike = np.float64,
) -> int:
    """How many of these variances: all, as many as were asked for, as explain a share, or as a rule says."""
    if asked is None:
        return len(values)
    if isinstance(asked, Integral):
        return min(int(asked), len(values))
    if isinstance(asked, str):
        assert by_rule is not None
        return 1 if values[0] <= 0 else min(_said(by_rule(asked)), len(values))
    return fewest_for_share(values, total, float(asked), more=more, dtype=dtype) or len(values)


def by_linear_rule(name: str, scree: Scree) -> Opinion:
    """What a rule says of a scree of PCA; one that was asked for by name says what it can."""
    if name == "bic":
        return schwarz(scree, wide=True)
    if name == "mle":
        return minka(scree, every=True)
    ask = LINEAR_RULES[name].ask
    assert ask is not None
    return ask(scree)


def _said(opinion: Opinion) -> int:
    """The number; a rule that has none to say refuses, as nobody knows what was wanted then."""
    if opinion.k is None:
        raise BadData(f'n_components="{opinion.rule}" finds no number here: {opinion.why}. Give a number or a share.')
    return opinion.k
