"""How well an embedding Y keeps the neighbourhoods of X: trustworthiness, continuity, and the co-ranking curves.

All of them compare ranks. Row j is the r(i, j)-th neighbour of row i, 1 being the nearest: rows at the same distance
count in the order of their indices, and i itself never counts, whatever lies on top of it. Ranks are taken among all n
rows, from a block of rows at a time, so that no n×n array is ever held; with `sample`, from so many random rows.
"""

from dataclasses import dataclass
from numbers import Integral
from threading import Lock
from typing import Any

import numpy as np

from mercer_old.arrays import Array
from mercer_old.errors import counted
from mercer_old.inputs import table, told_where
from mercer_old.limits import count_threads
from mercer_old.readings.chance import generator_from
from mercer_old.readings.distances import distances_of
from mercer_old.readings.ranks import Sweep, ranks, smallest_in_order

_ALL_ROWS, _SOME_ROWS = 5000, 2000  # up to so many rows all are looked at, of more than that so many


@dataclass(frozen=True)
class Quality:
    """What `quality` found: three shares between 0 and 1, larger is better, and the standard error of each.

    The errors are those of looking at `rows` of the `n` rows; they are zero where all were looked at.
    """

    n_neighbors: int
    trustworthiness: float
    continuity: float
    q_nx: float
    trustworthiness_error: float
    continuity_error: float
    q_nx_error: float
    rows: int
    n: int

    def __str__(self) -> str:
        def share(value: float, error: float) -> str:
            return f"{value:.3f}" if self.rows == self.n else f"{value:.3f} ± {error:.1g}"

        return (
            f"With {_neighbours(self.n_neighbors)} {_rows_of(self.rows, self.n)}: "
            f"trustworthiness {share(self.trustworthiness, self.trustworthiness_error)}, "
            f"continuity {share(self.continuity, self.continuity_error)}, "
            f"share of neighbours that stay {share(self.q_nx, self.q_nx_error)}"
            f"{'' if self.rows == self.n else ' (± one standard error)'}."
        )


@dataclass(frozen=True, eq=False)
class CoRanking:
    """What `co_ranking` found: Q_NX(K) for K = 1, 2, …, its standard error, and the curves that follow from it.

    Attributes
    ----------
    q_nx : ndarray
        Q_NX(K), the share of the K nearest rows that are among the K nearest of the embedding too.
    standard_error : ndarray
        Of Q_NX(K), and of LCMC(K) as well; zero where all rows were looked at.
    rows, n : int
        How many rows were looked at, of how many.
    k : ndarray
        1, 2, …
    lcmc : ndarray
        Q_NX(K) − K/(n − 1): the share beyond what a random embedding keeps (Chen and Buja's local continuity).
    r_nx : ndarray
        ((n − 1)·Q_NX(K) − K)/(n − 1 − K): the same, on a scale from 0 for a random embedding to 1 for a perfect one.
    best_k : int
        Where LCMC is largest: the size of the neighbourhoods that the embedding keeps best.
    """

    q_nx: Array
    standard_error: Array
    rows: int
    n: int

    @property
    def k(self) -> Array:
        return np.arange(1, len(self.q_nx) + 1)

    @property
    def lcmc(self) -> Array:
        return self.q_nx - self.k / (self.n - 1)

    @property
    def r_nx(self) -> Array:
        return ((self.n - 1) * self.q_nx - self.k) / (self.n - 1 - self.k)

    @property
    def best_k(self) -> int:
        return int(np.argmax(self.lcmc)) + 1

    def __str__(self) -> str:
        best, largest = self.best_k, len(self.q_nx)
        end = best == largest < self.n - 2
        return (
            f"The embedding keeps neighbourhoods of {_neighbours(best)} best ({_rows_of(self.rows, self.n)}): "
            f"{self.q_nx[best - 1]:.1%} of them stay, {self.lcmc[best - 1]:.1%} more than by chance"
            f"{'; that is the largest K looked at, a larger one may be better still' if end else ''}."
        )


