"""A kernel of mixed tables: what every column says, at one scale, added up or multiplied."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from mercer_old.arrays import Array, Held
from mercer_old.errors import in_short, warn_each
from mercer_old.kernels.base import Kernel, Preparing, Tiles, after_shift, summed
from mercer_old.kernels.dot import Linear
from mercer_old.kernels.features import FeatureMap
from mercer_old.kernels.tables.base import Column, said
from mercer_old.kernels.tables.guess import guess_columns
from mercer_old.kernels.tables.learning import about_constant, cells_of, learned_column
from mercer_old.kernels.tables.parts import Part, TableMap, TableTiles, quadratic
from mercer_old.kernels.tables.things import Text, as_column
from mercer_old.rounding import gamma
from mercer_old.sources.cells import gaps_of_kind, kind_of
from mercer_old.sources.frames import Columns, as_columns
from mercer_old.sources.items import Items

_COMPOSE = ("sum", "product")
_DENSE = 256  # numbers of a row up to which zeros among them are kept


@dataclass(frozen=True, repr=False)
class TableKernel(Kernel):
    """k(x, y) = Σ k_c(x, y)/v_c over the columns c of a table, v_c the variance of k_c: all columns count the same.

    Parameters
    ----------
    columns : dict, default=None
        For every column that counts, what it is: `Numeric`, `Category`, `Ordinal`, `Date`, `Sets`, or a kernel of its
        texts or numbers. None: as `TableKernel.auto` would say of the table of the fit.
    compose : {"sum", "product"}, default="sum"
        "product" is Π (1 + k_c(x, y)/(m·v_c)) over m columns: the sum, and what columns say together.
    balanced : bool, default=True
        False leaves out v_c, which makes kernel PCA the factor analysis of mixed data (FAMD), of categories alone
        multiple correspondence analysis: a column of many categories counts more.
    variances : dict, default=None
        v_c, learned from the table of the fit: the trace of the centred kernel matrix over its number of rows.
    """

    columns: Mapping[Any, Any] | None = None
    compose: str = "sum"
    balanced: bool = True
    variances: Mapping[Any, float] | None = None

    def __post_init__(self) -> None:
        if self.compose not in _COMPOSE:
            raise ValueError(f"compose must be one of {', '.join(_COMPOSE)}; got {in_short(self.compose)}.")
        if self.columns is None:
            return
        if not isinstance(self.columns, Mapping) or not self.columns:
            raise ValueError(
                'columns is a dict of at least one column, such as {"mass": Numeric(), "species": Category()}; got '
                f"{in_short(self.columns)}."
            )
        for name, kind in self.columns.items():
            as_column(kind, name)

    @classmethod
    def auto(cls, X: Any) -> "TableKernel":
        """A kernel of all columns of a table that tell rows apart, each by what it holds; print it to see.

        Numbers are Numeric, dates Date, lists and sets Sets; what the frame calls ordered categories is Ordinal, other
        categories and truth values Category. Text is Category if its values come five times each on average, or twice
        if there are at most 12 different ones, or if none has three letters; else Spectrum(3). Left out, with a
        warning, are columns that are the same in all rows, columns that number the rows, codes that are all different,
        and what cannot be compared.
        """
        columns, notes = guess_columns(as_columns(X), getattr(X, "label", "X"))
        warn_each(notes)
        return cls(columns)

    def __hash__(self) -> int:
        return hash((frozenset(self.columns or ()), self.compose, self.balanced))

    def __repr__(self) -> str:
        return said(self)

    @property
    def takes(self) -> str:
        return "tables"

    @property
    def psd(self) -> bool:
        """Sums and products of Mercer kernels are some; gaps are zeros in feature space."""
        return all(as_column(kind, name).compared_by.psd for name, kind in (self.columns or {}).items())

    def with_params(self, **params: Any) -> Kernel:
        """A changed copy; `columns__mass=Numeric(RBF())` changes one column."""
        inner = {name: params.pop(name) for name in list(params) if name.startswith("columns__")}
        changed = super().with_params(**params) if params else self
        assert isinstance(changed, TableKernel)
        if not inner:
            return changed
        columns = dict(changed.columns or {}) | {name.partition("__")[2]: kind for name, kind in inner.items()}
        return replace(changed, columns=columns, variances=None)

    # ------------------------------------------------------------------ learning

    def resolved(self, X: Held, rng: np.random.Generator) -> Kernel:
        return self.resolved_by(X, rng, None)

    def resolved_by(self, X: Held, rng: np.random.Generator, weights: Array | None) -> Kernel:
        """With the means, counts and variances of a table, of which rows count by their weights."""
        if self.variances is not None:
            return self
        X = as_columns(X)
        asked = self.columns if self.columns is not None else TableKernel.auto(X).columns
        weights = np.ones(len(X)) if weights is None else weights
        columns, variances = {}, {}
        for name, kind in (asked or {}).items():
            columns[name], variances[name] = learned_column(as_column(kind, name), name, X, weights, rng)
        warn_each(about_constant(variances, columns))
        warn_each(kind.about_fit(X.cells[name], name) for name, kind in columns.items())
        return replace(self, columns=columns, variances=variances)

    def admit(self, X: Any, label: str = "X") -> None:
        """Refuse a table that lacks a column or has cells of another kind; tell what the fit has not seen."""
        X = as_columns(X)
        for name, kind in (self.columns or {}).items():
            as_column(kind, name).check(cells_of(X, name, label), name, label)
        if self.variances is not None:
            warn_each(column.about_new(X.cells[name], name) for name, column in self._kinds().items())

    def _kinds(self) -> dict[Any, Column]:
        """The columns that count, with numbers in them."""
        kinds = {name: as_column(kind, name) for name, kind in (self.columns or {}).items()}
        if self.variances is None or not all(kind.is_learned for kind in kinds.values()):
            raise ValueError(
                "This TableKernel has yet to learn the means, counts and variances of its columns: fit a model, whose "
                "kernel_ has them, or take kernel.resolved(table, numpy.random.default_rng(0))."
            )
        return {name: kind for name, kind in kinds.items() if self.variances[name] > 0}

    def _factor(self, name: Any) -> float:
        """1/v_c, over the number of columns in a product."""
        assert self.variances is not None
        factor = 1.0 / self.variances[name] if self.balanced else 1.0
        return factor / len(self.variances) if self.compose == "product" else factor

    # ------------------------------------------------------------------ columns, turned into what kernels compare

    def parts(self, X: Any, apart: bool = False) -> "list[Part]":
        """A part for every column; those that are compared by scalar products, in one if they are added up."""
        X, kinds = as_columns(X), self._kinds()
        join = self.compose == "sum" and not apart
        linear = [name for name, kind in kinds.items() if join and isinstance(kind.compared_by, Linear)]
        parts = [self._joined(X, {name: kinds[name] for name in linear})] if linear or not kinds else []
        return parts + [self._part(X, name, kind) for name, kind in kinds.items() if name not in linear]

    def _part(self, X: Columns, name: Any, kind: Column) -> "Part":
        rows, cells = self._rows(X, name, kind), X.cells[name]
        there = None if isinstance(kind.compared_by, Linear) else kind.there(cells)
        gone = None if there is None or there.all() else ~there
        return Part(kind.compared_by, self._factor(name), rows, gone, kind.roundings)

    def _rows(self, X: Columns, name: Any, kind: Column) -> Held:
        cells = cells_of(X, name)
        kind.check(cells, name, "X")
        if kind_of(cells) not in kind.takes:  # nothing but gaps, which do not say what they are gaps of
            cells = gaps_of_kind(len(cells), kind.takes[0])
        return kind.rows(cells)

    def _joined(self, X: Columns, kinds: dict[Any, Column]) -> "Part":
        """Rows √(1/v)·r of all columns side by side: their scalar products are the sum."""
        widths = [kind.width for kind in kinds.values()]
        pieces = ((self._rows(X, name, kind), np.sqrt(self._factor(name))) for name, kind in kinds.items())
        behind = max((kind.roundings for kind in kinds.values()), default=0) + 3
        if kinds and self._is_sparse:
            rows = sparse.hstack([sparse.csr_array(rows) * factor for rows, factor in pieces], format="csr")
            return Part(Linear(), 1.0, rows, None, behind)
        out, first = np.zeros((len(X), max(1, sum(widths)))), 0
        for (rows, factor), width in zip(pieces, widths, strict=True):
            np.multiply(rows.toarray() if sparse.issparse(rows) else rows, factor, out=out[:, first : first + width])
            first += width
        return Part(Linear(), 1.0, out, None, behind)

    @property
    def _is_sparse(self) -> bool:
        kinds = [as_column(kind, name) for name, kind in (self.columns or {}).items()]
        width = sum(kind.width for kind in kinds if isinstance(kind.compared_by, Linear))
        return width > _DENSE or any(kind.is_sparse for kind in kinds)

    @property
    def sparse_features(self) -> bool:
        kinds = [as_column(kind, name) for name, kind in (self.columns or {}).items()]
        return self.compose == "sum" and self._is_sparse and all(kind.has_features for kind in kinds)

    # ------------------------------------------------------------------ values

    def block(self, X: Held, Y: Held) -> Array:
        out = np.empty((len(as_columns(X)), len(as_columns(Y))))
        self.prepare(X, Y).fill(slice(None), slice(None), out)
        return out

    def diag(self, X: Held) -> Array:
        return self._composed([part.own(part.kernel.diag(part.rows)) for part in self.parts(X)])

    def prepare(self, X: Held, Y: Held | None = None, shift: float = 0.0, dtype: Any = np.float64) -> Tiles:
        return self._tiles(None, X, Y, shift)

    def prepares(self, X: Held) -> Preparing:
        """Each part by what its own kernel learns of all rows."""
        return partial(self._tiles, [part.kernel.prepares(part.rows) for part in self.parts(X)])

    def _tiles(
        self, ways: "list[Preparing] | None", X: Held, Y: Held | None = None, shift: float = 0.0, dtype: Any = None
    ) -> Tiles:
        """Of parts that are prepared in these ways; None: each by its own kernel, of these rows alone."""
        left = self.parts(X)
        right = left if Y is None else self.parts(Y)
        ways = [part.kernel.prepare for part in left] if ways is None else ways
        return TableTiles(left, right, ways, self.compose == "product", shift)

    def _composed(self, values: list[Array]) -> Array:
        """Of numbers ≥ 0, one for every row and part."""
        if self.compose == "sum":
            return np.asarray(np.sum(values, axis=0))
        return np.asarray(np.prod([1.0 + value for value in values], axis=0))

    def entry_cost(self, d: int) -> float:
        return self._cost(lambda name, kind: kind.width)

    def cost(self, items: Items) -> float:
        """The same, with texts as long as those of these items."""
        table = as_columns(items)
        return self._cost(lambda name, kind: kind.width_of(cells_of(table, name)))

    def _cost(self, width: Callable[[Any, Column], int]) -> float:
        kinds = {name: as_column(kind, name) for name, kind in (self.columns or {}).items()}
        return 5.0 + sum(2.0 + kind.compared_by.entry_cost(width(name, kind)) for name, kind in kinds.items())

    # ------------------------------------------------------------------ features

    def feature_map(self, X: Held) -> "TableMap | None":
        if self.compose == "product":
            return None
        few = not any(isinstance(kind, Text) for kind in self._kinds().values())  # all else has nothing to learn
        parts = self.parts(as_columns(X)[:1] if few else X)
        behind, maps = 0, list[FeatureMap]()
        for part in parts:
            learned = part.kernel.feature_map(part.rows)
            if learned is None:
                return None
            behind = max(behind, part.behind + 3 + learned.roundings())
            maps.append(learned)
        return TableMap(self, tuple(maps), behind, not self.sparse_features)

    def features(self, X: Held) -> Any:
        learned = self.feature_map(X)
        return None if learned is None else learned.features(X)

    def n_features(self, X: Held) -> int | None:
        learned = self.feature_map(X)
        return None if learned is None else learned.n_features()

    # ------------------------------------------------------------------ rounding

    def sizes(self, X: Held) -> Array:
        return self._composed([part.own(part.kernel.sizes(part.rows)) for part in self.parts(X)])

    def rounding(self, X: Held, weights: Array | None = None, shift: float = 0.0, times: Any = None) -> float:
        """What the parts are off by, and what adding or multiplying them rounds."""
        parts = self.parts(X)
        own = [part.own(part.kernel.sizes(part.rows)) for part in parts]
        off = [
            part.factor * part.kernel.rounding(part.rows, weights) + gamma(part.roundings) * summed(size, weights)
            for part, size in zip(parts, own, strict=True)
        ]
        tops = [1.0 + float(size.max(initial=0.0)) for size in own]
        composed = gamma(len(parts) + 2) * summed(self._composed(own), weights)
        return self._spread(off, tops) + composed + after_shift(as_columns(X), weights, shift)

    def entry_rounding(self, X: Held, Y: Held, dtype: Any = np.float64) -> float:
        left, right = self.parts(X), self.parts(Y)
        off, own = [], []
        for x, y in zip(left, right, strict=True):
            own.append(np.sqrt(x.largest() * y.largest()))
            off.append(x.factor * x.kernel.entry_rounding(x.rows, y.rows) + gamma(x.roundings) * own[-1])
        return self._spread(off, [1.0 + size for size in own]) + gamma(len(off) + 2) * float(self._composed(own))

    def _spread(self, off: list[float], tops: list[float]) -> float:
        """Errors of parts as they are in the whole: of a product, each times the most that all the others can be."""
        if self.compose == "sum":
            return float(sum(off))
        return float(sum(error * np.prod(tops) / top for error, top in zip(off, tops, strict=True)))

    # ------------------------------------------------------------------ what each column carries

    def shares(self, X: Any, scores: Array, sample_weight: Any = None) -> dict[Any, Array]:
        """The share of the variance of every component that each column carries.

        Parameters
        ----------
        X : dataframe or dict of columns
            The table of the fit.
        scores : array-like of shape (n_samples, n_components)
            Its scores.
        sample_weight : array-like of shape (n_samples,), default=None
            As of the fit.

        Returns
        -------
        shares : dict
            For every column an array of n_components numbers; over the columns they sum up to 1.
        """
        if self.compose == "product":
            raise ValueError("Columns that are multiplied carry no shares of their own; compose='sum' has them.")
        X = as_columns(X)
        scores = np.asarray(scores, dtype=np.float64)
        if scores.ndim != 2 or len(scores) != len(X):
            raise ValueError(f"scores has the shape {scores.shape}, and X {len(X):,} rows.")
        weights = np.ones(len(X)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        loads = weights[:, None] * (scores - weights @ scores / weights.sum())
        carried = {name: np.zeros(scores.shape[1]) for name in self.columns or ()}
        for name, part in zip(self._kinds(), self.parts(X, apart=True), strict=True):
            carried[name] = part.factor * quadratic(part, loads)
        whole = np.sum(list(carried.values()), axis=0)
        return {name: np.divide(c, whole, out=np.zeros_like(c), where=whole > 0) for name, c in carried.items()}
