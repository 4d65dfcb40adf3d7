"""Who says which kernel is better: the way back to rows, labels, or a model that learns from the components."""

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from mercer_old.arrays import Array
from mercer_old.errors import BadData, counted
from mercer_old.readings.tuning.criteria import kernel_target_alignment
from mercer_old.readings.tuning.way_back import MOST_CENTRES, Curved, leave_one_out_ridge
from mercer_old.squares import nearby_power_of_two

__all__ = ["Alignment", "Downstream", "Judge", "WayBack"]


class Judge(ABC):
    """Of one kernel a value for every fold and their standard error: the smaller the better."""

    word: str  # what the value is called where people read it
    sign: float = 1.0  # of the value as people read it
    by_scores: bool = True  # or by the matrix alone
    finest: float = 1e-9  # values that differ by less are equal: their unit is one

    @abstractmethod
    def losses(self, K: Array, scores: list[Array]) -> Array:
        """One number for every fold that is left out."""

    def standard_error(self, losses: Array) -> float:
        """Of their mean."""
        return float(np.std(losses, ddof=1) / np.sqrt(len(losses)))

    def value(self, K: Array, losses: Array) -> float:
        """What kernels are compared by."""
        return float(np.mean(losses))

    def by_number(self, scores: list[Array], numbers: list[int]) -> Array:
        """The losses (numbers × folds) by the first components only, which are those of a search for fewer."""
        return np.array([self.by_components([each[:, :k] for each in scores]) for k in numbers])

    @abstractmethod
    def by_components(self, scores: list[Array]) -> Array:
        """One number for every fold, from the scores of all rows without it."""


class _ByFolds(Judge):
    """One that learns from the scores of the rows that are there, and is tested on the others."""

    def __init__(self, fold: Array) -> None:
        self.fold, self.folds = fold, int(fold.max()) + 1

    def losses(self, K: Array, scores: list[Array]) -> Array:
        return self.by_components(scores)

    def by_components(self, scores: list[Array]) -> Array:
        return np.array([self.loss(scores[number], self.fold != number) for number in range(self.folds)])

    @abstractmethod
    def loss(self, scores: Array, train: Array) -> float: ...


class WayBack(_ByFolds):
    """‖x − x̂‖² of rows left out, by the way back that the others teach, over ‖x − mean‖²: in the units of the rows.

    So it is comparable between kernels, whose own errors are in spaces of their own. More columns than rows are turned
    into as many as rows, which changes no distance.
    """

    word = "error"

    def __init__(self, rows: Array, fold: Array, rng: np.random.Generator) -> None:
        super().__init__(fold)
        T = rows - rows.mean(axis=0)
        T /= nearby_power_of_two(T)
        self.rows: Array = T if T.shape[1] <= len(T) else np.asarray(np.linalg.qr(T.T, mode="r")).T
        self.centres = [rng.permutation(np.flatnonzero(fold != number))[:MOST_CENTRES] for number in range(self.folds)]

    def loss(self, scores: Array, train: Array) -> float:
        number = int(self.fold[~train][0])
        features = Curved.around(scores[self.centres[number]])
        back = leave_one_out_ridge(features(scores[train]), self.rows[train])
        error = np.sum((self.rows[~train] - back(features(scores[~train]))) ** 2)
        spread = np.sum((self.rows[~train] - self.rows[train].mean(axis=0)) ** 2)
        return float(error / spread) if spread > 0 else 0.0


class Alignment(Judge):
    """Minus the centred alignment of the matrix with labels; its standard error from leaving out one fold at a time."""

    word, sign, by_scores = "alignment", -1.0, False

    def __init__(self, targets: Array, fold: Array) -> None:
        self.targets, self.fold, self.folds = targets, fold, int(fold.max()) + 1

    def losses(self, K: Array, scores: list[Array]) -> Array:
        kept = [np.flatnonzero(self.fold != number) for number in range(self.folds)]
        return np.array([-kernel_target_alignment(K[np.ix_(some, some)], self.targets[some]) for some in kept])

    def by_components(self, scores: list[Array]) -> Array:
        """Of the rows that were left out, by the kernel of their components alone: YYᵀ."""
        held = [self.fold == number for number in range(self.folds)]
        seen = [scores[number][some] for number, some in enumerate(held)]
        return np.array(
            [-kernel_target_alignment(Y @ Y.T, self.targets[some]) for Y, some in zip(seen, held, strict=True)]
        )

    def value(self, K: Array, losses: Array) -> float:
        return -kernel_target_alignment(K, self.targets)

    def standard_error(self, losses: Array) -> float:
        """The jackknife's: √((g − 1)/g · Σ(aᵢ − mean)²) of g values that have most of their rows in common."""
        g = len(losses)
        return float(np.sqrt((g - 1) / g * np.sum((losses - losses.mean()) ** 2)))


class Downstream(_ByFolds):
    """How well a plain linear model predicts y of rows left out from their components, by a scorer of scikit-learn."""

    word, sign, finest = "score", -1.0, 0.0  # in the unit of the scorer

    def __init__(self, y: Array, classes: bool, fold: Array, scorer: Callable[[Any, Array, Array], float]) -> None:
        super().__init__(fold)
        self.y, self.classes, self.scorer = y, classes, scorer
        if classes and any(len(np.unique(y[fold != number])) < 2 for number in range(self.folds)):
            raise BadData(
                "A class of y is in one fold alone, as equal rows are kept together, and all other rows have the same "
                "label: a model has nothing to learn from them. Leave scoring out, or that class."
            )

    def loss(self, scores: Array, train: Array) -> float:
        from sklearn.linear_model import LogisticRegression, Ridge  # with half of scikit-learn, that few searches need
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        learner = LogisticRegression(max_iter=1000) if self.classes else Ridge(1e-6)
        model = make_pipeline(StandardScaler(), learner).fit(scores[train], self.y[train])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UndefinedMetricWarning)  # said below
            score = float(self.scorer(model, scores[~train], self.y[~train]))
        if not np.isfinite(score):
            few = counted(int(np.sum(~train)), "row")
            raise BadData(f"The scorer is no number on a fold of {few}: give fewer folds, or another scoring.")
        return -score