def quality(
    X: Any,
    Y: Any,
    *,
    n_neighbors: int = 5,
    metric: str = "euclidean",
    sample: int | None = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> Quality:
    """Trustworthiness, continuity and the share of neighbours that stay, in one sweep over the distances.

    With r_X and r_Y the ranks in X and in Y, and N_X and N_Y the k nearest rows of row i in each:

      trustworthiness = 1 − 2/(nk(2n − 3k − 1))·Σᵢ Σ_{j ∈ N_Y} max(0, r_X(i, j) − k)   false neighbours count against it
      continuity      = 1 − 2/(nk(2n − 3k − 1))·Σᵢ Σ_{j ∈ N_X} max(0, r_Y(i, j) − k)   lost neighbours count against it
      Q_NX            = 1/(nk)·Σᵢ |N_X ∩ N_Y|

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The rows that were embedded; or their distances, n×n, with ``metric="precomputed"``.
    Y : {array-like, sparse matrix} of shape (n_samples, n_components)
        The embedding; its distances are Euclidean.
    n_neighbors : int, default=5
        k, less than n/2.
    metric : {"euclidean", "cosine", "precomputed"}, default="euclidean"
        Of X. By cosine, a row of zeros is at distance 1 from every other row, as in scikit-learn.
    sample : int or None, default=None
        How many rows to look at, drawn without replacement; ranks are among all rows all the same, so that the answer
        is an unbiased estimate. None: all up to 5000 rows, else 2000.
    random_state : int, Generator, RandomState or None, default=None
        Draws the sample. None is a fixed seed.
    n_jobs : int or None, default=None
        Threads; they do not change the answer.

    Returns
    -------
    Quality
    """
    sweep = _open(X, Y, metric, sample, random_state, n_jobs)
    n, k = sweep.n, _whole(n_neighbors, "n_neighbors")
    if k >= n / 2:
        raise ValueError(f"n_neighbors ({k}) should be less than n_samples / 2 ({n / 2}).")
    found = np.empty((len(sweep.rows), 3))

    def look(position: int, by_x: Array, by_y: Array) -> None:
        in_x, in_y = ranks(by_x, smallest_in_order(by_y, k)), ranks(by_y, smallest_in_order(by_x, k))
        found[position] = np.maximum(in_x - k, 0).sum(), np.maximum(in_y - k, 0).sum(), np.count_nonzero(in_x <= k)

    sweep.over(look)
    found[:, :2] = 1 - found[:, :2] * 2 / (k * (2 * n - 3 * k - 1))
    found[:, 2] /= k
    errors = _standard_error(found.var(axis=0, ddof=1), len(found), n)
    trust, continuous, stay = found.mean(axis=0).tolist()
    trust_error, continuous_error, stay_error = errors.tolist()
    return Quality(k, trust, continuous, stay, trust_error, continuous_error, stay_error, rows=len(found), n=n)


def trustworthiness(
    X: Any,
    Y: Any,
    *,
    n_neighbors: int = 5,
    metric: str = "euclidean",
    sample: int | None = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> float:
    """Whether neighbours in Y are neighbours in X: `sklearn.manifold.trustworthiness`, for many rows.

      1 − 2/(nk(2n − 3k − 1))·Σᵢ Σ_{j ∈ N_Y} max(0, r_X(i, j) − k)

    The parameters are those of `quality`, which has the standard error of the answer, and the other measures, at the
    same cost.
    """
    return quality(
        X, Y, n_neighbors=n_neighbors, metric=metric, sample=sample, random_state=random_state, n_jobs=n_jobs
    ).trustworthiness


def continuity(
    X: Any,
    Y: Any,
    *,
    n_neighbors: int = 5,
    metric: str = "euclidean",
    sample: int | None = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> float:
    """Whether neighbours in X are neighbours in Y: trustworthiness with the roles swapped.

      1 − 2/(nk(2n − 3k − 1))·Σᵢ Σ_{j ∈ N_X} max(0, r_Y(i, j) − k)

    The parameters are those of `quality`, which has the standard error of the answer, and the other measures, at the
    same cost.
    """
    return quality(
        X, Y, n_neighbors=n_neighbors, metric=metric, sample=sample, random_state=random_state, n_jobs=n_jobs
    ).continuity


def co_ranking(
    X: Any,
    Y: Any,
    *,
    n_neighbors: int | None = None,
    metric: str = "euclidean",
    sample: int | None = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> CoRanking:
    """Which neighbourhoods are kept, from small ones to large ones: Q_NX(K) for every K (Lee and Verleysen 2009).

      Q_NX(K) = 1/(nK)·Σᵢ |N_X(i, K) ∩ N_Y(i, K)| = 1/(nK)·#{(i, j): max(r_X(i, j), r_Y(i, j)) ≤ K}

    All parameters but this one are those of `quality`.

    Parameters
    ----------
    n_neighbors : int or None, default=None
        The largest K, at most n − 2. None: n − 2, which takes several times as long as K = 100 if there are many rows.

    Returns
    -------
    CoRanking
    """
    sweep = _open(X, Y, metric, sample, random_state, n_jobs)
    n, m = sweep.n, len(sweep.rows)
    largest = n - 2 if n_neighbors is None else _whole(n_neighbors, "n_neighbors")
    if largest > n - 2:
        raise ValueError(f"n_neighbors ({largest}) should be at most n_samples - 2 ({n - 2}).")
    k, lock = np.arange(1, largest + 1), Lock()
    totals, squares = np.zeros(largest, dtype=np.int64), np.zeros(largest, dtype=np.int64)

    def look(_: int, by_x: Array, by_y: Array) -> None:
        rank = np.full(n, largest + 1)
        rank[smallest_in_order(by_x, largest)] = k
        later = np.maximum(rank[smallest_in_order(by_y, largest)], k)
        kept = np.cumsum(np.bincount(later, minlength=largest + 2)[1:-1])
        with lock:  # whole numbers: their sums do not depend on the order
            np.add(totals, kept, out=totals)
            np.add(squares, kept * kept, out=squares)

    sweep.over(look)
    variance = np.maximum(squares - totals / m * totals, 0.0) / (m - 1) / k**2
    return CoRanking(totals / (m * k), _standard_error(variance, m, n), rows=m, n=n)


# ---------------------------------------------------------------------------- what comes in, and words


def _open(X: Any, Y: Any, metric: str, sample: int | None, random_state: Any, n_jobs: int | None) -> Sweep:
    """Everything checked, or refused in one sentence."""
    if metric not in ("euclidean", "cosine", "precomputed"):
        raise ValueError(f'metric={metric!r} is unknown; it can be "euclidean", "cosine" or "precomputed".')
    X, Y = _numbers(X, "X"), _numbers(Y, "Y")
    n = X.shape[0]
    if Y.shape[0] != n:
        raise ValueError(
            f"X has {counted(n, 'row')} and Y has {Y.shape[0]:,}: row i of Y has to be the image of row i of X."
        )
    if n < 3:
        raise ValueError(f"X has {counted(n, 'row')}: neighbours can be compared from 3 rows on.")
    rows = _draw(n, sample, random_state)
    return Sweep((distances_of(X, metric), distances_of(Y, "euclidean")), rows, count_threads(n_jobs))


def _numbers(X: Any, label: str) -> Any:
    """A dense array or CSR matrix of finite numbers."""
    from sklearn.utils import check_array

    X = table(X, label)
    with told_where(X, label):
        return check_array(X, accept_sparse="csr", dtype=(np.float64, np.float32), input_name=label)


def _draw(n: int, sample: int | None, random_state: Any) -> Array:
    """The rows to look at, in order."""
    m = (n if n <= _ALL_ROWS else _SOME_ROWS) if sample is None else _whole(sample, "sample")
    if not 2 <= m <= n:
        raise ValueError(f"sample ({m}) should be from 2 to the number of rows ({n:,}).")
    rng = generator_from(random_state)
    return np.arange(n) if m == n else np.sort(rng.choice(n, size=m, replace=False))


def _whole(value: Any, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, Integral) or value < 1:
        raise ValueError(f"{name} must be a whole number from 1 on; got {value!r}.")
    return int(value)


def _standard_error(variance: Array, m: int, n: int) -> Array:
    """Of the mean of m values out of n, drawn without replacement: √(variance/m·(1 − m/n))."""
    return np.sqrt(variance / m * (1 - m / n))


def _neighbours(k: int) -> str:
    return counted(k, "neighbour")


def _rows_of(rows: int, n: int) -> str:
    return f"of all {n:,} rows" if rows == n else f"of {rows:,} random rows among {n:,}"
