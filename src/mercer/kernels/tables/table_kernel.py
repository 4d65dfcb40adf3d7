"""A kernel on tables of mixed types: a sum over columns, each compared in its own way and brought to one scale."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from mercer.budget import parse_memory
from mercer.data.dataset import ArrayDataset, Dataset
from mercer.data.table import Column, Table, as_table
from mercer.errors import DataError, ParameterError, UsageError, warn, warn_each
from mercer.kernels.base import FeatureMap, Generator, Kernel, PreparedKernel
from mercer.kernels.dot import Linear
from mercer.kernels.tables.column_kinds import ColumnKind, String, as_column_kind, concise_repr, is_present
from mercer.kernels.tables.infer import infer_columns
from mercer.numerics.blocking import slices
from mercer.numerics.rounding import gamma as rounding_bound
from mercer.storable import storable
from mercer.text import joined, listed

_DENSE_WIDTH = 256  # numbers of a row up to which zeros are stored
_SAMPLE = 2000  # rows from which the variance of a kernel without exact features is estimated
_NO_VARIANCE = 1e-13  # of the mean square: a variance that is rounding
_SMALLEST_WEIGHT = 1e-50
_STRIP = 512  # rows of a kernel matrix that are evaluated at once
_COST_ROWS = 100  # rows from which cost and width are estimated
_MEMORY_FRACTION = 8  # part of the memory for the sample of a table that does not fit


class ColumnBlock(NamedTuple):
    """What one kernel compares: encoded cells of a column, or of all linear columns side by side."""

    kernel: Kernel
    factor: float  # of the kernel, 1/v_c
    samples: Any
    missing: NDArray | None  # rows whose similarities are zero; None: none, or zero rows of a linear kernel
    n_roundings: int = 0  # behind a number of `samples`, of linear kernels only
    smallest_square: float = 0.0  # of the length of rows of samples to which the roundings are relative

    @property
    def n_roundings_entry(self) -> int:
        """Roundings of an entry besides those of the kernel: samples on both sides, and the factor."""
        return 2 * self.n_roundings + 4

    def scaled(self, values: NDArray) -> NDArray:
        """factor·values, one for every row; zero for missing cells."""
        values = self.factor * values
        if self.missing is not None:
            values[self.missing] = 0.0
        return values

    def features(self, feature_map: FeatureMap) -> Any:
        """√factor·φ, with zeros for missing cells."""
        features = feature_map.transform(self.samples)
        if self.factor == 1.0 and self.missing is None:
            return features
        scale = np.full(features.shape[0], np.sqrt(self.factor))
        if self.missing is not None:
            scale[self.missing] = 0.0
        return sparse.diags_array(scale) @ features if sparse.issparse(features) else features * scale[:, None]


@storable
@dataclass(frozen=True, repr=False)
class TableKernel(Kernel):
    """k(x, y) = Σ k_c(x, y)/v_c over the columns c of a table; v_c, the variance of k_c, gives them equal weight.

    Parameters
    ----------
    columns : dict, default=None
        Maps the name of every column that counts to `Numeric`, `Categorical`, `Ordinal`, `Datetime`, `Sets`, or a
        kernel on strings or vectors. None: as `TableKernel.infer` decides from the table of the fit.
    balanced : bool, default=True
        False leaves out v_c. Kernel PCA is then factor analysis of mixed data (FAMD), with categories only multiple
        correspondence analysis: columns with many categories have more weight.
    variances : dict, default=None
        v_c, the trace of the centered kernel matrix divided by the number of rows. None: those of the fit.

    Notes
    -----
    A missing cell is similar to nothing, k_c = 0; for numbers, categories, ranks and times it is at the mean of the
    column. Columns of the table that are not in `columns` are ignored, and their order does not matter. For
    products of columns, multiply kernels: ``(1 + TableKernel({…})) * (1 + TableKernel({…}))``.

    References
    ----------
    Pagès (2004), Analyse factorielle de données mixtes. Revue de Statistique Appliquée 52, 93–111.
    """

    columns: Mapping[Any, Any] | None = None
    balanced: bool = True
    variances: Mapping[Any, float] | None = None

    input_kind = "table"

    def __post_init__(self) -> None:
        columns: Any = self.columns
        if columns is not None and (not isinstance(columns, Mapping) or not columns):
            wanted = 'a dict of at least one column, such as {"mass": Numeric(), "species": Categorical()}'
            raise ParameterError("columns", columns, wanted)
        self._given()

    @classmethod
    def infer(cls, X: Any) -> Self:
        """A kernel of all columns that distinguish rows, each by what it contains. Print it to see the result.

        Numbers and durations are Numeric, dates and times Datetime, lists and sets Sets. Categories that the frame
        declares are Ordinal if they are ordered, else Categorical; Booleans are Categorical. Strings are Categorical
        if each occurs five times on average, or twice if there are at most 12, or if none has three characters; else
        Spectrum(3). Constant columns, row numbers, unique codes and types that cannot be compared are left out,
        with a warning.
        """
        columns, warnings = infer_columns(as_table(X))
        warn_each(warnings)
        return cls(columns)

    def __hash__(self) -> int:
        return hash((frozenset(self.columns or ()), self.balanced))

    def __repr__(self) -> str:
        return concise_repr(self)

    @property
    def psd(self) -> bool:  # type: ignore[override]
        return all(kind.cell_kernel.psd for kind in self._given().values())

    def with_params(self, **params: Any) -> Self:
        """A copy with other parameters; ``columns__mass=Numeric(RBF())`` changes one column."""
        nested = {name: params.pop(name) for name in list(params) if name.startswith("columns__")}
        changed = super().with_params(**params) if params else self
        if not nested:
            return changed
        columns = dict(changed.columns or {}) | {name.partition("__")[2]: kind for name, kind in nested.items()}
        return replace(changed, columns=columns, variances=None)

    # ------------------------------------------------------------------ fit

    def resolve(self, data: Dataset, rng: Generator, weights: NDArray | None = None) -> Self:
        if self.variances is not None:
            return self
        table, weights = _rows_to_fit(data, rng, weights)
        if not _SMALLEST_WEIGHT < weights.max() < 1 / _SMALLEST_WEIGHT:
            weights = weights / weights.max()  # products of counts would over- or underflow
        given = self._given()
        if self.columns is None:
            given, warnings = infer_columns(table, data.source.name)
            warn_each(warnings)
        columns: dict[Any, ColumnKind] = {}
        variances: dict[Any, float] = {}
        for name, kind in given.items():
            columns[name], variances[name] = _fit_column(kind, name, table, weights, rng)
        warn_each(_constant_warnings(variances, columns))
        warn_each(kind.fit_warning(table.columns[name], name) for name, kind in columns.items())
        return replace(self, columns=columns, variances=variances)

    def validate(self, samples: Any, name: str = "X") -> None:
        """Raise for a missing column or cells of another type; warn of categories that were not in the fit."""
        table = as_table(samples, name)
        for column, kind in self._given().items():
            kind.check(_column(table, column, name), column, name)
        if self.variances is not None:
            warn_each(kind.new_data_warning(table.columns[column], column) for column, kind in self._fitted().items())

    def _given(self) -> dict[Any, ColumnKind]:
        return {name: as_column_kind(kind, name) for name, kind in (self.columns or {}).items()}

    def _fitted(self) -> dict[Any, ColumnKind]:
        """The columns with a positive variance."""
        kinds = self._given()
        if self.variances is None or not all(kind.is_fitted for kind in kinds.values()):
            raise UsageError(
                "This TableKernel is not fitted: means, counts and variances of its columns are not known. Use the "
                "kernel_ of a fitted model."
            )
        return {name: kind for name, kind in kinds.items() if self.variances[name] > 0}

    def _factor(self, name: Any) -> float:
        return 1.0 / self.variances[name] if self.balanced else 1.0  # type: ignore[index]

    # ------------------------------------------------------------------ encoded columns

    def blocks(self, samples: Any) -> list[ColumnBlock]:
        """What the kernels of the columns compare. All linear columns share one block, as their sum is one product."""
        table, kinds = as_table(samples), self._fitted()
        linear = {name: kind for name, kind in kinds.items() if isinstance(kind.cell_kernel, Linear)}
        blocks = [self._linear_block(table, linear)] if linear or not kinds else []
        return blocks + [self._block(table, name, kind) for name, kind in kinds.items() if name not in linear]

    def _block(self, table: Table, name: Any, kind: ColumnKind) -> ColumnBlock:
        column = _checked_column(table, name, kind)
        present = None if isinstance(kind.cell_kernel, Linear) else kind.present(column)
        missing = None if present is None or present.all() else ~present
        return ColumnBlock(kind.cell_kernel, self._factor(name), kind.encode(column), missing)

    def _linear_block(self, table: Table, kinds: dict[Any, ColumnKind]) -> ColumnBlock:
        """√(1/v_c)·(encoded cells), side by side: their scalar products are the sum."""
        encoded = (
            (kind.encode(_checked_column(table, n, kind)), np.sqrt(self._factor(n))) for n, kind in kinds.items()
        )
        n_roundings = max((kind.n_roundings for kind in kinds.values()), default=0) + 3
        smallest = sum(kind.smallest_square * self._factor(name) for name, kind in kinds.items())
        width = sum(kind.width for kind in kinds.values())
        if width > _DENSE_WIDTH:
            rows = sparse.hstack([sparse.csr_array(rows) * factor for rows, factor in encoded], format="csr")
            return ColumnBlock(Linear(), 1.0, rows, None, n_roundings, smallest)
        out, first = np.zeros((len(table), max(1, width))), 0
        for (rows, factor), kind in zip(encoded, kinds.values(), strict=True):
            into = out[:, first : first + kind.width]
            np.multiply(rows.toarray() if sparse.issparse(rows) else rows, factor, out=into)
            first += kind.width
        return ColumnBlock(Linear(), 1.0, out, None, n_roundings, smallest)

    # ------------------------------------------------------------------ values

    def prepare(self, Y: Any, *, shift: float | None = 0.0) -> "PreparedTable":
        blocks = self.blocks(Y)
        prepared = [block.kernel.prepare(block.samples) for block in blocks]
        return PreparedTable(self, blocks, blocks, prepared, shift or 0.0)

    def diag(self, X: Any) -> NDArray:
        return np.sum([block.scaled(block.kernel.diag(block.samples)) for block in self.blocks(X)], axis=0)

    def feature_map(self, samples: Any) -> "TableFeatureMap | None":
        table = as_table(samples)
        learns = any(isinstance(kind, String) for kind in self._fitted().values())
        found = TableFeatureMap.of(self, self.blocks(table if learns else table[:1]))
        return found if found is None or learns or not found.sparse else TableFeatureMap.of(self, self.blocks(table))

    def entry_cost(self, data: Dataset) -> float:
        return 5.0 + sum(2.0 + block.kernel.entry_cost(some) for block, some in self._some_blocks(data))

    def sample_width(self, data: Dataset) -> int:
        width = sum(block.kernel.sample_width(some) for block, some in self._some_blocks(data))
        return width + data.nbytes // (8 * len(data)) + 1

    def _some_blocks(self, data: Dataset) -> Iterator[tuple[ColumnBlock, Dataset]]:
        """Blocks of the first rows as datasets."""
        for block in self.blocks(data.take(np.arange(min(len(data), _COST_ROWS)))):
            yield block, ArrayDataset(block.samples, block.kernel.input_kind)  # type: ignore[arg-type]

    # ------------------------------------------------------------------ interpretation

    def column_contributions(
        self, X: Any, scores: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> dict[Any, NDArray]:
        """Fraction of the variance of every component that each column contributes.

        Parameters
        ----------
        X : frame or dict of columns
            The table of the fit.
        scores : array-like of shape (n_samples, n_components)
            Its scores.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the fit.

        Returns
        -------
        contributions : dict
            For every column an array of shape (n_components,). Over the columns they sum to 1.
        """
        table, scores = as_table(X), np.asarray(scores, dtype=np.float64)
        if scores.ndim != 2 or len(scores) != len(table):
            raise DataError(f"scores has the shape {scores.shape}, but X has {len(table):,} rows.")
        weights = np.ones(len(table)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        directions = weights[:, None] * (scores - weights @ scores / weights.sum())
        found = {name: np.zeros(scores.shape[1]) for name in self.columns or ()}
        for name, kind in self._fitted().items():
            block = self._block(table, name, kind)
            found[name] = block.factor * _quadratic_form(block, directions)
        total = np.sum(list(found.values()), axis=0)
        return {name: np.divide(f, total, out=np.zeros_like(f), where=total > 0) for name, f in found.items()}


class PreparedTable(PreparedKernel):
    """Tiles of the blocks, added up."""

    kernel: TableKernel

    def __init__(
        self,
        kernel: TableKernel,
        left: list[ColumnBlock],
        right: list[ColumnBlock],
        prepared: list[PreparedKernel],
        shift: float,
    ) -> None:
        self.kernel, self.left, self.right, self.prepared, self.shift = kernel, left, right, prepared, shift
        self.shape = prepared[0].shape

    @property
    def nbytes(self) -> int:
        return sum(one.nbytes for one in self.prepared)

    def fill(self, rows: slice, columns: slice, out: NDArray) -> None:
        tile = np.empty_like(out)
        for i, (prepared, x, y) in enumerate(zip(self.prepared, self.left, self.right, strict=True)):
            target = tile if i else out
            prepared.fill(rows, columns, target)
            if x.factor != 1.0:
                target *= x.factor
            if x.missing is not None:
                target[x.missing[rows]] = 0.0
            if y.missing is not None:
                target[:, y.missing[columns]] = 0.0
            if i:
                out += tile
        if self.shift:
            out -= self.shift

    def against(self, X: Any) -> "PreparedTable":
        left = self.kernel.blocks(X)
        prepared = [one.against(block.samples) for one, block in zip(self.prepared, left, strict=True)]
        return PreparedTable(self.kernel, left, self.right, prepared, self.shift)

    @cached_property
    def diag(self) -> NDArray:
        return np.sum([block.scaled(one.diag) for one, block in self._blocks], axis=0) - self.shift

    @property
    def magnitudes(self) -> NDArray:
        """The sum of those of the blocks (Cauchy–Schwarz)."""
        return np.sum([block.scaled(one.magnitudes) for one, block in self._blocks], axis=0)

    @property
    def left_magnitudes(self) -> NDArray:
        parts = zip(self.prepared, self.left, strict=True)
        return np.sum([block.scaled(one.left_magnitudes) for one, block in parts], axis=0)

    @property
    def _blocks(self) -> list[tuple[PreparedKernel, ColumnBlock]]:
        return list(zip(self.prepared, self.right, strict=True))

    def likely_error(self) -> float:
        errors = [block.factor * one.likely_error() for one, block in self._blocks]
        return sum(errors, float(np.finfo(float).eps * abs(self.shift)))

    def entry_error(self) -> float:
        """Errors of the blocks, of their samples and factors, and of the sum."""
        bound = self._shift_error
        for one, block in self._blocks:
            sizes = [part.max(initial=0.0) + block.smallest_square for part in (one.left_magnitudes, one.magnitudes)]
            n_roundings = block.n_roundings_entry + len(self.right) + 2
            bound += block.factor * (one.entry_error() + rounding_bound(n_roundings) * float(np.sqrt(sizes).prod()))
        return bound

    def matrix_error(self, weights: NDArray, row_sums: NDArray | None = None, products: NDArray | None = None) -> float:
        """The same, summed. Row sums of a single block are not known."""
        bound = self._shift_error * float(weights.sum())
        for one, block in self._blocks:
            there = weights if block.missing is None else np.where(block.missing, 0.0, weights)
            size = float(weights @ (block.scaled(one.magnitudes) + block.smallest_square))
            n_roundings = block.n_roundings_entry + len(self.right) + 2
            bound += block.factor * one.matrix_error(there) + rounding_bound(n_roundings) * size
        return bound


class TableFeatureMap(FeatureMap):
    """The features of all blocks side by side."""

    def __init__(self, kernel: TableKernel, blocks: list[ColumnBlock], maps: list[FeatureMap]) -> None:
        self.kernel, self.maps = kernel, maps
        self.n_features = sum(one.n_features for one in maps)
        pairs = list(zip(blocks, maps, strict=True))
        self.n_roundings = max(block.n_roundings + 3 + one.n_roundings for block, one in pairs)
        self.sparse = any(one.sparse or sparse.issparse(block.samples) for block, one in pairs)
        self.recomputable = not self.sparse and all(one.recomputable for one in maps)
        if self.sparse:
            self.nnz = sum(_count_entries(block, one) for block, one in pairs)

    @classmethod
    def of(cls, kernel: TableKernel, blocks: list[ColumnBlock]) -> Self | None:
        """None if a kernel of a column has no exact features."""
        maps = [block.kernel.feature_map(block.samples) for block in blocks]
        known = [one for one in maps if one is not None]
        return cls(kernel, blocks, known) if len(known) == len(maps) else None

    def transform(self, samples: Any) -> Any:
        blocks = self.kernel.blocks(samples)
        features = [block.features(one) for block, one in zip(blocks, self.maps, strict=True)]
        if self.sparse:
            return sparse.hstack([sparse.csr_array(some) for some in features], format="csr")
        return features[0] if len(features) == 1 else np.hstack(features)

    def cancelled_squares(self, samples: Any) -> NDArray | float:
        pairs = zip(self.kernel.blocks(samples), self.maps, strict=True)
        return sum(block.factor * one.cancelled_squares(block.samples) + block.smallest_square for block, one in pairs)

    def get_feature_names_out(self) -> NDArray:
        """Names of the columns, with a number or the name of a feature of the column if it has several."""
        kinds = self.kernel._fitted()
        linear = {name: kind for name, kind in kinds.items() if isinstance(kind.cell_kernel, Linear)}
        names = [one for name, kind in linear.items() for one in _numbered(name, kind.width)]
        others = [name for name in kinds if name not in linear]
        for name, one in zip(others, self.maps[-len(others) :] if others else [], strict=True):
            names += [f"{name}_{feature}" for feature in one.get_feature_names_out()]
        return np.array(names or ["constant"], dtype=object)


def _numbered(name: Any, n: int) -> list[str]:
    return [str(name)] if n == 1 else [f"{name}_{i}" for i in range(n)]


def _count_entries(block: ColumnBlock, feature_map: FeatureMap) -> int:
    if feature_map.nnz is not None:
        return feature_map.nnz
    if sparse.issparse(block.samples):
        return int(block.samples.nnz)
    return len(block.samples) * feature_map.n_features


# ---------------------------------------------------------------------- the fit of a column


def _rows_to_fit(data: Dataset, rng: Generator, weights: NDArray | None) -> tuple[Table, NDArray]:
    """All rows and their weights, or a sample of them if they do not fit into memory."""
    weights = np.ones(len(data)) if weights is None else weights
    memory = parse_memory(None)
    if data.in_memory or 2 * data.nbytes <= memory:
        return as_table(data.load()), weights
    most = int(memory / _MEMORY_FRACTION / max(data.nbytes / len(data), 1))
    some = np.sort(rng().choice(len(data), min(len(data), max(1, most)), replace=False))
    warn(
        f"{data.source.name} does not fit into memory, so categories, means and variances of its columns are those of "
        f"a sample of {len(some):,} of {len(data):,} rows. Categories that are not in the sample count as missing."
    )
    return as_table(data.take(some)), weights[some]


def _column(table: Table, name: Any, table_name: str = "X") -> Column:
    if name not in table.columns:
        known = listed(map(repr, table.names), 20)
        raise DataError(f"{table_name} has no column {name!r}. Its columns are {known}.", column=str(name))
    return table.columns[name]


def _checked_column(table: Table, name: Any, kind: ColumnKind) -> Column:
    column = _column(table, name)
    kind.check(column, name, "X")
    return column


def _fit_column(
    kind: ColumnKind, name: Any, table: Table, weights: NDArray, rng: Generator
) -> tuple[ColumnKind, float]:
    """The kind with all parameters, and its variance in feature space."""
    column = _checked_column(table, name, kind)
    if not is_present(column).any():
        raise DataError(
            f"Column {name!r} has no value in any of the {len(table):,} rows. Leave it out.", column=str(name)
        )
    kind = kind.fit(column, weights, name)
    samples = kind.encode(column)
    kind = kind.resolve_kernel(samples, rng)
    present = kind.present(column)
    block = ColumnBlock(kind.cell_kernel, 1.0, samples, None if present.all() else ~present)
    return kind, _variance(block, weights / weights.sum(), rng)


def _variance(block: ColumnBlock, fractions: NDArray, rng: Generator) -> float:
    """Σw(k(x, x) − mean k), Σw = 1: by exact features if there are any, else from a sample of rows."""
    feature_map = block.kernel.feature_map(block.samples)
    if feature_map is not None:
        features = block.features(feature_map)
        mean = np.asarray(features.T @ fractions).ravel()
        squares = features.multiply(features).sum(axis=1) if sparse.issparse(features) else np.sum(features**2, axis=1)
        mean_square = float(fractions @ np.asarray(squares).ravel())
        variance = mean_square - float(mean @ mean)
    else:
        n = len(fractions)
        some = np.sort(rng().choice(n, _SAMPLE, replace=False)) if n > _SAMPLE else np.arange(n)
        K = block.kernel(block.samples[some], block.samples[some])
        fractions = fractions[some] / fractions[some].sum()
        if block.missing is not None:
            fractions[block.missing[some]] = 0.0
        mean_square = float(fractions @ np.diag(K))
        variance = mean_square - float(fractions @ K @ fractions)
    return variance if variance > _NO_VARIANCE * mean_square else 0.0


def _constant_warnings(variances: Mapping[Any, float], columns: Mapping[Any, ColumnKind]) -> list[str]:
    constant = [name for name, variance in variances.items() if variance == 0]
    strings = [name for name in constant if isinstance(columns[name], String)]
    found = [
        f"All strings of column {name!r} are equal for {columns[name].cell_kernel!r}, or too short for it, so the "
        "column is ignored. Categorical() compares whole strings."
        for name in strings
    ]
    if others := [repr(name) for name in constant if name not in strings]:
        one = len(others) == 1
        found.append(
            f"Column{'' if one else 's'} {joined(others)} {'has' if one else 'have'} the same value in all rows and "
            f"{'is' if one else 'are'} ignored."
        )
    return found


def _quadratic_form(block: ColumnBlock, directions: NDArray) -> NDArray:
    """zᵀKz of every column z."""
    there = directions if block.missing is None else np.where(block.missing[:, None], 0.0, directions)
    feature_map = block.kernel.feature_map(block.samples)
    if feature_map is not None:
        return np.sum(np.asarray(feature_map.transform(block.samples).T @ there) ** 2, axis=0)
    prepared, total = block.kernel.prepare(block.samples), np.zeros(there.shape[1])
    for rows in slices(len(there), _STRIP):
        tile = np.empty((len(there[rows]), len(there)))
        prepared.fill(rows, slice(None), tile)
        total += np.sum(there[rows] * (tile @ there), axis=0)
    return total
