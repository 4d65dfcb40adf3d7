"""Rules that ask under which number of components the data are most probable."""

import numpy as np

from mercer_old.readings.components import bic, minka_evidence
from mercer_old.readings.rules.scree import Opinion, Scree, silent, unknown

__all__ = ["minka", "schwarz"]


def minka(scree: Scree, every: bool = False) -> Opinion:
    """The k of the largest evidence of probabilistic PCA, by Laplace's method (Minka 2000): see `minka_evidence`.

    Needs all variances, and no fewer rows than columns. The smallest of equals. It takes rows as normal, with equal
    noise in every direction beyond k, and says nothing of k = 0. Columns that do not vary are left out: as directions
    without noise they would make signal of all others, which is what scikit-learn finds, and a fit with them (`every`).
    """
    if why := _not_of(scree):
        return silent("mle", why)
    d = scree.width if every else scree.varying
    if scree.weight < d:
        return silent("mle", f"{scree.weight:,.6g} rows are fewer than {d:,} columns")
    evidence = minka_evidence(_of_columns(scree, d), scree.weight)
    return Opinion("mle", int(np.argmax(evidence)), "the most probable number, by Laplace's method")


def schwarz(scree: Scree, wide: bool = False) -> Opinion:
    """The k of the smallest criterion −2·log L + p·log n of probabilistic PCA (Schwarz 1978): see `bic`.

    Needs all variances. The smallest of equals. It takes rows as normal, with equal noise in every direction beyond k;
    columns that do not vary are left out. With no more rows than columns the likelihood has no bound as k grows to
    their number, and it means nothing unless asked for (`wide`).
    """
    if why := _not_of(scree):
        return silent("bic", why)
    if not scree.weight > 1:
        return silent("bic", "weights that sum to one or less count no rows")
    d = scree.varying
    if scree.weight <= d and not wide:
        return silent("bic", f"{scree.weight:,.6g} rows are no more than {d:,} columns")
    criterion = bic(_of_columns(scree, d)[: int(scree.weight)], scree.weight, d)
    return Opinion("bic", int(np.argmin(criterion)), "likelihood against the number of parameters")


def _not_of(scree: Scree) -> str:
    if scree.by_kernel:
        return "it is about normal rows of numbers, not about features of a kernel"
    if not scree.whole:
        return f"it needs all variances, and {unknown(scree)}"
    return "" if len(scree.positive) else "nothing varies"


def _of_columns(scree: Scree, d: int) -> np.ndarray:
    """A variance for each of d columns, zero where there are fewer, in units of the largest: all have inverses."""
    return np.append(scree.values, np.zeros(max(0, d - len(scree.values))))[:d] / scree.values.max()
