"""`mercer.compare`: methods side by side on the same rows, each with what it costs and how far it can be trusted."""

import tempfile
from collections.abc import Iterable, Sequence
from numbers import Integral, Real
from pathlib import Path
from typing import Any

import numpy as np

from mercer_old.arrays import Array
from mercer_old.errors import counted, in_short
from mercer_old.limits import count_threads
from mercer_old.progress import Listener, working
from mercer_old.readings.chance import generator_from
from mercer_old.readings.measures import Measured
from mercer_old.relatives.apart import Outcome, fit_apart
from mercer_old.relatives.base import Method
from mercer_old.relatives.registry import METHODS, method
from mercer_old.studies.advice import advise
from mercer_old.studies.compared import Comparison, Line
from mercer_old.studies.measuring import Measuring
from mercer_old.studies.same_rows import SameRows, labels_for, rows_for

__all__ = ["compare"]

_HELD_OUT = 0.2


def compare(
    X: Any,
    y: Any = None,
    *,
    methods: Any = None,
    n_components: int = 2,
    n_neighbors: int = 10,
    standardize: bool = False,
    repeats: int = 3,
    sample: int | None = None,
    budget: float | None = 300.0,
    random_state: Any = None,
    n_jobs: int | None = None,
    apart: bool = True,
    memory_limit: int | str | None = None,
    progress: Listener = False,
) -> Comparison:
    """Fit several methods to the same rows, measure what each keeps, and say in words what follows.

    Every method runs in a process of its own, one after the other: its memory is its own, and one that is not done
    within its budget is ended. The first fit is to all rows; time, memory, neighbourhoods, distances and labels are of
    that one. Every repeat leaves out a fifth of the rows, the same for all methods, and takes another seed: from it
    come the places of new rows, the way back, and how far the picture moves. One more fit to all rows tells what
    another seed alone changes, where a method draws anything. A method that cannot be fitted, or is not done, is a line
    with the reason; the others are compared all the same.

    Parameters
    ----------
    X : {array-like, sparse matrix, dataframe, dict of columns, pathlib.Path, Rows} of shape (n_samples, n_features)
        The rows. Of a table with columns of other kinds, all methods see the features of `TableKernel.auto`. With gaps
        (NaN) only methods that take them are fitted, and rows without a gap are measured.
    y : array-like of shape (n_samples,), default=None
        Classes of the rows; no method sees them, they are compared with neighbours in the pictures. Rows without one
        (None, NaN, a blank text) are fitted and drawn with all others, are not judged, and have no vote.
    methods : list, default=None
        Names ("pca", "correlation-pca", "kernel-pca", "lle", "ppca", "factor-analysis", "ica", "gplvm", "autoencoder",
        "t-sne", "umap") or methods with settings of their own, such as ``mercer.relatives.TSNE(denoise=50)``. None: all
        of them; with `standardize`, PCA is correlation PCA, and stands for both.
    n_components : int, default=2
        How many coordinates.
    n_neighbors : int, default=10
        How large neighbourhoods are in the measures; less than half the rows.
    standardize : bool, default=False
        Divide every column by its standard deviation first, for all methods and all measures.
    repeats : int, default=3
        Fits with rows left out. 0: none, and nothing is said of new rows, of the way back, or of what moves.
    sample : int or None, default=None
        How many rows to measure on; ranks are among all rows. None: all up to 2000, else 1000.
    budget : float or None, default=300
        Seconds for all fits of a method; None: as long as it takes.
    random_state : int, Generator, RandomState or None, default=None
        Draws rows, and the seeds of methods. None is a fixed seed.
    n_jobs : int or None, default=None
        Threads, of methods and measures.
    apart : bool, default=True
        Whether every method has a process of its own. False is quicker for small rows; memory is not measured then, and
        a budget cannot be kept.
    memory_limit : int, str or None, default=None
        How much memory the rows may take, as of `PCA`; methods are told nothing of it.
    progress : bool or callable, default=False
        As of `KernelPCA`; it is told after every method.

    Returns
    -------
    comparison : Comparison
        Print it; ``table``, ``advice``, ``coordinates``, ``plot()``, ``report()``, ``to_dict()``, ``to_json()``.

    Examples
    --------
    >>> import mercer
    >>> from mercer.datasets import rings
    >>> X, ring = rings(60)
    >>> found = mercer.compare(X, ring, methods=["pca", "kernel-pca"], repeats=0)
    >>> [row["method"] for row in found.table]
    ['pca', 'kernel-pca']
    """
    wanted = _methods(methods, standardize)
    _check(n_components, n_neighbors, repeats, budget)
    n_components, n_neighbors, repeats = int(n_components), int(n_neighbors), int(repeats)
    budget = None if budget is None or np.isinf(budget) else float(budget)
    n_jobs = _threads(n_jobs)
    rng = generator_from(random_state)
    seed = int(rng.integers(2**31 - 1 - 1000))
    same, notes = rows_for(X, standardize, memory_limit), list[str]()
    labels = None
    if y is not None:
        labels, why = labels_for(y, len(same.values))
        notes += [why] if why else []
    measuring = Measuring.of(same, labels, n_neighbors, sample, rng, n_jobs)
    splits = _splits(len(same.values), repeats, rng)
    how = {"n_components": n_components, "seed": seed, "budget": budget, "n_jobs": n_jobs, "here": not apart}
    outcomes = _outcomes(wanted, same, splits, how, progress)
    lines = _lines(wanted, outcomes, measuring.measures(outcomes, splits), repeated=repeats > 0)
    if n_components >= same.values.shape[1]:
        notes.append(_no_reduction(same.values.shape[1]))
    hit = None if measuring.labels is None else measuring.input_hit()
    commonest = None if labels is None or hit is None else labels.commonest
    return Comparison(
        lines=lines,
        advice=advise(lines, input_hit=hit, commonest=commonest, reduced=n_components < same.values.shape[1]),
        n_rows=len(same.values),
        n_columns=same.values.shape[1],
        n_components=n_components,
        n_neighbors=measuring.k,
        rows_looked_at=len(measuring.rows),
        rows_without_gaps=len(measuring.X),
        repeats=repeats,
        budget=budget,
        seed=seed,
        notes=[*same.notes, *notes, *measuring.notes],
        labels=None if y is None else np.asarray(y, dtype=object),
        input_hit=hit,
        commonest_label=commonest,
    )


