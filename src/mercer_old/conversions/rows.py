"""Components of rows, as programs of population genetics write them: ids, scores, and eigenvectors of length one."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer_old.arrays import Array, to_numpy
from mercer_old.errors import BadData, WrongUse, counted, in_short, warn
from mercer_old.models.kernel_model import KernelModel
from mercer_old.models.linear import LinearModel
from mercer_old.models.with_gaps import FillsGaps

__all__ = ["ComponentsOfRows", "Ids", "as_text", "components_of_rows", "table_of"]

_LENGTH = 1e-5  # by which an eigenvector's length may differ from one: single precision, and solvers' tolerances


@dataclass(frozen=True)
class Ids:
    """What each row is called, perhaps with a family before it."""

    columns: tuple[Sequence[str], ...]  # (family, individual), or individuals alone
    words: str

    @property
    def families(self) -> Sequence[str] | None:
        return self.columns[0] if len(self.columns) == 2 else None

    @property
    def individuals(self) -> Sequence[str]:
        return self.columns[-1]


@dataclass(frozen=True)
class ComponentsOfRows:
    """U√λ and λ: scores, the eigenvalues of the centred (kernel) matrix of the rows, and, of training rows, U."""

    scores: Array  # n×k
    eigenvalues: Array
    eigenvectors: Array | None  # of length one; None if scores of any rows were asked for
    ids: Ids

    @property
    def names(self) -> list[str]:
        return [f"PC{i + 1}" for i in range(len(self.eigenvalues))]


def components_of_rows(model: Any, X: Any, ids: Any, any_rows: bool) -> ComponentsOfRows:
    """Of X, or without it of the rows that kernel PCA has kept; `any_rows`: they need not be those of the fit."""
    if not isinstance(model, LinearModel | KernelModel) or isinstance(model, FillsGaps):
        raise WrongUse(
            f"Principal components are of PCA, IncrementalPCA and KernelPCA; {type(model).__name__} has none. "
            'to="csv" writes what it has.'
        )
    values = _eigenvalues(model)
    scores = _own_vectors(model) * np.sqrt(values) if X is None else _scores(model, X)
    vectors = None if any_rows else _vectors_of(scores, values)
    return ComponentsOfRows(scores, values, vectors, _checked_ids(ids, len(scores)))


def _eigenvalues(model: Any) -> Array:
    if isinstance(model, LinearModel):
        return np.square(to_numpy(model.singular_values_).astype(np.float64))
    return np.asarray(to_numpy(model.eigenvalues_), dtype=np.float64)


def _own_vectors(model: Any) -> Array:
    """Those that an exact kernel PCA has kept."""
    if not hasattr(model, "eigenvectors_"):
        what = "by landmarks" if isinstance(model, KernelModel) else f"of {type(model).__name__}"
        raise WrongUse(
            f"A model {what} does not keep its rows: give those that it was fitted on, as X (DATA on the command line)."
        )
    if model._projection.centring.weights is not None:
        raise WrongUse(
            "The rows of this model have weights, by which equal rows differ in their eigenvectors: give X, and "
            "scores=True (--scores)."
        )
    return np.asarray(to_numpy(model.eigenvectors_), dtype=np.float64)


def _scores(model: Any, X: Any) -> Array:
    """Never whitened: the eigenvalues are theirs."""
    items = model._new_items(X)
    if isinstance(model, LinearModel):
        return model._by_blocks(items, lambda rows, threads: model._projected(rows, threads, False)).astype(np.float64)
    return model._by_blocks(items).astype(np.float64)


def _vectors_of(scores: Array, values: Array) -> Array:
    """scores/√λ, if they are those of the training rows: of length one, then."""
    if not (values > 0).all():
        before = int(np.argmin(values > 0))
        raise BadData(
            f"Component {before + 1} has no variance, so its eigenvector has no direction: fit with "
            f"n_components={before} or fewer, or write scores (scores=True, --scores)."
        )
    vectors = scores / np.sqrt(values)
    lengths = np.linalg.norm(vectors, axis=0)
    worst = int(np.argmax(np.abs(lengths - 1)))
    if abs(lengths[worst] - 1) > _LENGTH:
        raise BadData(
            f"Eigenvectors of length one are those of the rows that the model was fitted on, each counted once; "
            f"component {worst + 1} of the {counted(len(scores), 'row')} of X has length {lengths[worst]:.6g}. Give "
            "the rows of the fit, or write scores (scores=True, --scores), which any rows have."
        )
    return vectors


# ---------------------------------------------------------------------- what rows are called


def _checked_ids(ids: Any, n: int) -> Ids:
    if ids is None:
        return Ids(([str(i + 1) for i in range(n)],), "Rows are called by their numbers, from 1 on.")
    if isinstance(ids, str | bytes) or not isinstance(ids, Iterable):
        raise WrongUse(f"ids are names, one for each row; got {in_short(ids)}.")
    array = np.asarray(ids if isinstance(ids, np.ndarray) else list(ids), dtype=object)
    if array.ndim not in (1, 2) or (array.ndim == 2 and array.shape[1] != 2):
        raise WrongUse(
            f"ids are one name for each row, or pairs of a family and a name; got an array of shape {array.shape}."
        )
    if len(array) != n:
        raise BadData(f"There are {counted(len(array), 'id')} for {counted(n, 'row')}: give one for each.")
    columns = tuple([str(one) for one in column] for column in (array.T if array.ndim == 2 else [array]))
    for column in columns:
        _refuse_split(column)
    if len(set(zip(*columns, strict=True))) < n:
        warn("Some rows have the same id, by which other programs will not tell them apart.")
    return Ids(columns, "")


def _refuse_split(column: list[str]) -> None:
    """Columns of such files end at white space, and a line that begins with # is a heading."""
    for row, text in enumerate(column):
        if not text or text.split() != [text] or text.startswith("#") or not text.isprintable():
            raise BadData(
                f"The id {in_short(text)} of row index {row} would not be read back: ids have at least one letter, no "
                "white space or control characters, and do not begin with #."
            )


# ---------------------------------------------------------------------- as text


def as_text(number: float) -> str:
    """With all its digits, and as few as that takes."""
    return repr(float(number))


def table_of(heading: Sequence[str], *columns: Sequence[str], numbers: Array) -> bytes:
    """Lines that end with a line feed, columns that end with a tab."""
    lines = ["\t".join(heading)] if heading else []
    for i, row in enumerate(numbers):
        lines.append("\t".join([*(column[i] for column in columns), *map(as_text, row)]))
    return ("\n".join(lines) + "\n").encode()
