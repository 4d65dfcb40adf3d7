"""A graph of ONNX operators that grows node by node. `onnx` is imported here alone, and when it is asked for."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from mercer_old.arrays import Array
from mercer_old.errors import MissingPart, NoRoom

__all__ = ["Graph", "as_file"]

# Of 2021: every operator that is needed is there, also for double precision, and runtimes of that year read the file.
_OPSET, _IR = 15, 8
_MOST = 2**31 - 2**20  # bytes of a file: protobuf ends at two gigabytes


def _onnx() -> Any:
    try:
        import onnx
    except ModuleNotFoundError as missing:
        raise MissingPart("A model in ONNX", missing.name or "onnx", "onnx") from None
    return onnx


@dataclass
class Graph:
    """Nodes and constants of one precision; a name stands for a tensor."""

    dtype: DTypeLike = np.float64  # that its numbers are computed in
    nodes: list[Any] = field(default_factory=list)
    constants: list[Any] = field(default_factory=list)
    prefix: str = ""
    nbytes: int = 0

    def add(self, operator: str, *inputs: str, result: int = 0, **attributes: Any) -> str:
        """The result of an operator; of several, that of this number."""
        name = f"{self.prefix}{operator}_{len(self.nodes)}"
        results = [*(f"{name}_{i}" for i in range(result)), name]
        self.nodes.append(_onnx().helper.make_node(operator, list(inputs), results, name=name, **attributes))
        return name

    def numbers(self, values: Any) -> str:
        """A constant in the precision of the graph."""
        return self._constant(np.asarray(values, dtype=self.dtype))

    def single(self, values: Any) -> str:
        """A constant in single precision."""
        return self._constant(np.asarray(values, dtype=np.float32))

    def whole(self, values: Any) -> str:
        """A constant of whole numbers."""
        return self._constant(np.asarray(values, dtype=np.int64))

    def cast(self, name: str, dtype: DTypeLike) -> str:
        return self.add("Cast", name, to=_onnx().helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))

    def total(self, name: str, axis: int = -1, keep: bool = True) -> str:
        """The sum along an axis."""
        return self.add("ReduceSum", name, self.whole([axis]), keepdims=int(keep))

    def at(self, name: str, *axes: int) -> str:
        """With axes of length one put in."""
        return self.add("Unsqueeze", name, self.whole(axes))

    def swapped(self, name: str, order: tuple[int, ...] = (1, 0)) -> str:
        return self.add("Transpose", name, perm=list(order))

    def repeated(self, x: str, values: Array) -> str:
        """The same numbers (n,) for every row of x (m×n)."""
        shape = self.add("Concat", self.add("Shape", x, end=1), self.whole([len(values)]), axis=0)
        return self.add("Expand", self.numbers(values), shape)

    def scan(self, start: str, sequences: list[str], step: Callable[["Graph", str, list[str]], str]) -> str:
        """What is left of `start` after a step with each of the entries of the sequences, one after the other."""
        helper, kind = _onnx().helper, _kind(self.dtype)
        inner = Graph(self.dtype, prefix=f"{self.prefix}{len(self.nodes)}_")
        state, parts = f"{inner.prefix}state", [f"{inner.prefix}part_{i}" for i in range(len(sequences))]
        out = step(inner, state, parts)
        given = [helper.make_tensor_value_info(name, kind, None) for name in (state, *parts)]
        result = [helper.make_tensor_value_info(out, kind, None)]
        body = helper.make_graph(inner.nodes, "step", given, result, inner.constants)
        self.nbytes += inner.nbytes
        return self.add("Scan", start, *sequences, body=body, num_scan_inputs=len(sequences))

    def _constant(self, array: Array) -> str:
        self.nbytes += array.nbytes
        if self.nbytes > _MOST:
            raise NoRoom(
                f"A file of ONNX holds less than 2 GB, and this model takes more ({self.nbytes / 1e9:.1f} GB so far), "
                'as it keeps its training rows. Fit with eigen_solver="landmark", which keeps few of them.'
            )
        name = f"{self.prefix}constant_{len(self.constants)}"
        self.constants.append(_onnx().numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name


def as_file(graph: Graph, output: str, width: int, components: int, dtype: DTypeLike, notes: dict[str, str]) -> bytes:
    """The bytes of a model with one input, ``X`` (rows × width), and one output, ``scores`` (rows × components)."""
    onnx, kind = _onnx(), _kind(dtype)
    graph.nodes.append(onnx.helper.make_node("Identity", [output], ["scores"], name="scores"))
    whole = onnx.helper.make_graph(
        graph.nodes,
        "mercer",
        [onnx.helper.make_tensor_value_info("X", kind, ["rows", width])],
        [onnx.helper.make_tensor_value_info("scores", kind, ["rows", components])],
        graph.constants,
    )
    model = onnx.helper.make_model(
        whole, opset_imports=[onnx.helper.make_opsetid("", _OPSET)], ir_version=_IR, producer_name="mercer"
    )
    onnx.helper.set_model_props(model, notes)
    onnx.checker.check_model(model)
    return bytes(model.SerializeToString(deterministic=True))


def _kind(dtype: DTypeLike) -> int:
    return int(_onnx().helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))