# ---------------------------------------------------------------------- what is asked for


def _methods(methods: Any, standardize: bool = False) -> list[Method]:
    """Names or methods, each once; of divided columns, PCA is what correlation PCA would be."""
    if methods is None:
        return [each for each in METHODS.values() if not (standardize and each.name == "correlation-pca")]
    if isinstance(methods, (str, Method)):
        methods = [methods]
    if not isinstance(methods, Iterable):
        raise ValueError(f"methods must be a list of names; got {in_short(methods)}.")
    found = list[Method]()
    for one in methods:
        each = one if isinstance(one, Method) else method(one)
        if each.title not in [other.title for other in found]:
            found.append(each)
    if not found:
        raise ValueError(f"methods is empty: name some of {', '.join(METHODS)}.")
    return found


def _check(n_components: Any, n_neighbors: Any, repeats: Any, budget: Any) -> None:
    for name, value, least in (
        ("n_components", n_components, 1),
        ("n_neighbors", n_neighbors, 1),
        ("repeats", repeats, 0),
    ):
        if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
            raise ValueError(f"{name} must be a whole number from {least} on; got {in_short(value)}.")
    if budget is not None and (isinstance(budget, bool) or not isinstance(budget, Real) or not float(budget) > 0):
        raise ValueError(f"budget must be a positive number of seconds, or None; got {in_short(budget)}.")


def _threads(n_jobs: Any) -> int | None:
    """As every method would refuse it, one after the other."""
    if n_jobs is not None and (isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral)):
        raise ValueError(f"n_jobs must be a whole number, or None; got {in_short(n_jobs)}.")
    threads = None if n_jobs is None else int(n_jobs)
    count_threads(threads)
    return threads


def _no_reduction(columns: int) -> str:
    return (
        f"The rows have {counted(columns, 'column')}, no more than there are coordinates: PCA only turns them, and "
        "every change counts against the others. Fewer coordinates show who reduces best."
    )


def _splits(n: int, repeats: int, rng: np.random.Generator) -> list[Array]:
    """For every repeat the numbers of the rows that are fitted."""
    kept = n - max(1, round(_HELD_OUT * n))
    return [np.sort(rng.choice(n, kept, replace=False)) for _ in range(repeats)]


def _saved(path: Path, array: Array) -> Path:
    np.save(path, array)
    return path


def _outcomes(
    wanted: Sequence[Method], same: SameRows, splits: Sequence[Array], how: dict[str, Any], progress: Listener
) -> list[Outcome]:
    """Of every method, one after the other; what they are fitted to lies in files meanwhile."""
    found = []
    with tempfile.TemporaryDirectory(prefix="mercer-") as folder, working(progress, len(wanted), "methods") as on_pass:
        place = Path(folder)
        np.save(place / "rows.npy", same.values)
        files = [_saved(place / f"split-{i}.npy", kept) for i, kept in enumerate(splits)]
        for each in wanted:
            found.append(_outcome(each, same, place, files, how))
            if on_pass:
                on_pass(1.0)
    return found


def _outcome(each: Method, same: SameRows, place: Path, files: Sequence[Path], how: dict[str, Any]) -> Outcome:
    if same.gaps and not each.missing() and not each.takes_gaps:
        return Outcome(failure=f"X has {counted(same.gaps, 'gap')} (NaN), which it does not take: fill them in first.")
    return fit_apart(each, place, files, reseeds=int(bool(files) and each.seeds_matter), **how)


# ---------------------------------------------------------------------- what is found


def _lines(
    wanted: Sequence[Method], outcomes: Sequence[Outcome], found: Sequence[dict[str, Measured]], repeated: bool
) -> list[Line]:
    lines = []
    for each, outcome, measures in zip(wanted, outcomes, found, strict=True):
        nothing_drawn = repeated and outcome.runs and not each.seeds_matter
        more = {"reseeded": Measured(np.zeros(1))} if nothing_drawn else {}
        lines.append(_line(each, outcome, measures | more))
    return lines


def _line(each: Method, outcome: Outcome, measures: dict[str, Measured]) -> Line:
    first = outcome.runs[0] if outcome.runs else None
    return Line(
        name=each.name,
        title=each.title,
        keeps=each.keeps,
        assumes=each.assumes,
        settings=each.settings,
        by=outcome.by,
        seconds=None if first is None else first.seconds,
        cpu_seconds=None if first is None else first.cpu,
        peak_memory=outcome.peak,
        loading_seconds=None if first is None else outcome.loading,
        fits=len(outcome.runs),
        places_new=each.places_new,
        goes_back=each.goes_back,
        reason=outcome.failure,
        warnings=tuple(outcome.warnings),
        measures=measures,
        coordinates=None if first is None else first.coordinates,
    )
