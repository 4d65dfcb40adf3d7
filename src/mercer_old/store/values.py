"""Values as JSON and tensors, and back: numbers, texts, containers, rows of every kind, series, tables, kernels.

JSON has few kinds of values; any other is an object whose entry "is" names its kind, of a closed list. Arrays go to
tensors, which the object names.
"""

import datetime
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from decimal import Decimal
from itertools import pairwise
from math import isfinite
from typing import Any

import numpy as np
from scipy import sparse

from mercer_old.arrays import Array
from mercer_old.errors import MercerError, WrongUse, in_short
from mercer_old.kernels.base import Kernel
from mercer_old.kernels.tables.base import Column
from mercer_old.sources.cells import Coded, Odd
from mercer_old.sources.frames import Columns
from mercer_old.store.layout import as_stored, has_place
from mercer_old.store.names import COLUMNS, KERNELS
from mercer_old.store.reasons import Unusable

__all__ = ["Packing", "Unpacking"]

_FEW = 32  # things that are written into the header; more of them go to a tensor
_SPARSE = {"csr_array": sparse.csr_array, "csr_matrix": sparse.csr_matrix}
_PLAIN = (str, bool, int, type(None))


def _refused(name: str, why: str) -> WrongUse:
    return WrongUse(f"This model cannot be saved: {name} {why}")


