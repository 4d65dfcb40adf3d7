"""A model as a tree of JSON with tensors beside it, and back."""

from collections.abc import Mapping
from numbers import Integral
from typing import Any

import numpy as np

from mercer_old.errors import WrongUse, in_short, listed, shortened, warn
from mercer_old.store.proofs import certificate_from, certificate_in, plan_from, plan_in
from mercer_old.store.reasons import Unusable
from mercer_old.store.schemas import SCHEMAS, Schema
from mercer_old.store.values import Packing, Unpacking

__all__ = ["as_tree", "from_tree", "sizes_of"]

_MOST_NAMES = 1000  # of columns that are written into the header, where `inspect` shows them


def as_tree(packing: Packing, model: Any) -> dict[str, Any]:
    """What a fitted model is."""
    schema = _schema_of(model)
    facts = schema.checked(schema.take(model))
    tree = {
        "class": type(model).__name__,
        "parameters": _parameters_in(packing, model),
        "feature_names": _names_in(packing, vars(model).get("feature_names_in_")),
        "data": sizes_of(model),
        "fitted": {name: packing.value(name, value) for name, value in facts.items() if value is not None},
        "plan": plan_in(packing, vars(model).get("plan_")),
        "certificate": certificate_in(packing, vars(model).get("certificate_")),
    }
    if schema.inner:
        tree[schema.inner] = as_tree(packing.within(schema.inner), getattr(model, f"{schema.inner}_"))
    return tree


def from_tree(unpacking: Unpacking, tree: Any) -> Any:
    """The model, fitted."""
    if not isinstance(tree, dict):
        raise Unusable("it holds no model")
    schema = _schema_named(tree.get("class"))
    model = _made(unpacking, schema, tree)
    names = unpacking.value(tree.get("feature_names"))
    if names is not None:
        model.feature_names_in_ = _names_from(names)
    if schema.inner:
        inner = from_tree(unpacking, tree.get(schema.inner))
        setattr(model, f"{schema.inner}_", inner)
        if getattr(model, "prefit", False):
            setattr(model, schema.inner, inner)
    fitted = tree.get("fitted")
    if not isinstance(fitted, dict):
        raise Unusable("it says nothing about the fit")
    found = {name: unpacking.value(inner) for name, inner in fitted.items()}
    schema.give(model, schema.checked(found))
    _refuse_other_names(model)
    for name, proof in (("plan_", plan_from), ("certificate_", certificate_from)):
        value = proof(unpacking, tree.get(name.rstrip("_")))
        if value is not None:
            setattr(model, name, value)
    return model


def _schema_of(model: Any) -> Schema:
    schema = SCHEMAS.get(type(model).__name__)
    if schema is None or schema.model is not type(model):
        known = listed(SCHEMAS, most=len(SCHEMAS))
        raise WrongUse(f"{in_short(type(model).__name__)} has no place in a model file; known are {known}.")
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(model)
    return schema


def _schema_named(name: Any) -> Schema:
    if not isinstance(name, str) or name not in SCHEMAS:
        raise Unusable(f"it holds {in_short(name)}, and known are {listed(SCHEMAS, most=len(SCHEMAS))}")
    return SCHEMAS[name]


# ---------------------------------------------------------------------- parameters


def _parameters_in(packing: Packing, model: Any) -> dict[str, Any]:
    """All parameters. Listeners are those of a process, and generators have moved on: both are left out."""
    found = {}
    for name, value in model.get_params(deep=False).items():
        if name == "progress" and callable(value):
            continue
        if name == "random_state" and value is not None and not isinstance(value, Integral):
            warn(
                f"random_state={in_short(value)} is left out of the file, as a generator that has been used is no "
                "seed: what is loaded has random_state=None, and the same scores. Give a whole number to fit it again."
            )
            continue
        found[name] = _parameter_in(packing, name, value)
    return found


def _parameter_in(packing: Packing, name: str, value: Any) -> Any:
    if type(value).__name__ in SCHEMAS:
        return {"is": "model", "class": type(value).__name__, "parameters": _parameters_in(packing.within(name), value)}
    if callable(value) and not hasattr(value, "block"):
        raise WrongUse(
            f"This model cannot be saved: {name}={in_short(value)} is code of yours, which a model file cannot hold: "
            'fit with a kernel of mercer.kernels, or with kernel="precomputed" and the matrix.'
        )
    if hasattr(value, "__array__") and not isinstance(value, (np.ndarray, np.generic)):
        value = np.asarray(value)  # a frame of rows
    return packing.value(f"parameters.{name}", value)


def _made(unpacking: Unpacking, schema: Schema, tree: Mapping[str, Any]) -> Any:
    """A model with these parameters, which are checked as those of users are."""
    stored = tree.get("parameters")
    if not isinstance(stored, dict):
        raise Unusable("it has no parameters")
    parameters = {name: _parameter_from(unpacking, value) for name, value in stored.items()}
    try:
        model = schema.model(**parameters)
        model._validate_params()
    except (TypeError, ValueError, OverflowError, AttributeError) as error:
        raise Unusable(f"its parameters make no sense ({shortened(str(error), 200)})") from None
    return model


def _parameter_from(unpacking: Unpacking, value: Any) -> Any:
    if isinstance(value, dict) and value.get("is") == "model":
        return _made(unpacking, _schema_named(value.get("class")), value)
    return unpacking.value(value)


# ---------------------------------------------------------------------- names and sizes


def _names_in(packing: Packing, names: Any) -> Any:
    if names is None:
        return None
    names = [str(name) for name in names]
    return names if len(names) <= _MOST_NAMES else packing.value("feature_names", names)


def _names_from(names: Any) -> Any:
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise Unusable("feature_names are no texts")
    out = np.empty(len(names), dtype=object)
    out[:] = names
    return out


def _refuse_other_names(model: Any) -> None:
    names = getattr(model, "feature_names_in_", None)
    if names is not None and len(names) != model.n_features_in_:
        raise Unusable(f"it has {len(names):,} feature_names, and n_features_in is {model.n_features_in_:,}")


def sizes_of(model: Any) -> dict[str, Any]:
    """What is known of the data of the fit: how many rows and columns. `save` adds the hash of rows that are kept."""
    fitted = vars(model)
    n = fitted.get("n_samples_", fitted.get("n_samples_seen_"))
    n = len(fitted["_kept_items"]) if fitted.get("_kept_items") is not None else n  # without those of weight zero
    for name in ("embedding_", "X_fit_"):
        n = fitted[name].shape[0] if n is None and name in fitted else n
    return {"rows": None if n is None else int(n), "columns": int(model.n_features_in_), "sha256": None}
