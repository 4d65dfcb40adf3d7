"""From what methods made of the same rows to what can be said of each: which rows are looked at, and the measures."""

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from mercer_old.arrays import Array
from mercer_old.errors import BadData, counted, in_short
from mercer_old.readings.distances import refuse_spread
from mercer_old.readings.measures import Measured, label_hits, measure_new_rows, measure_pictures, moved, rebuilt
from mercer_old.relatives.apart import Outcome
from mercer_old.studies.same_rows import FEWEST, Labels, SameRows

__all__ = ["Measuring"]

_ALL_ROWS, _SOME_ROWS = 2000, 1000  # up to so many rows all are looked at, of more than that so many
_NEW_ROWS = 300  # of each repeat
_Part = tuple[Array, Measured]  # of a repeat: numbers of rows, and what was measured of them


@dataclass(frozen=True)
class Measuring:
    """Which rows are measured, and by how many neighbours. Rows with a gap have no distances, and are left out."""

    X: Array  # rows without a gap
    complete: Array  # their numbers among all
    at: Array  # of all rows, their number in X; −1 of those with a gap
    rows: Array  # those that are looked at, numbered in X
    k: int
    labels: Array | None
    seed: int
    n_jobs: int | None
    notes: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        same: SameRows,
        labels: Labels | None,
        k: int,
        sample: int | None,
        rng: np.random.Generator,
        n_jobs: int | None,
    ) -> "Measuring":
        complete, total = same.complete, len(same.values)
        n = len(complete)
        if n < FEWEST:
            raise BadData(f"X has {counted(n, 'row')} without a gap; neighbours are compared from {FEWEST} on.")
        refuse_spread(same.values[complete])  # before any fit
        at = np.full(total, -1)
        at[complete] = np.arange(n)
        fewer = min(k, (n - 1) // 2)  # less than n/2
        notes = [f"{k} neighbours are too many for {n:,} rows: {fewer} are looked at."] if fewer < k else []
        rows, seed = _draw(n, sample, rng), int(rng.integers(2**31))
        codes = None if labels is None else labels.codes[complete]
        if codes is not None and np.count_nonzero(codes[rows] >= 0) < 2:
            codes, notes = None, [*notes, "Too few of the rows that are looked at have a label: hits are left out."]
        if codes is not None and len(np.unique(codes[codes >= 0])) < 2:
            codes, notes = None, [*notes, "Rows without a gap have but one label: hits are left out."]
        return cls(same.values[complete], complete, at, rows, fewer, codes, seed, n_jobs, tuple(notes))

    def input_hit(self) -> Measured:
        """Label hits by all columns."""
        assert self.labels is not None
        return label_hits(self.X, self.rows, self.labels, self.k, self.n_jobs)

    def measures(self, outcomes: Sequence[Outcome], splits: Sequence[Array]) -> list[dict[str, Measured]]:
        """Of every outcome, by name; nothing where there is no picture."""
        found = [self._of_repeats(one, splits) for one in outcomes]
        pictures = {str(i): one.runs[0].coordinates[self.complete] for i, one in enumerate(outcomes) if one.runs}
        how: dict[str, Any] = {"n_neighbors": self.k, "labels": self.labels, "seed": self.seed, "n_jobs": self.n_jobs}
        if pictures:
            for name, each in measure_pictures(self.X, pictures, self.rows, **how).items():
                found[int(name)] |= each
        for i, values in self._new_rows(outcomes, splits).items():
            found[i]["new_rows"] = _by_row(values)
        return found

    def _new_rows(self, outcomes: Sequence[Outcome], splits: Sequence[Array]) -> "dict[int, list[_Part]]":
        """Of every method that places them, trustworthiness of some of each repeat: the same rows for all."""
        found: dict[int, list[_Part]] = {}
        for number, kept in enumerate(splits, start=1):
            placing = [i for i, one in enumerate(outcomes) if _placed(one, number) is not None]
            fitted = self.at[kept][self.at[kept] >= 0]
            new = self._some(np.setdiff1d(np.arange(len(self.X)), fitted), number)
            k = min(self.k, len(fitted) // 2)
            if not placing or not len(new) or k < 1:
                continue
            pictures = {str(i): _with_placed(outcomes[i], number, kept)[self.complete] for i in placing}
            some = measure_new_rows(self.X, pictures, fitted, new, n_neighbors=k, n_jobs=self.n_jobs)
            for i in placing:
                found.setdefault(i, []).append((new, some[str(i)]))
        return found

    def _some(self, new: Array, number: int) -> Array:
        """So many of them at most, drawn by chance: files are often sorted."""
        if len(new) <= _NEW_ROWS:
            return new
        return np.sort(np.random.default_rng([self.seed, number]).choice(new, _NEW_ROWS, replace=False))

    def _of_repeats(self, outcome: Outcome, splits: Sequence[Array]) -> dict[str, Measured]:
        """How far pictures of fewer rows are from that of all, where they place new rows, what comes back of those."""
        moves, shifts, backs = list[float](), list[_Part](), list[_Part]()
        for kept, run in zip(splits, outcome.runs[1:], strict=False):
            whole = outcome.runs[0].coordinates
            new = np.setdiff1d(np.arange(len(whole)), kept)
            off, onto = moved(whole[kept], run.coordinates)
            moves.append(off)
            if run.placed is not None:
                off_by = np.square(onto(run.placed) - whole[new]).sum(axis=1)
                shifts.append((new, rebuilt(off_by, whole[new], whole[kept])))
            if run.residuals is not None:
                there = self.at[new] >= 0
                own, fitted = self.at[new][there], self.at[kept][self.at[kept] >= 0]
                backs.append((own, rebuilt(run.residuals[there], self.X[own], self.X[fitted])))
        found = {"moved": Measured(np.array(moves))} if moves else {}
        if reseeded := outcome.runs[1 + len(splits) :]:
            first = outcome.runs[0].coordinates
            found["reseeded"] = Measured(np.array([moved(first, run.coordinates)[0] for run in reseeded]))
        return found | _joined("new_rows_off", shifts) | _joined("reconstruction_error", backs)


def _draw(n: int, sample: int | None, rng: np.random.Generator) -> Array:
    """The rows to look at, in order."""
    if sample is not None and (isinstance(sample, bool) or not isinstance(sample, Integral) or sample < 2):
        raise ValueError(f"sample must be a whole number from 2 on; got {in_short(sample)}.")
    m = (n if n <= _ALL_ROWS else _SOME_ROWS) if sample is None else min(n, int(sample))
    return np.arange(n) if m == n else np.sort(rng.choice(n, m, replace=False))


def _placed(outcome: Outcome, number: int) -> Array | None:
    return outcome.runs[number].placed if len(outcome.runs) > number else None


def _with_placed(outcome: Outcome, number: int, kept: Array) -> Array:
    """The picture of a repeat, with new rows where they were placed."""
    run = outcome.runs[number]
    assert run.placed is not None
    n = len(run.coordinates) + len(run.placed)
    picture = np.empty((n, run.coordinates.shape[1]))
    picture[kept] = run.coordinates
    picture[np.setdiff1d(np.arange(n), kept)] = run.placed
    return picture


def _joined(name: str, parts: list[_Part]) -> dict[str, Measured]:
    """Over all repeats; nothing where there is nothing below the line."""
    found = _by_row(parts) if parts else None
    return {name: found} if found is not None and found.total is not None and found.total.sum() > 0 else {}


def _by_row(parts: list[_Part]) -> Measured:
    """The same value from one number for every row, however often it was left out: it is one row all the same."""
    numbers, at = np.unique(np.concatenate([rows for rows, _ in parts]), return_inverse=True)
    values = np.concatenate([one.rows for _, one in parts])
    totals = np.concatenate([np.ones(len(one.rows)) if one.total is None else one.total for _, one in parts])
    return Measured(*(np.bincount(at, weights=each, minlength=len(numbers)) for each in (values, totals)))
