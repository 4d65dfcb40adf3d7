"""`mercer.suggest`: how many components, by every rule that applies."""

from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mercer_old.errors import in_short
from mercer_old.models.incremental_pca import IncrementalPCA
from mercer_old.models.kernel_pca import KernelPCA
from mercer_old.models.linear import LinearModel
from mercer_old.models.pca import PCA
from mercer_old.readings.rules.suggestion import Suggestion
from mercer_old.studies.asking import OfColumns, OfKernel

__all__ = ["suggest"]


def suggest(
    model: PCA | IncrementalPCA | KernelPCA,
    X: Any = None,
    y: Any = None,
    *,
    share: float = 0.9,
    sample_weight: Any = None,
    random_state: Any = None,
) -> Suggestion:
    """How many components to keep, by every rule that applies to a fitted model, and a consensus of them.

    The consensus is the median of the rules that tell signal from noise; where columns have noise of different sizes,
    of those among them that do not take it as equal. A rule that says nothing here says why. Where the fitted
    components end before a rule does, it says "at least".

    Parameters
    ----------
    model : PCA, IncrementalPCA or KernelPCA
        A fitted model. Its variances, and of PCA the axes and the variances of the columns, are enough for most rules.
    X : {array-like, sparse matrix, pathlib.Path, Rows} of shape (n_samples, n_features), default=None
        The rows of the fit, for rules that permute columns or flip signs. PCA that kept few components is fitted anew
        with all, if neither rows nor columns are more than 5,000. Kernel PCA needs them if it was fitted by landmarks.
    y : array-like of shape (n_samples,), default=None
        Labels, classes or numbers, for the number of components that they need: texts, truth values and whole numbers
        of up to 20 values are classes.
    share : float, default=0.9
        Of the variance, for the rule of that name.
    sample_weight : array-like of shape (n_samples,), default=None
        That of the fit, if X is given. A row of weight 2 counts twice; rules that draw, and labels, know no weights.
    random_state : int, Generator, RandomState or None, default=None
        Of permutations and flips. None is a fixed seed.

    Returns
    -------
    suggestion : Suggestion
        Print it. ``suggestion.k`` is the consensus, ``suggestion["parallel"].k`` what one rule says, and
        ``suggestion.table`` a list of dicts.

    Examples
    --------
    >>> import numpy as np
    >>> import mercer
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(500, 3)) @ rng.normal(size=(3, 20)) + rng.normal(size=(500, 20))
    >>> suggestion = mercer.suggest(mercer.PCA().fit(X))
    >>> suggestion.k, suggestion["parallel"].k
    (3, 3)
    """
    if not isinstance(model, (LinearModel, KernelPCA)):
        raise ValueError(f"suggest reads a fitted PCA, IncrementalPCA or KernelPCA; got {in_short(model)}.")
    check_is_fitted(model)
    if np.any(getattr(model, "n_missing_", 0)):
        raise ValueError(
            "suggest reads the variances of complete rows, and this model was fitted to rows with gaps: "
            'ProbabilisticPCA(n_components="cv") holds some numbers out to find how many.'
        )
    if not (isinstance(share, Real) and 0 < share < 1):
        raise ValueError(f"share has to be a number between 0 and 1; got {share!r:.60}.")
    study = (OfKernel if isinstance(model, KernelPCA) else OfColumns)(model, X, y, sample_weight, random_state)
    with model._within_limits():
        return study.suggestion(float(share))
