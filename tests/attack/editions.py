"""The edition that is attacked: that of `mercer_old`, or the linear estimators of `mercer.estimators`."""

from contextlib import contextmanager
from contextvars import ContextVar

import mercer_old
from support.editions import new_class

_edition = ContextVar("edition", default="old")
LINEAR = ("PCA", "IncrementalPCA")
RENAMED = {"forget": "forgetting_factor"}


@contextmanager
def attacking(edition):
    """Problems that are made inside are problems for this edition."""
    token = _edition.set(edition)
    try:
        yield
    finally:
        _edition.reset(token)


def exists(name, edition):
    """Whether the edition has this estimator, and the attack knows how to use it."""
    return edition == "old" or (name in LINEAR and new_class(name) is not None)


def estimator(name, *args, **params):
    """An estimator of the edition under attack."""
    if _edition.get() == "old":
        return getattr(mercer_old, name)(*args, **params)
    return new_class(name)(*args, **{RENAMED.get(key, key): value for key, value in params.items()})
