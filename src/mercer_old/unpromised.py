"""Names of scikit-learn that it does not promise to keep, each with what does its work where it is gone.

No other module imports a private name of scikit-learn. `tests/support/sklearn_next.py` takes every one of them away,
as a later release may, and the models go on.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from inspect import isclass, signature
from numbers import Integral, Real
from typing import Any, TypeVar, cast

import numpy as np
from scipy import sparse
from sklearn import config_context, get_config

__all__ = [
    "Interval",
    "RealNotInt",
    "StrOptions",
    "fits",
    "moved_here",
    "namespace_of",
    "rows_of",
    "validate_parameters",
    "validated",
]

_F = TypeVar("_F", bound=Callable[..., Any])

# ---------------------------------------------------------------------- what parameters may be

try:
    from sklearn.utils._param_validation import (
        Interval,
        RealNotInt,
        StrOptions,
        validate_parameter_constraints,
    )
except ImportError:

    class RealNotInt(Real):  # type: ignore[no-redef]
        """Reals that are not written as whole numbers."""

    RealNotInt.register(float)

    @dataclass(frozen=True)
    class Interval:  # type: ignore[no-redef]
        """Numbers of a type between two bounds; None is no bound."""

        type: Any
        left: float | None
        right: float | None
        closed: str

        def is_satisfied_by(self, value: Any) -> bool:
            if not isinstance(value, self.type) or value != value:
                return False
            low, high = (-np.inf if self.left is None else self.left), (np.inf if self.right is None else self.right)
            above = value >= low if self.closed in ("left", "both") else value > low
            return bool(above and (value <= high if self.closed in ("right", "both") else value < high))

        def __str__(self) -> str:
            kind, as_is = ("an int", int) if self.type is Integral else ("a float", float)
            low, high = (end if end is None else as_is(end) for end in (self.left, self.right))
            first = f"{'[' if self.closed in ('left', 'both') else '('}{'-inf' if low is None else low}"
            last = f"{'inf' if high is None else high}{']' if self.closed in ('right', 'both') else ')'}"
            return f"{kind} in the range {first}, {last}"

    @dataclass(frozen=True)
    class StrOptions:  # type: ignore[no-redef]
        """One of some texts."""

        options: set[str]

        def is_satisfied_by(self, value: Any) -> bool:
            return isinstance(value, str) and value in self.options

        def __str__(self) -> str:
            return f"a str among {{{', '.join(map(repr, sorted(self.options)))}}}"

    class InvalidParameterError(ValueError, TypeError):
        """What scikit-learn raises: an error of either kind."""

    def validate_parameter_constraints(constraints: dict, params: dict, caller_name: str) -> None:
        """Refuse a parameter that meets none of its constraints."""
        for name, value in params.items():
            allowed = constraints.get(name, ())
            if not allowed or any(_meets(value, rule) for rule in allowed):
                continue
            words = [_rule_in_words(rule) for rule in allowed]
            text = f"{', '.join(words[:-1])} or {words[-1]}" if len(words) > 1 else words[0]
            raise InvalidParameterError(
                f"The {name!r} parameter of {caller_name} must be {text}. Got {value!r} instead."
            )


# Of the constraints that are words, types or None: how each is met, and its name.
_WORDS: dict[Any, tuple[Callable[[Any], bool], str]] = {
    None: (lambda value: value is None, "None"),
    callable: (callable, "a callable"),
    "boolean": (lambda value: isinstance(value, (bool, np.bool_)), "an instance of 'bool'"),
    "array-like": (lambda value: not isinstance(value, str) and np.ndim(value) > 0, "an array-like"),
    "sparse matrix": (sparse.issparse, "a sparse array or matrix"),
    "random_state": (
        lambda value: value is None or isinstance(value, (Integral, np.random.RandomState)),
        "an int, an instance of 'numpy.random.mtrand.RandomState' or None",
    ),
}


def _meets(value: Any, rule: Any) -> bool:
    if hasattr(rule, "is_satisfied_by"):
        return bool(rule.is_satisfied_by(value))
    return isinstance(value, rule) if isclass(rule) else _WORDS[rule][0](value)


def _rule_in_words(rule: Any) -> str:
    if hasattr(rule, "is_satisfied_by"):
        return str(rule)
    return f"an instance of {rule.__name__!r}" if isclass(rule) else _WORDS[rule][1]


def validate_parameters(model: Any) -> None:
    """Refuse what the parameters of a model cannot be."""
    validate_parameter_constraints(model._parameter_constraints, model.get_params(deep=False), type(model).__name__)


# ---------------------------------------------------------------------- around fits and functions

try:
    from sklearn.base import _fit_context
except ImportError:

    def _fit_context(*, prefer_skip_nested_validation: bool) -> Callable[[_F], _F]:
        """Parameters are validated, and those of models inside are not again."""

        def around(method: _F) -> _F:
            @wraps(method)
            def fit(self: Any, *args: Any, **kwargs: Any) -> Any:
                if not get_config()["skip_parameter_validation"]:
                    self._validate_params()
                with config_context(skip_parameter_validation=prefer_skip_nested_validation):
                    return method(self, *args, **kwargs)

            return cast(_F, fit)

        return around


def fits(method: _F) -> _F:
    """A method that fits: its parameters are validated first, and it has the type that it had."""
    return cast(_F, _fit_context(prefer_skip_nested_validation=True)(method))


def validated(**constraints: Any) -> Callable[[_F], _F]:
    """A function whose arguments are validated as parameters of models are."""

    def around(function: _F) -> _F:
        @wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            if not get_config()["skip_parameter_validation"]:
                bound = signature(function).bind(*args, **kwargs)
                bound.apply_defaults()
                given = {name: value for name, value in bound.arguments.items() if name in constraints}
                validate_parameter_constraints(constraints, given, function.__name__)
            return function(*args, **kwargs)

        call._skl_parameter_constraints = constraints  # type: ignore[attr-defined]  # its tests ask for them
        return cast(_F, call)

    return around


# ---------------------------------------------------------------------- arrays of other libraries


def namespace_of(array: Any) -> Any:
    """The library of an array, as the array API has it."""
    try:
        from sklearn.utils._array_api import get_namespace
    except ImportError:
        return array.__array_namespace__()
    return get_namespace(array)[0]


def moved_here(array: Any) -> Any:
    """An array of another library as one of numpy, from whatever device it is on."""
    try:
        from sklearn.utils._array_api import move_to  # since scikit-learn 1.8
    except ImportError:
        pass
    else:
        return move_to(array, xp=np, device="cpu")
    try:
        from sklearn.utils._array_api import _convert_to_numpy
    except ImportError:
        return np.from_dlpack(array)
    return _convert_to_numpy(array, namespace_of(array))


# ---------------------------------------------------------------------- scikit-learn's own objects


def rows_of(search: Any) -> Any:
    """The rows that a NearestNeighbors was fitted to."""
    rows = getattr(search, "_fit_X", None)
    if rows is None:
        raise ValueError("This NearestNeighbors does not tell the rows it was fitted to; give the rows themselves.")
    return rows
