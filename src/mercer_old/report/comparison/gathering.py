"""From a comparison and its rows to facts: all that the page shows is asked for here, once."""

from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import rankdata

from mercer_old.arrays import Array
from mercer_old.errors import BadData, counted
from mercer_old.limits import bytes_in_words
from mercer_old.readings.measures import Measured
from mercer_old.report.cloud import Cloud, cloud_of
from mercer_old.report.comparison.record import Compared, Figure, Measure, Method
from mercer_old.report.labels import Columns, columns_of_labels
from mercer_old.report.origin import digest_of
from mercer_old.report.rows import columns_of_rows, names_of_rows
from mercer_old.sources.files import open_rows
from mercer_old.sources.items import Items
from mercer_old.store.files import versions
from mercer_old.studies.advice import alike, ranked
from mercer_old.studies.compared import MEASURES, Comparison, Line

__all__ = ["gathered"]


def gathered(found: Comparison, X: Any = None, labels: Any = None, name: str | None = None) -> Compared:
    """All that is to be told; `name` is what the data are called, if not as their file."""
    X = open_rows(X) if isinstance(X, Path) else X
    _refuse_others(X, found.n_rows)
    shown = found.shown
    best = {measure: _best(found.lines, measure) for measure in shown}
    path = X.path if isinstance(X, Items) else None
    called = name or (None if path is None else path.name)
    return Compared(
        title=f"Which method for {called}?" if called else "Which method?",
        about=found.about,
        rows=found.n_rows,
        columns=found.n_columns,
        advice=tuple(found.advice),
        notes=tuple(found.notes),
        measures=tuple(_measure(measure) for measure in shown),
        methods=tuple(_method(line, shown, best) for line in found.lines),
        settings=_settings(found, X),
        cloud=_cloud(found, X, labels),
    )


def _refuse_others(X: Any, rows: int) -> None:
    if X is None:
        return
    count = len(X) if isinstance(X, Items) or not hasattr(X, "shape") else int(X.shape[0])
    if isinstance(X, dict):
        count = len(next(iter(X.values()), ()))
    if count != rows:
        raise BadData(f"X has {counted(count, 'row')}, and {rows:,} were compared: give the same ones, in their order.")


# ---------------------------------------------------------------------- numbers


def _measure(name: str) -> Measure:
    asked = MEASURES[name]
    return Measure(name, asked.head, asked.phrase, asked.larger_is_better, asked.chance)


def _best(lines: list[Line], measure: str) -> set[str]:
    """Titles of the best and all that cannot be told from it; of none, where that is everybody."""
    done = [line for line in lines if line.done]
    same, order = alike(done, measure), ranked(done, measure)
    return {line.title for line in same} if len(same) < len(order) else set()


def _method(line: Line, shown: list[str], best: dict[str, set[str]]) -> Method:
    figures = {name: _figure(line.measures[name], line.title in best[name]) for name in shown if name in line.measures}
    return Method(
        title=line.title,
        by=line.by,
        keeps=line.keeps,
        assumes=line.assumes,
        done=line.done,
        reason=line.reason,
        warnings=tuple(line.warnings),
        seconds=line.seconds,
        cpu_seconds=line.cpu_seconds,
        memory="" if line.peak_memory is None else bytes_in_words(line.peak_memory),
        figures={name: figure for name, figure in figures.items() if np.isfinite(figure.value)},
    )


def _figure(measured: Measured, best: bool) -> Figure:
    error = measured.error
    return Figure(measured.value, error if np.isfinite(error) else None, measured.in_short, best)


def _settings(found: Comparison, X: Any) -> dict[str, str]:
    """How to have the same again."""
    digest = digest_of(X)
    return {
        "coordinates": str(found.n_components),
        "neighbours": str(found.n_neighbors),
        "repeats": f"{found.repeats}, each without a fifth of the rows and with a seed of its own",
        "seconds for a method": "as many as it takes" if found.budget is None else f"{found.budget:g}",
        "seed": str(found.seed),
        f"sha256 of the {digest['hashed']}": digest["sha256"] or "",
        "versions": ", ".join(f"{name} {version}" for name, version in versions().items()),
    }


# ---------------------------------------------------------------------- maps


def _cloud(found: Comparison, X: Any, labels: Any) -> Cloud | None:
    """Coordinates of all methods one after the other, with a map for each."""
    if not found.coordinates:
        return None
    blocks, names, views = list[Array](), list[str](), list[tuple[str, int, int]]()
    for line in found.lines:
        if line.coordinates is None:
            continue
        views.append((_caption(line), len(names), len(names) + 1))
        plane = line.coordinates if line.coordinates.shape[1] > 1 else _as_plane(line.coordinates[:, 0])
        blocks.append(plane)
        names += [f"{line.title} {j + 1}" for j in range(line.coordinates.shape[1])]
        names += [f"{line.title} 1, in order"] if line.coordinates.shape[1] == 1 else []
    own: Columns = {} if X is None else columns_of_rows(X)
    columns = (chosen := _labels(found, X, labels)) | {name: own[name] for name in own if name not in chosen}
    ids = names_of_rows(X, found.n_rows)
    return cloud_of(np.hstack(blocks), names, ids=ids, columns=columns, views=views)


def _caption(line: Line) -> str:
    trust = line.measures.get("trustworthiness")
    return line.title if trust is None else f"{line.title}: trust {trust.value:.2f}"


def _as_plane(values: Array) -> Array:
    """One coordinate, and upwards the order that it puts rows in, as long as itself."""
    order = (rankdata(values) - 1) / max(len(values) - 1, 1)
    return np.column_stack([values, np.ptp(values) * order])


def _beside(X: Any) -> dict[str, Any]:
    return dict(X.beside) if isinstance(X, Items) else {}


def _labels(found: Comparison, X: Any, labels: Any) -> Columns:
    """Those that are given, else what a file has beside its rows, else those of the comparison."""
    given = labels if labels is not None else _beside(X) or found.labels
    return columns_of_labels(given, found.n_rows)
