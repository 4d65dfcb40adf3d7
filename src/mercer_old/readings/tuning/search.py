"""The search: every kernel judged on the same folds, and the choice among those that are as good as the best."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from mercer_old.arrays import Array
from mercer_old.progress import OnPass
from mercer_old.readings.tuning.candidates import Candidate, KnownDistances
from mercer_old.readings.tuning.criteria import agreement
from mercer_old.readings.tuning.folds import FoldScores
from mercer_old.readings.tuning.judges import Judge

__all__ = ["Found", "Trial", "choose", "find_best"]

_LOWEST_RANK, _HIGHEST_SHARE = 2.0, 0.2  # effective ranks of a bandwidth that is neither too wide nor too narrow
_AS_STABLE = 0.05  # agreement of subspaces: a difference up to this is none
_EVERY, _NUMBERS = 5, 12  # every number of components up to the first is looked at, and about so many up to all


@dataclass(frozen=True)
class Trial:
    """A kernel, and what was found out about it; the smaller the loss the better. Pruned ones have none."""

    candidate: Candidate
    effective_rank: float
    loss: float = np.inf
    standard_error: float = 0.0
    stability: float | None = None  # agreement of the subspaces of all folds
    pruned: str = ""  # why it was not judged


@dataclass(frozen=True)
class Found:
    """All trials in their order, the best one, those that are as good, and the one of them that was chosen."""

    trials: list[Trial]
    best: Trial
    as_good: list[Trial]
    chosen: Trial
    numbers: list[int]  # of components, …
    losses: Array  # … and those of the chosen kernel by so many (numbers × folds)
    entries: int  # of matrices between rows: evaluated, or multiplied with a block of columns

    @property
    def number(self) -> int:
        """The fewest components whose loss is within a standard error of the best number's."""
        means = self.losses.mean(axis=1)
        best = int(np.argmin(means))
        error = float(np.std(self.losses[best], ddof=1) / np.sqrt(self.losses.shape[1]))
        return self.numbers[int(np.flatnonzero(means <= means[best] + error)[0])]

    @property
    def flat(self) -> bool:
        """Whether all kernels that were judged are within two standard errors of the best: the data do not say."""
        judged = [trial for trial in self.trials if not trial.pruned]
        worst = max(trial.loss for trial in judged)
        return len(judged) > 1 and worst <= self.best.loss + 2 * self.best.standard_error


def find_best(
    options: Sequence[Candidate], distances: KnownDistances, judge: Judge, folds: FoldScores, on_pass: OnPass = None
) -> Found:
    """Judge every candidate, but for bandwidths that are far too wide or too narrow by their effective rank."""
    trials = []
    for each in options:
        trials.append(_try(each, distances, judge, folds, prune=True))
        if on_pass:
            on_pass(1.0)
    for trial in _nearest_of_lost(trials, distances.n):  # of a kernel of which nothing would be left
        trials[trials.index(trial)] = _try(trial.candidate, distances, judge, folds, prune=False)
    best, as_good, chosen = choose(trials, judge.finest)
    numbers, losses = _by_number(chosen, distances, judge, folds)
    return Found(
        trials, best, as_good, chosen, numbers, losses, distances.evaluations + folds.products * distances.n**2
    )


def _try(each: Candidate, distances: KnownDistances, judge: Judge, folds: FoldScores, prune: bool) -> Trial:
    K = distances.matrix(each.kernel)
    trial = Trial(each, folds.effective_rank(K))
    if prune and each.factor is not None:
        trial = replace(trial, pruned=_why_not(trial.effective_rank, distances.n))
    if trial.pruned:
        return trial
    scores = folds.of(K) if judge.by_scores else []
    losses = judge.losses(K, scores)
    return replace(
        trial,
        loss=judge.value(K, losses),
        standard_error=judge.standard_error(losses),
        stability=agreement(scores) if scores else None,
    )


def _why_not(rank: float, n: int) -> str:
    if rank < _LOWEST_RANK:
        return "too wide"
    return "too narrow" if rank > _HIGHEST_SHARE * n else ""


def _nearest_of_lost(trials: Sequence[Trial], n: int) -> list[Trial]:
    """Of every kernel whose bandwidths were all pruned the one that came nearest to being judged."""
    left = {trial.candidate.name for trial in trials if not trial.pruned}
    high = max(_HIGHEST_SHARE * n, _LOWEST_RANK)
    nearest: dict[str, Trial] = {}
    for trial in trials:
        name = trial.candidate.name
        if name not in left and _outside(trial, high) < _outside(nearest.get(name), high):
            nearest[name] = trial
    return list(nearest.values())


def _outside(trial: Trial | None, high: float) -> float:
    """How far its effective rank is from those that are judged, in powers of e."""
    if trial is None:
        return np.inf
    rank = max(trial.effective_rank, np.finfo(float).tiny)
    return max(float(np.log(rank / high)), float(np.log(_LOWEST_RANK / rank)), 0.0)


def choose(trials: Sequence[Trial], finest: float = 0.0) -> tuple[Trial, list[Trial], Trial]:
    """The best; those within its standard error; and of these that are as stable as any the first kernel's best.

    Losses that differ by no more than `finest` are equal, so that no choice is left to rounding.
    """
    judged = [trial for trial in trials if not trial.pruned]
    best = min(judged, key=lambda trial: trial.loss)
    as_good = [trial for trial in judged if trial.loss <= best.loss + max(best.standard_error, finest)]
    top = max(trial.stability or 0.0 for trial in as_good)
    stable = [trial for trial in as_good if (trial.stability or 0.0) >= top - _AS_STABLE]
    names = list(dict.fromkeys(trial.candidate.name for trial in trials))
    first = min((trial.candidate.name for trial in stable), key=names.index)
    own = [trial for trial in stable if trial.candidate.name == first]
    least = min(trial.loss for trial in own)
    return best, as_good, min((trial for trial in own if trial.loss <= least + finest), key=_from_median)


def _from_median(trial: Trial) -> float:
    """How far its bandwidth is from the usual one: of equals the nearest is taken."""
    return abs(float(np.log(trial.candidate.factor or 1.0)))


def _by_number(chosen: Trial, distances: KnownDistances, judge: Judge, folds: FoldScores) -> tuple[list[int], Array]:
    """What fewer components of the chosen kernel would do, from one more search for all of them."""
    few, spread = np.arange(1, min(folds.k, _EVERY) + 1), np.rint(np.geomspace(1, folds.k, _NUMBERS))
    numbers = [int(number) for number in np.union1d(few, spread)]
    return numbers, judge.by_number(folds.of(distances.matrix(chosen.candidate.kernel)), numbers)
