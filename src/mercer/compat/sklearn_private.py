"""Names of scikit-learn that are not public, imported here and nowhere else."""

import re
import sys
from collections.abc import Callable
from functools import cache
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import (
    HasMethods,
    Interval,
    InvalidParameterError,
    RealNotInt,
    StrOptions,
    make_constraint,
    validate_parameter_constraints,
    validate_params,
)

from mercer.errors import MercerWarning, ParameterError
from mercer.text import short_repr, shorten

__all__ = [
    "HasMethods",
    "Interval",
    "InvalidParameter",
    "NotConvergedWarning",
    "ParameterChecks",
    "RealNotInt",
    "StrOptions",
    "parameter_checks",
    "validate_params",
]


class InvalidParameter(ParameterError, InvalidParameterError):
    """A `ParameterError` that handlers of scikit-learn's `InvalidParameterError` catch as well."""


class NotConvergedWarning(MercerWarning, ConvergenceWarning):
    """A `MercerWarning` that filters of scikit-learn's `ConvergenceWarning` match as well."""


class ParameterChecks:
    """The constraints of an estimator class, compiled once: a few microseconds for each call."""

    def __init__(self, constraints: dict[str, list]) -> None:
        self._constraints = constraints
        self._accepts = {name: _compile(options) for name, options in constraints.items()}

    def __call__(self, estimator: Any) -> None:
        """Raise `InvalidParameter` for the first parameter that meets none of its constraints."""
        for name, accepts in self._accepts.items():
            if not accepts(getattr(estimator, name)):
                self._reject(name, getattr(estimator, name), type(estimator).__name__)

    def _reject(self, name: str, value: Any, owner: str) -> None:
        """Raise with scikit-learn's text where it has one: it accepts True as a number and any integer."""
        message = f"The {name!r} parameter of {owner} cannot be {short_repr(value)}."
        requirement = "a Boolean" if isinstance(value, Integral) else "a number in the range of float64"
        try:
            validate_parameter_constraints(self._constraints, {name: value}, caller_name=owner)
        except InvalidParameterError as error:
            message = shorten(re.sub(r" at 0x[0-9a-f]+", "", " ".join(str(error).split())), 500)
            requirement = message.partition(" must be ")[2].partition(". Got ")[0]
        raise InvalidParameter(name, value, requirement, message=message)


@cache
def parameter_checks(cls: type) -> ParameterChecks:
    """The compiled checks of an estimator class."""
    return ParameterChecks(cls._parameter_constraints)  # type: ignore[attr-defined]


def _compile(options: list) -> Callable[[Any], bool]:
    """A function that tests a value.

    The usual types are decided without scikit-learn's constraint objects.
    """
    constraints = [make_constraint(option) for option in options]
    texts = frozenset().union(*(option.options for option in options if isinstance(option, StrOptions)))
    any_text, allow_none = str in options, any(c.is_satisfied_by(None) for c in constraints)
    allow_bool = "boolean" in options

    def accepts(value: Any) -> bool:
        if value is None:
            return allow_none
        kind = type(value)
        if kind is bool or kind is np.bool_:
            return allow_bool
        if kind is str:
            return any_text or value in texts
        if isinstance(value, Integral) and abs(int(value)) > sys.float_info.max:
            return False
        return any(constraint.is_satisfied_by(value) for constraint in constraints)

    return accepts
