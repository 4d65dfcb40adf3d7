"""Plans and certificates in model files: what was done and what is proven, as values and as people read them."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np

from mercer_old.arrays import Array
from mercer_old.errors import in_short
from mercer_old.plans.plan import Plan
from mercer_old.plans.share import Share
from mercer_old.store.names import CERTIFICATES, SOLVERS
from mercer_old.store.reasons import Unusable
from mercer_old.store.values import Packing, Unpacking

__all__ = ["certificate_from", "certificate_in", "plan_from", "plan_in"]

_FEW = 32  # numbers of an array that are written into the header


def plan_in(packing: Packing, plan: Plan | None) -> Any:
    """A plan as JSON, with the words that `inspect` shows."""
    if plan is None:
        return None
    parts = {part.name: getattr(plan, part.name) for part in fields(plan)}
    solver, share, few = parts.pop("solver"), parts.pop("components"), parts.pop("few")
    return {
        "says": str(plan),
        "solver": _dataclass_in(packing, solver, SOLVERS),
        "components": None if share is None else _fields_of(packing, share),
        "few": plan_in(packing, few),
        "with": {name: packing.value(f"plan.{name}", value) for name, value in parts.items()},
    }


def plan_from(unpacking: Unpacking, tree: Any) -> Plan | None:
    if tree is None:
        return None
    try:
        share = tree["components"]
        return Plan(
            solver=_dataclass_from(unpacking, tree["solver"], SOLVERS),
            components=None if share is None else Share(**_values_of(unpacking, share)),
            few=plan_from(unpacking, tree["few"]),
            **_values_of(unpacking, tree["with"]),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise Unusable(f"it holds a plan that makes no sense: {in_short(error)}") from None


def certificate_in(packing: Packing, proof: Any) -> Any:
    """A certificate as JSON, with its sentences."""
    if proof is None:
        return None
    return {"says": str(proof).splitlines()} | _dataclass_in(packing, proof, CERTIFICATES)


def certificate_from(unpacking: Unpacking, tree: Any) -> Any:
    if tree is None:
        return None
    try:
        return _dataclass_from(unpacking, tree, CERTIFICATES)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise Unusable(f"it holds a certificate that makes no sense: {in_short(error)}") from None


# ---------------------------------------------------------------------- dataclasses of a closed list


def _dataclass_in(packing: Packing, value: Any, known: Mapping[str, type]) -> dict[str, Any]:
    assert known.get(type(value).__name__) is type(value), f"{type(value).__name__} is in no list of store/names.py"
    return {"name": type(value).__name__, "with": _fields_of(packing, value)}


def _fields_of(packing: Packing, value: Any) -> dict[str, Any]:
    return {part.name: _part_in(packing, part.name, getattr(value, part.name)) for part in fields(value)}


def _part_in(packing: Packing, name: str, value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return _array_in(packing, name, value)
    if type(value).__name__ in SOLVERS | CERTIFICATES:
        return {"is": "part"} | _dataclass_in(packing, value, SOLVERS | CERTIFICATES)
    if isinstance(value, tuple):
        return {"is": "tuple", "of": [_part_in(packing, f"{name}.{i}", inner) for i, inner in enumerate(value)]}
    return packing.value(f"certificate.{name}", value)


def _array_in(packing: Packing, name: str, array: Array) -> Any:
    """A few numbers in the header, where a graph in many parts would have many tensors; more of them in a tensor."""
    if array.ndim == 1 and len(array) <= _FEW:
        of = [packing.value(name, number) for number in array.tolist()]
        return {"is": "few", "dtype": array.dtype.name, "of": of}
    tensor, number = f"certificate.{name}", 1
    while packing.prefix + tensor in packing.tensors:  # of another part
        tensor, number = f"certificate.{name}.{number}", number + 1
    return packing.value(tensor, array)


def _dataclass_from(unpacking: Unpacking, tree: Any, known: Mapping[str, type]) -> Any:
    if tree["name"] not in known:
        raise ValueError(f"{in_short(tree['name'])} is none that is known")
    return known[tree["name"]](**_values_of(unpacking, tree["with"]))


def _values_of(unpacking: Unpacking, tree: Any) -> dict[str, Any]:
    return {name: _part_from(unpacking, inner) for name, inner in tree.items()}


def _part_from(unpacking: Unpacking, tree: Any) -> Any:
    kind = tree.get("is") if isinstance(tree, dict) else None
    if kind == "few":
        if tree["dtype"] not in ("float64", "float32", "int64", "bool"):
            raise ValueError(f"numbers are of the unknown kind {in_short(tree['dtype'])}")
        return np.array([unpacking.value(number) for number in tree["of"]], dtype=tree["dtype"])
    if kind == "part":
        return _dataclass_from(unpacking, tree, SOLVERS | CERTIFICATES)
    if kind == "tuple":
        return tuple(_part_from(unpacking, inner) for inner in tree["of"])
    return unpacking.value(tree)