@dataclass
class Packing:
    """Turns values into JSON, and gathers the tensors that it names."""

    tensors: dict[str, Array] = field(default_factory=dict)
    prefix: str = ""  # of the names of tensors: a model within another has one

    def within(self, name: str) -> "Packing":
        """The same for a part with names of its own."""
        return Packing(self.tensors, f"{self.prefix}{name}.")

    def value(self, name: str, value: Any) -> Any:
        """JSON for a value that is known by this name."""
        if isinstance(value, np.generic) and not isinstance(value, (np.datetime64, np.timedelta64)):
            value = value.item()
        if isinstance(value, _PLAIN):
            return value
        if isinstance(value, float):
            return value if isfinite(value) else {"is": "number", "of": repr(value)}
        for kinds, pack in self._ways():
            if isinstance(value, kinds):
                return pack(name, value)
        raise _refused(name, f"is {in_short(value)}, which has no place in a model file.")

    def _ways(self) -> list[tuple[Any, Callable[[str, Any], Any]]]:
        return [
            (np.ndarray, self._array),
            (Columns, self._table),
            (Kernel, self._kernel),
            (Column, self._column),
            (sparse.sparray | sparse.spmatrix, self._sparse),
            (Mapping, self._mapping),
            ((list, tuple, set, frozenset), self._several),
            (bytes, lambda name, value: {"is": "bytes", "of": value.hex()}),
            (np.datetime64, lambda name, value: {"is": "moment", "of": str(value.astype("datetime64[us]"))}),
            (datetime.date, lambda name, value: {"is": _date_kind(value), "of": value.isoformat()}),
            (Decimal, lambda name, value: {"is": "decimal", "of": str(value)}),
        ]

    # ------------------------------------------------------------------ arrays

    def tensor(self, name: str, array: Array) -> str:
        name = self.prefix + name
        assert name not in self.tensors, name
        self.tensors[name] = as_stored(array)
        return name

    def _array(self, name: str, array: Array) -> Any:
        if array.dtype == object:
            return self._things(name, array)
        if array.dtype.kind == "M":
            moments = array.astype("datetime64[us]")
            return {"is": "moments", "of": self.tensor(name, moments.view(np.int64))}
        if array.dtype.kind in "US":
            return self._things(name, array.astype(object)) | {"width": str(array.dtype.str)}
        if not has_place(array.dtype) or array.ndim > 3:
            raise _refused(name, f"is an array of {array.dtype}, which has no place in a model file.")
        layout = {"by": "columns"} if array.flags.fnc else {}
        return {"is": "array", "of": self.tensor(name, array)} | layout

    def _sparse(self, name: str, rows: Any) -> Any:
        kind = type(rows).__name__
        if kind not in _SPARSE:
            rows = sparse.csr_array(rows) if isinstance(rows, sparse.sparray) else sparse.csr_matrix(rows)
            kind = type(rows).__name__
        parts = {part: self.value(f"{name}.{part}", getattr(rows, part)) for part in ("data", "indices", "indptr")}
        return {"is": "sparse", "kind": kind, "shape": list(rows.shape)} | parts

    def _things(self, name: str, array: Array) -> Any:
        """An array of texts or of series; of other objects, nobody knows what they are."""
        things = array.ravel().tolist()
        if array.ndim == 1 and all(isinstance(thing, (str, bytes)) for thing in things):
            return {"is": "texts"} | self._texts(name, things)
        if array.ndim == 1 and all(isinstance(thing, np.ndarray) and thing.ndim == 2 for thing in things) and things:
            steps = np.concatenate(things)
            return {
                "is": "series",
                "of": self.tensor(name, steps),
                "lengths": self.tensor(f"{name}.lengths", np.array([len(one) for one in things], dtype=np.int64)),
            }
        raise _refused(name, f"holds {in_short(things[:1])}, which has no place in a model file.")

    def _texts(self, name: str, texts: list[str | bytes]) -> dict[str, str]:
        """Bytes of all texts, and their lengths; a text that is bytes has a length below zero, minus one."""
        raw = [text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass") for text in texts]
        lengths = [~len(some) if isinstance(text, bytes) else len(some) for text, some in zip(texts, raw, strict=True)]
        return {
            "of": self.tensor(name, np.frombuffer(b"".join(raw), dtype=np.uint8)),
            "lengths": self.tensor(f"{name}.lengths", np.array(lengths, dtype=np.int64)),
        }

    def _table(self, name: str, table: Columns) -> Any:
        columns = [
            [self.value(name, label), self._cells(f"{name}.{number}", cells)]
            for number, (label, cells) in enumerate(table.cells.items())
        ]
        return {"is": "table", "rows": table.count, "columns": columns, "orders": self.value(f"{name}.o", table.orders)}

    def _cells(self, name: str, cells: Any) -> Any:
        if isinstance(cells, Odd):
            return {"is": "odd", "rows": cells.count, "why": cells.why}
        if isinstance(cells, Coded):
            codes = self.value(f"{name}.codes", cells.codes)
            return {"is": "coded", "kind": cells.kind, "codes": codes, "of": self.value(name, cells.values.tolist())}
        return self.value(name, cells)

    # ------------------------------------------------------------------ containers

    def _several(self, name: str, values: Any) -> Any:
        kind = type(values).__name__
        values = sorted(values, key=repr) if isinstance(values, (set, frozenset)) else list(values)
        if len(values) > _FEW and {type(value) for value in values} == {str}:
            return {"is": "many", "kind": kind} | self._texts(name, values)
        if len(values) > _FEW and (numbers := _as_numbers(values)) is not None:
            return {"is": "many", "kind": kind, "of": self.tensor(name, numbers)}
        of = [self.value(f"{name}.{number}", value) for number, value in enumerate(values)]
        return of if kind == "list" else {"is": kind, "of": of}

    def _mapping(self, name: str, values: Any) -> Any:
        names, inner = list(values), list(values.values())
        return {"is": "dict", "names": self.value(f"{name}.names", names), "of": self.value(f"{name}.of", inner)}

    # ------------------------------------------------------------------ kernels

    def _kernel(self, name: str, kernel: Kernel) -> Any:
        return {"is": "kernel"} | self._named(name, kernel, KERNELS)

    def _column(self, name: str, column: Column) -> Any:
        return {"is": "column"} | self._named(name, column, COLUMNS)

    def _named(self, name: str, value: Any, known: Mapping[str, type]) -> dict[str, Any]:
        kind = type(value).__name__
        if known.get(kind) is not type(value):
            raise _refused(
                name,
                f"is {in_short(value)}, which runs code of yours that a model file cannot hold: save with a kernel of "
                'mercer.kernels, or fit with kernel="precomputed" and the matrix.',
            )
        parts = {part.name: getattr(value, part.name) for part in fields(value)}  # type: ignore[arg-type]
        return {"name": kind, "with": {part: self.value(f"{name}.{part}", inner) for part, inner in parts.items()}}


def _as_numbers(values: list[Any]) -> Array | None:
    """Many numbers of one kind as a tensor."""
    kinds = {type(value) for value in values}
    if kinds == {float}:
        return np.array(values)
    whole = kinds == {int} and all(-(2**63) <= value < 2**63 for value in values)
    return np.array(values, dtype=np.int64) if whole else None


def _date_kind(value: datetime.date) -> str:
    return "datetime" if isinstance(value, datetime.datetime) else "date"


class Unpacking:
    """Turns JSON back into values, with tensors that `read(name, by_columns)` finds; what makes no sense is refused."""

    def __init__(self, read: Callable[[str, bool], Array]) -> None:
        self._read = read

    def value(self, tree: Any) -> Any:
        if isinstance(tree, (*_PLAIN, float)):
            return tree
        if isinstance(tree, list):
            return [self.value(inner) for inner in tree]
        kind = tree.get("is") if isinstance(tree, dict) else None
        way = self._WAYS.get(kind) if isinstance(kind, str) else None
        if way is None:
            raise Unusable(f"it holds a value of an unknown kind, {in_short(kind)}")
        try:
            return way(self, tree)
        except (MercerError, Unusable):
            raise
        except (KeyError, TypeError, ValueError, OverflowError, AttributeError, ArithmeticError) as error:
            raise Unusable(f"it holds {kind} that makes no sense: {in_short(error)}") from None

    def tensor(self, name: Any, kinds: str = "biuf", axes: int | None = None, by_columns: bool = False) -> Array:
        if not isinstance(name, str):
            raise ValueError("a tensor has no name")
        array = self._read(name, by_columns)
        if array.dtype.kind not in kinds or (axes is not None and array.ndim != axes):
            raise ValueError(f"the tensor {in_short(name)} is of {array.dtype} and has {array.ndim} axes")
        return array

    def _array(self, tree: Any) -> Array:
        return self.tensor(tree["of"], by_columns=tree.get("by") == "columns")

    def _sparse(self, tree: Any) -> Any:
        n, d = (_size(size) for size in tree["shape"])
        data, indices, indptr = (self.value(tree[part]) for part in ("data", "indices", "indptr"))
        if any(not isinstance(part, np.ndarray) or part.ndim != 1 for part in (data, indices, indptr)):
            raise ValueError("rows need three arrays")
        if indices.dtype.kind not in "iu" or indptr.dtype.kind not in "iu" or len(indptr) != n + 1:
            raise ValueError(f"{n} rows need {n + 1} places where they begin")
        if indptr[0] != 0 or indptr[-1] != len(indices) or len(data) != len(indices) or (np.diff(indptr) < 0).any():
            raise ValueError("rows do not begin where the ones before them end")
        if len(indices) and not 0 <= int(indices.min()) <= int(indices.max()) < d:
            raise ValueError(f"a number stands in a column beyond the {d} there are")
        return _SPARSE[tree["kind"]]((data, indices, indptr), shape=(n, d))

    def _texts_of(self, tree: Any) -> list[Any]:
        raw, lengths = self.tensor(tree["of"], "u", 1).tobytes(), self.tensor(tree["lengths"], "i", 1)
        sizes = np.where(lengths < 0, ~lengths, lengths)
        ends = _ends(sizes, len(raw))
        some = (raw[start:end] for start, end in pairwise(ends))
        return [
            one if length < 0 else one.decode("utf-8", "surrogatepass")
            for one, length in zip(some, lengths.tolist(), strict=True)
        ]

    def _texts(self, tree: Any) -> Array:
        texts = self._texts_of(tree)
        out = np.empty(len(texts), dtype=object)
        out[:] = texts
        if "width" not in tree:
            return out
        dtype = np.dtype(str(tree["width"]))
        if dtype.kind not in "US" or dtype.itemsize > 4 * max(1, *(len(text) for text in texts), 1):
            raise ValueError("texts are wider than they are long")
        return out.astype(dtype)

    def _series(self, tree: Any) -> Array:
        steps, lengths = self.tensor(tree["of"], "f", 2), self.tensor(tree["lengths"], "i", 1)
        ends = _ends(lengths, len(steps))
        out = np.empty(len(lengths), dtype=object)
        out[:] = [steps[start:end] for start, end in pairwise(ends)]
        return out

    def _moments(self, tree: Any) -> Array:
        return self.tensor(tree["of"], "i").view("datetime64[us]")

    def _table(self, tree: Any) -> Columns:
        cells = {self.value(label): self.value(column) for label, column in tree["columns"]}
        count = _size(tree["rows"])
        if any(len(column) != count for column in cells.values()):
            raise ValueError(f"a column has no {count} cells")
        return Columns(cells, count, self.value(tree["orders"]))

    def _coded(self, tree: Any) -> Coded:
        codes, values = self.value(tree["codes"]), self.value(tree["of"])
        if not isinstance(codes, np.ndarray) or codes.ndim != 1 or codes.dtype.kind != "i":
            raise ValueError("codes are no whole numbers")
        if len(codes) and not -1 <= int(codes.min()) <= int(codes.max()) < len(values):
            raise ValueError(f"a code is none of the {len(values)} there are")
        if tree["kind"] not in ("text", "truth", "sets"):
            raise ValueError(f"cells are of the unknown kind {in_short(tree['kind'])}")
        things = np.empty(len(values), dtype=object)
        things[:] = values
        return Coded(codes, things, tree["kind"])

    def _odd(self, tree: Any) -> Odd:
        return Odd(_size(tree["rows"]), str(tree["why"]))

    def _several(self, tree: Any) -> Any:
        return _CONTAINERS[tree["is"]](self.value(tree["of"]))

    def _many(self, tree: Any) -> Any:
        values = self._texts_of(tree) if "lengths" in tree else self.tensor(tree["of"], "if", 1).tolist()
        return _CONTAINERS[tree["kind"]](values)

    def _mapping(self, tree: Any) -> dict[Any, Any]:
        return dict(zip(self.value(tree["names"]), self.value(tree["of"]), strict=True))

    def _kernel(self, tree: Any) -> Any:
        return self._named(tree, KERNELS)

    def _column(self, tree: Any) -> Any:
        return self._named(tree, COLUMNS)

    def _named(self, tree: Any, known: Mapping[str, type]) -> Any:
        if tree["name"] not in known:
            raise ValueError(f"{in_short(tree['name'])} is none that is known")
        return known[tree["name"]](**{str(name): self.value(inner) for name, inner in tree["with"].items()})

    def _number(self, tree: Any) -> float:
        if tree["of"] not in ("inf", "-inf", "nan"):
            raise ValueError(f"{in_short(tree['of'])} is no number")
        return float(tree["of"])

    _WAYS: Mapping[str, Callable[["Unpacking", Any], Any]] = {
        "array": _array,
        "bytes": lambda self, tree: bytes.fromhex(tree["of"]),
        "coded": _coded,
        "column": _column,
        "date": lambda self, tree: datetime.date.fromisoformat(tree["of"]),
        "datetime": lambda self, tree: datetime.datetime.fromisoformat(tree["of"]),
        "decimal": lambda self, tree: Decimal(tree["of"]),
        "dict": _mapping,
        "frozenset": _several,
        "kernel": _kernel,
        "many": _many,
        "moment": lambda self, tree: np.datetime64(tree["of"], "us"),
        "moments": _moments,
        "number": _number,
        "odd": _odd,
        "series": _series,
        "set": _several,
        "sparse": _sparse,
        "table": _table,
        "texts": _texts,
        "tuple": _several,
    }


_CONTAINERS: dict[str, Callable[[Any], Any]] = {"tuple": tuple, "set": set, "frozenset": frozenset, "list": list}


def _size(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise ValueError(f"{in_short(value)} is no size")
    return value


def _ends(lengths: Array, total: int) -> list[int]:
    """Where things of these lengths begin and end, one after the other, in so much room."""
    if len(lengths) and (int(lengths.min()) < 0 or int(lengths.max()) > total):
        raise ValueError("a length is beyond all that is there")
    ends = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    if int(ends[-1]) != total:
        raise ValueError(f"lengths sum up to {int(ends[-1]):,}, and there are {total:,}")
    return [int(end) for end in ends]
