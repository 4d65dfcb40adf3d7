"""How one column of a table is compared: numbers, categories, ranks, times, sets and strings.

A kind encodes the cells of a column as numeric vectors, or passes strings on, and a kernel compares those. A
missing cell is similar to nothing: its vector is zero, which for numbers, categories, ranks and times is the mean of
the column.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from mercer.data.dataset import ArrayDataset
from mercer.data.table import Categories, Column, UnusableColumn
from mercer.errors import DataError, ParameterError
from mercer.kernels.base import Generator, Kernel, check_positive
from mercer.kernels.dot import Cosine, Linear
from mercer.storable import storable
from mercer.text import counted, joined, listed, short_repr

_DAY = 86_400_000_000  # microseconds
_CYCLES = ("year", "week", "day")
_DENSE_WIDTH = 64  # numbers of an encoded category up to which zeros are stored
_MIN_CELLS, _UNIQUE = 10, 0.9  # categories that are nearly as many as the cells, of at least ten, compare nothing
_PAIRWISE = 18  # roundings of a sum of 128 numbers, which numpy adds in eight lanes
_PLURALS = dict(numeric="numbers", datetime="dates or times", string="strings", boolean="Booleans", set="sets")
_REMEDIES = {
    "numeric": "Use Numeric().",
    "datetime": "Use Datetime().",
    "string": "Use Categorical() to compare whole strings, or Spectrum(3) to compare their n-grams.",
    "boolean": "Use Categorical().",
    "set": "Use Sets().",
}


def column_type(column: Column) -> str:
    """ "numeric", "datetime", "string", "boolean", "set" or "unusable"."""
    if isinstance(column, UnusableColumn):
        return "unusable"
    return column.type if isinstance(column, Categories) else "datetime" if column.dtype.kind == "M" else "numeric"


def is_present(column: Column) -> NDArray:
    """Which cells are not missing."""
    if isinstance(column, UnusableColumn):
        return np.zeros(len(column), dtype=bool)
    if isinstance(column, Categories):
        return np.asarray(column.codes >= 0)
    return ~(np.isnat(column) if column.dtype.kind == "M" else np.isnan(column))


def concise_repr(value: Any) -> str:
    """The repr of a dataclass without the fields that have their default."""
    own: list[tuple[str, Any, Any]] = [(part.name, getattr(value, part.name), part.default) for part in fields(value)]
    return f"{type(value).__name__}({', '.join(f'{name}={inner!r}' for name, inner, usual in own if inner != usual)})"


class ColumnKind(ABC):
    """How one column of a table is compared. Parameters that are None are estimated from the column of a fit.

    A subclass writes `fit` and `_encode`.

    Attributes
    ----------
    accepts : tuple of str
        Types of columns: "numeric", "datetime", "string", "boolean", "set".
    cell_kernel : Kernel
        The kernel that compares encoded cells.
    width : int
        Numbers of an encoded cell.
    n_roundings : int
        Roundings behind an encoded number, relative to a vector of encoded numbers, if the kernel is linear. Fitted
        parameters count as exact. Other kernels compare the numbers as they are rounded.
    smallest_square : float
        Square of the smallest length of vectors to which the roundings are relative.
    """

    accepts: ClassVar[tuple[str, ...]]
    width = 1
    n_roundings = 3
    smallest_square = 0.0

    @abstractmethod
    def fit(self, column: Any, weights: NDArray, name: Any) -> Self:
        """The kind with its parameters estimated from a column with at least one cell that is present."""

    @abstractmethod
    def _encode(self, column: Any) -> Any:
        """`encode` for a column of an accepted type."""

    @property
    def is_fitted(self) -> bool:
        """Whether all parameters are known."""
        return all(getattr(self, part.name) is not None for part in fields(self) if part.name != "kernel")  # type: ignore[arg-type]

    @property
    def cell_kernel(self) -> Kernel:
        return getattr(self, "kernel", None) or Linear()

    def encode(self, column: Column) -> Any:
        """What the kernel compares: vectors, dense or CSR, with zeros for missing cells, or strings."""
        if column_type(column) not in self.accepts:  # `check` has found that all cells are missing
            column = _missing_column(len(column), self.accepts[0])
        return self._encode(column)

    def present(self, column: Column) -> NDArray:
        """Which cells can be compared."""
        return is_present(column)

    def resolve_kernel(self, samples: Any, rng: Generator) -> Self:
        """With the parameters of its kernel resolved from encoded cells."""
        kernel: Kernel | None = getattr(self, "kernel", None)
        if kernel is None:
            return self
        data = ArrayDataset(samples, kernel.input_kind)  # type: ignore[arg-type]
        return replace(self, kernel=kernel.resolve(data, rng))  # type: ignore[type-var]

    def check(self, column: Column, name: Any, table_name: str) -> None:
        """Raise for a column that this kind cannot compare."""
        where, found, there = f"Column {name!r} of {table_name}", column_type(column), is_present(column)
        if isinstance(column, UnusableColumn):
            text = f"{where} {column.reason}. Convert it to one type, or leave it out."
            raise DataError(text, source=table_name, column=str(name))
        if found not in self.accepts and there.any():
            row = int(np.argmax(there))
            value = column.values[column.codes[row]] if isinstance(column, Categories) else column[row].item()
            text = (
                f"{where} has {_PLURALS[found]}, such as {short_repr(value, 30)}, but {type(self).__name__} needs "
                f"{joined([_PLURALS[one] for one in self.accepts], 'or')}. {_REMEDIES[found]}"
            )
            raise DataError(text, source=table_name, row=row, column=str(name), value=value)
        if found == "numeric" and np.isinf(_numbers(column)).any():
            row = int(np.argmax(np.isinf(_numbers(column))))
            value = float(_numbers(column)[row])
            text = f"{where} has an infinite value ({value}) at row index {row}. Replace it by NaN."
            raise DataError(text, source=table_name, row=row, column=str(name), value=value)

    def fit_warning(self, column: Column, name: Any) -> str:
        """What a user should know about the column of the fit; usually nothing."""
        return ""

    def new_data_warning(self, column: Column, name: Any) -> str:
        """What a user should know about cells that were not in the fit; usually nothing."""
        return ""

    def __repr__(self) -> str:
        return concise_repr(self)


# ---------------------------------------------------------------------- numbers


@storable
@dataclass(frozen=True, repr=False)
class Numeric(ColumnKind):
    """A column of numbers, standardized: z = (x − mean)/scale.

    Parameters
    ----------
    kernel : Kernel, default=None
        Kernel on vectors that compares z, such as ``RBF(gamma=0.5)``. None: zz'.
    mean, scale : float, default=None
        None: mean and standard deviation of the fit.
    """

    kernel: Kernel | None = None
    mean: float | None = None
    scale: float | None = None

    accepts: ClassVar[tuple[str, ...]] = ("numeric",)

    def __post_init__(self) -> None:
        _check_vector_kernel(self)
        if self.mean is not None and (not isinstance(self.mean, Real) or not abs(self.mean) < np.inf):
            raise ParameterError("mean", self.mean, "a finite number")
        if self.scale is not None:
            check_positive("scale", self.scale, zero=True)

    def fit(self, column: Any, weights: NDArray, name: Any) -> Self:
        values = _numbers(column)
        there = ~np.isnan(values)
        mean, scale = _mean_and_scale(values[there], weights[there], name)
        return replace(
            self, mean=mean if self.mean is None else self.mean, scale=scale if self.scale is None else self.scale
        )

    def _encode(self, column: Any) -> NDArray:
        return _standardize(_numbers(column), self.mean, self.scale)[:, None]


def _check_vector_kernel(kind: Any) -> None:
    if kind.kernel is not None and not (isinstance(kind.kernel, Kernel) and kind.kernel.input_kind == "vectors"):
        wanted = f"a kernel on vectors for {type(kind).__name__}, such as RBF(gamma=0.5)"
        raise ParameterError("kernel", kind.kernel, wanted)


def _numbers(column: Any) -> NDArray:
    """float64 with NaN, also for numbers that the frame declares as categories."""
    if isinstance(column, Categories):
        return np.append(column.values.astype(np.float64), np.nan)[column.codes]
    return np.asarray(column, dtype=np.float64)


def _standardize(values: NDArray, mean: Any, scale: Any) -> NDArray:
    """(x − mean)/scale; 0 for missing values, and for all if the scale is 0."""
    z = values - mean
    z = z / scale if scale > 0 else np.zeros_like(z)
    z[np.isnan(values)] = 0.0
    return z


def _mean_and_scale(values: NDArray, weights: NDArray, name: Any) -> tuple[float, float]:
    """Weighted mean and standard deviation, exactly 0 for equal values; no square over- or underflows."""
    if values.min() == values.max():
        return float(values[0]), 0.0
    fractions = weights / weights.sum()
    with np.errstate(over="ignore"):
        mean = float(values[0] + fractions @ (values - values[0]))
        deviations = values - mean
    largest = float(np.abs(deviations).max())
    if not np.isfinite(largest):
        ends = f"{values.min():.3g} to {values.max():.3g}"
        text = f"Column {name!r} has values from {ends}, whose difference overflows. Divide it by a power of 10."
        raise DataError(text, column=str(name))
    return mean, largest * float(np.sqrt(fractions @ (deviations / largest) ** 2))


# ---------------------------------------------------------------------- categories


class _KindOfCategories(ColumnKind):
    """Columns of categories; new cells may be in none of them."""

    accepts: ClassVar[tuple[str, ...]] = ("string", "boolean", "numeric", "datetime")

    @abstractmethod
    def _known(self) -> Sequence[Any]:
        """The categories of the fit."""

    def present(self, column: Column) -> NDArray:
        return self._places(column) >= 0

    def _places(self, column: Column) -> NDArray:
        return _find(*_labeled(column), self._known())

    def new_data_warning(self, column: Column, name: Any) -> str:
        unseen = np.flatnonzero(is_present(column) & (self._places(column) < 0))
        if not len(unseen):
            return ""
        codes, labels = _labeled(column)
        which = listed(map(short_repr, dict.fromkeys(labels[code] for code in codes[unseen].tolist())))
        return (
            f"Column {name!r} has {counted(len(unseen), 'cell')} with categories that were not in the fit ({which}). "
            "They count as missing."
        )


@storable
@dataclass(frozen=True, repr=False)
class Categorical(_KindOfCategories):
    """A column of categories: k(a, b) = [a = b]/p_a − 1, with p_a the fraction of cells in category a.

    This is the coding of multiple correspondence analysis: rare categories count more. A category that was not in
    the fit counts as missing.

    Parameters
    ----------
    counts : dict, default=None
        Number of cells in each category. None: those of the fit.
    """

    counts: Mapping[Any, float] | None = None

    def __post_init__(self) -> None:
        for label, count in (self.counts or {}).items():
            check_positive(f"counts[{label!r}]", count)

    def __hash__(self) -> int:
        return hash(frozenset((self.counts or {}).items()))

    @property
    def width(self) -> int:  # type: ignore[override]
        return max(1, len(self.counts or {}) - 1)

    @property
    def n_roundings(self) -> int:  # type: ignore[override]
        """Four sums of counts, which numpy adds pairwise, under a root."""
        m = len(self.counts or {})
        return 2 * min(m, _PAIRWISE + m.bit_length()) + 4

    def fit(self, column: Any, weights: NDArray, name: Any) -> Self:
        if self.counts is not None:
            return self
        codes, labels = _labeled(column)
        counts = np.bincount(codes[codes >= 0], weights[codes >= 0], len(labels)).tolist()
        return replace(self, counts={label: _integral(c) for label, c in zip(labels, counts, strict=True) if c > 0})

    def _encode(self, column: Any) -> Any:
        contrasts = category_contrasts(tuple((self.counts or {}).values()))
        places = self._places(column)
        return contrasts[places] if self.width > _DENSE_WIDTH else contrasts.toarray()[places]

    def _known(self) -> list[Any]:
        return list(self.counts or {})

    def fit_warning(self, column: Column, name: Any) -> str:
        n_categories, n_cells = len(self.counts or {}), int(self.present(column).sum())
        if n_cells < _MIN_CELLS or n_categories < _UNIQUE * n_cells:
            return ""
        instead = "Numeric()" if column_type(column) == "numeric" else "Spectrum(3), which compares n-grams"
        return (
            f"Column {name!r} has {n_categories:,} categories in {counted(n_cells, 'row')}, so hardly any two rows "
            f"have the same. Leave it out, or try {instead}."
        )


@lru_cache(maxsize=256)  # every block of rows asks for the same
def category_contrasts(counts: tuple[float, ...]) -> sparse.csr_array:
    """H, m × (m − 1) and a row of zeros below, with h(a)ᵀh(b) = [a = b]/p_a − 1 and p = counts/total.

    Every inner node of a balanced tree over the categories is a column: one positive number for all categories on its
    left, one negative for those on its right. Weighted by p, columns have mean 0, variance 1 and are uncorrelated;
    with the constant they are a basis, hence the products. A category has at most ⌈log₂ m⌉ entries, and no sum
    cancels.
    """
    sizes = np.array(counts, dtype=np.float64)
    total, columns = float(sizes.sum()), []
    nodes = [(0, len(counts))]
    while nodes:
        first, last = nodes.pop()
        if last - first < 2:
            continue
        middle = (first + last) // 2
        left, right = sizes[first:middle].sum(), sizes[middle:last].sum()
        values = np.empty(last - first)
        values[: middle - first] = np.sqrt(total * right / (left * (left + right)))
        values[middle - first :] = -np.sqrt(total * left / (right * (left + right)))
        columns.append((first, values))
        nodes += [(middle, last), (first, middle)]
    if not columns:
        return sparse.csr_array((len(counts) + 1, 1))
    lengths = [len(values) for _, values in columns]
    rows = np.concatenate([np.arange(first, first + len(values)) for first, values in columns])
    data = np.concatenate([values for _, values in columns])
    numbers = np.repeat(np.arange(len(columns)), lengths)
    return sparse.csr_array((data, (rows, numbers)), shape=(len(counts) + 1, len(columns)))


def _labeled(column: Any) -> tuple[NDArray, list[Any]]:
    """Codes of categories, −1 for missing cells, and their labels; integral numbers are integers."""
    if isinstance(column, Categories):
        return column.codes, [_integral(v) if isinstance(v, float) else v for v in column.values.tolist()]
    there = is_present(column)
    labels, inverse = np.unique(column[there], return_inverse=True)
    codes = np.full(len(column), -1)
    codes[there] = inverse
    return codes, [_integral(label) if isinstance(label, float) else label for label in labels.tolist()]


def _find(codes: NDArray, labels: Sequence[Any], known: Sequence[Any]) -> NDArray:
    """Places of the categories among the known ones; −1 for others."""
    places = {label: i for i, label in enumerate(known)}
    return np.array([*(places.get(label, -1) for label in labels), -1])[codes]


def _integral(number: float) -> float:
    return int(number) if number == int(number) else float(number)


@storable
@dataclass(frozen=True, repr=False)
class Ordinal(_KindOfCategories):
    """A column of ordered categories: each is its mean rank among the cells of the fit, standardized.

    Parameters
    ----------
    order : sequence, default=None
        Categories from the lowest to the highest. None: the order of the numbers, or that which the frame declares.
    kernel : Kernel, default=None
        Kernel on vectors that compares the ranks z. None: zz'.
    counts : sequence of float, default=None
        Number of cells in each category. None: those of the fit.
    """

    order: Sequence[Any] | None = None
    kernel: Kernel | None = None
    counts: Sequence[float] | None = None

    n_roundings = 16  # of ranks of variance 1 and their mean
    smallest_square = 1.0

    def __post_init__(self) -> None:
        _check_vector_kernel(self)
        if self.order is not None and len(set(self.order)) < max(1, len(self.order)):
            raise ParameterError("order", self.order, "a list of categories, each once")

    def __hash__(self) -> int:
        return hash((tuple(self.order or ()), self.kernel, tuple(self.counts or ())))

    def fit(self, column: Any, weights: NDArray, name: Any) -> Self:
        codes, labels = _labeled(column)
        order = tuple(self.order if self.order is not None else _declared_order(column, labels, name))
        places = _find(codes, labels, order)
        unknown = np.flatnonzero((codes >= 0) & (places < 0))
        if len(unknown):
            row, value = int(unknown[0]), labels[codes[unknown[0]]]
            text = (
                f"Column {name!r} has {short_repr(value)} at row index {row}, which is not in the order of its "
                f"Ordinal: {listed(map(short_repr, order), 10)}."
            )
            raise DataError(text, row=row, column=str(name), value=value)
        counts = np.bincount(places[places >= 0], weights[places >= 0], len(order))
        return replace(self, order=order, counts=tuple(map(_integral, counts.tolist())))

    def _encode(self, column: Any) -> NDArray:
        return np.append(self._scores(), 0.0)[self._places(column)][:, None]

    def _known(self) -> Sequence[Any]:
        return self.order or ()

    def _scores(self) -> NDArray:
        """Mean rank of each category: the cells below it and half of its own; of mean 0 and variance 1."""
        counts = np.array(self.counts, dtype=np.float64)
        ranks = np.cumsum(counts) - counts / 2
        mean = counts @ ranks / counts.sum()
        scale = np.sqrt(counts @ (ranks - mean) ** 2 / counts.sum()) if np.sum(counts > 0) > 1 else 0.0
        return _standardize(ranks, mean, scale)


def _declared_order(column: Any, labels: list[Any], name: Any) -> list[Any]:
    """Numbers and times have an order; strings only if the frame declares it."""
    if isinstance(column, Categories) and column.type == "string" and not column.ordered:
        text = (
            f"Column {name!r} has strings, whose order is not known. List them from the lowest to the highest: "
            f"Ordinal([{listed(map(repr, labels), 3)}])."
        )
        raise DataError(text, column=str(name))
    return labels if not isinstance(column, Categories) or column.ordered else sorted(labels)


# ---------------------------------------------------------------------- times


@storable
@dataclass(frozen=True, repr=False)
class Datetime(ColumnKind):
    """A column of dates or times: standardized days, and the angle in their year, week or day.

    Parameters
    ----------
    cycles : sequence of {"year", "week", "day"}, default=()
        Each adds the cosine and the sine of an angle, so that December is next to January.
    kernel : Kernel, default=None
        Kernel on vectors that compares them. None: the scalar product.
    mean, scale, means
        Mean and standard deviation of the days since 1970, and means of the cosines and sines; set by a fit.
    """

    cycles: Sequence[str] = ()
    kernel: Kernel | None = None
    mean: float | None = None
    scale: float | None = None
    means: Sequence[float] | None = None

    accepts: ClassVar[tuple[str, ...]] = ("datetime",)
    n_roundings = 32  # of angles up to 2π, their cosines and means

    def __post_init__(self) -> None:
        _check_vector_kernel(self)
        if isinstance(self.cycles, str) or any(cycle not in _CYCLES for cycle in self.cycles):
            raise ParameterError("cycles", self.cycles, f"a list of some of {', '.join(_CYCLES)}")

    def __hash__(self) -> int:
        return hash((tuple(self.cycles), self.kernel, self.mean, self.scale, tuple(self.means or ())))

    @property
    def width(self) -> int:  # type: ignore[override]
        return 1 + 2 * len(self.cycles)

    @property
    def smallest_square(self) -> float:  # type: ignore[override]
        return 2.0 * len(self.cycles)  # the mean cancels most of a cosine if all times are close to each other

    def fit(self, column: Any, weights: NDArray, name: Any) -> Self:
        there = is_present(column)
        times, weights = column[there], weights[there]
        first = int(times[0].astype(np.int64))
        mean, scale = _mean_and_scale(_days_since(times, first), weights, name)
        means = tuple((weights @ _waves(times, self.cycles) / weights.sum()).tolist())
        return replace(self, mean=first / _DAY + mean, scale=scale, means=means)

    def _encode(self, column: Any) -> NDArray:
        days = _standardize(_days_since(column, round(float(self.mean or 0) * _DAY)), 0.0, self.scale)
        waves = _waves(column, self.cycles) - np.array(self.means)
        waves[~is_present(column)] = 0.0
        return np.column_stack([days, waves])


def _days_since(times: NDArray, origin: int) -> NDArray:
    """Days since a microsecond after 1970; NaN for missing times. Differences of integers cancel no digits."""
    exact, rounded = times.astype(np.int64) - origin, times.astype(np.int64) - float(origin)
    days = np.where(np.abs(rounded) < 2.0**62, exact, rounded) / _DAY  # else the integers overflow
    days[np.isnat(times)] = np.nan
    return days


def _waves(times: NDArray, cycles: Sequence[str]) -> NDArray:
    """Cosine and sine of the angle in every cycle."""
    angles = [2 * np.pi * _phase(times, cycle) for cycle in cycles]
    return np.column_stack([np.empty((len(times), 0)), *(wave(a) for a in angles for wave in (np.cos, np.sin))])


def _phase(times: NDArray, cycle: str) -> NDArray:
    """The fraction of the cycle that has passed; a leap year is longer."""
    if cycle == "year":
        start = times.astype("datetime64[Y]")
        return np.asarray((times - start.astype(times.dtype)) / ((start + 1) - start.astype("datetime64[D]")))
    microseconds = times.astype(np.int64)
    if cycle == "day":
        return np.mod(microseconds, _DAY) / _DAY
    return np.mod(np.mod(microseconds, 7 * _DAY) + 3 * _DAY, 7 * _DAY) / (7 * _DAY)  # 1970 began on a Thursday


# ---------------------------------------------------------------------- sets and strings


@storable
@dataclass(frozen=True, repr=False)
class Sets(ColumnKind):
    """A column of sets, such as tags: |A∩B|/√(|A||B|).

    Parameters
    ----------
    kernel : Kernel, default=None
        Kernel on vectors that compares rows of 0 and 1, such as ``Tanimoto()``. None: ``Cosine()``.
    members : sequence, default=None
        Members that count, one for each entry of a row. None: those of the fit.
    """

    kernel: Kernel | None = None
    members: Sequence[Any] | None = None

    accepts: ClassVar[tuple[str, ...]] = ("set",)
    n_roundings = 0

    def __post_init__(self) -> None:
        _check_vector_kernel(self)

    def __hash__(self) -> int:
        return hash((self.kernel, tuple(self.members or ())))

    @property
    def cell_kernel(self) -> Kernel:
        return self.kernel or Cosine()

    @property
    def width(self) -> int:  # type: ignore[override]
        return max(1, len(self.members or ()))

    def fit(self, column: Any, weights: NDArray, name: Any) -> Self:
        if self.members is not None:
            return self
        used = dict.fromkeys(column.codes[column.codes >= 0].tolist())
        members = dict.fromkeys(member for code in used for member in sorted(column.values[code], key=_member_order))
        return replace(self, members=tuple(members))

    def _encode(self, column: Any) -> sparse.csr_array:
        places = {member: i for i, member in enumerate(self.members or ())}
        known = [sorted(places[member] for member in one if member in places) for one in column.values]
        offsets = np.concatenate([[0], np.cumsum([len(one) for one in known])]).astype(np.int64)
        indices = np.array([place for one in known for place in one], dtype=np.int64)
        sets = sparse.csr_array((np.ones(len(indices)), indices, offsets), shape=(len(known), self.width))
        return sparse.vstack([sets, sparse.csr_array((1, self.width))], format="csr")[column.codes]


def _member_order(member: Any) -> tuple[str, str]:
    """Results must not depend on the order in which Python iterates over a set."""
    return type(member).__name__, str(member)


@storable
@dataclass(frozen=True, repr=False)
class String(ColumnKind):
    """A column of strings. ``columns={"name": Spectrum(3)}`` is short for ``String(Spectrum(3))``.

    Parameters
    ----------
    kernel : Kernel
        Kernel on strings. A missing string is similar to nothing.
    """

    kernel: Kernel

    accepts: ClassVar[tuple[str, ...]] = ("string",)
    n_roundings = 0

    def __post_init__(self) -> None:
        kernel: Any = self.kernel
        if not isinstance(kernel, Kernel) or kernel.input_kind != "strings":
            raise ParameterError("kernel", kernel, "a kernel on strings for String, such as Spectrum(3)")

    def fit(self, column: Any, weights: NDArray, name: Any) -> Self:
        return self

    def _encode(self, column: Any) -> NDArray:
        empty = b"" if len(column.values) and isinstance(column.values[0], bytes) else ""
        return np.append(column.values, [empty])[column.codes]


def as_column_kind(value: Any, name: Any) -> ColumnKind:
    """A kind, or the kernel on strings or vectors that compares the cells."""
    if isinstance(value, ColumnKind):
        return value
    if isinstance(value, Kernel) and value.input_kind == "strings":
        return String(value)
    if isinstance(value, Kernel) and value.input_kind == "vectors":
        return Numeric(value)
    wanted = "Numeric(), Categorical(), Ordinal([…]), Datetime(), Sets(), or a kernel on strings or vectors"
    raise ParameterError(f"columns[{name!r}]", value, f"{wanted}, such as Spectrum(3) or RBF()")


def _missing_column(n: int, type: str) -> Column:
    """Missing cells of a type: an entirely missing column does not show which type it would have."""
    if type in ("numeric", "datetime"):
        return np.full(n, np.nan if type == "numeric" else np.datetime64("NaT", "us"))
    return Categories(np.full(n, -1, dtype=np.int32), np.empty(0, dtype=object), type)
