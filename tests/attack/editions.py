"""The edition that is attacked: that of `mercer_old`, or the estimators of `mercer.estimators`."""

from contextlib import contextmanager
from contextvars import ContextVar
from importlib import import_module

import mercer_old
from support.editions import new_class

_edition = ContextVar("edition", default="old")
WRITTEN = ("PCA", "IncrementalPCA", "KernelPCA", "LocallyLinearEmbedding")
OF_LANDMARKS = "landmarks"  # the kernel PCA that is fitted by them
RENAMED = {"forget": "forgetting_factor"}
KERNEL_MODULES = ("distance", "dot", "histograms", "algebra")


@contextmanager
def attacking(edition):
    """Problems that are made inside are problems for this edition."""
    token = _edition.set(edition)
    try:
        yield
    finally:
        _edition.reset(token)


def attacked():
    """ "old" or "new"."""
    return _edition.get()


def exists(name, edition):
    """Whether the edition has this estimator, and the attack knows how to use it."""
    name = "KernelPCA" if name == OF_LANDMARKS else name
    return edition == "old" or (name in WRITTEN and new_class(name) is not None)


def estimator(name, *args, **params):
    """An estimator of the edition under attack; kernels among its parameters become those of that edition."""
    if _edition.get() == "old":
        return getattr(mercer_old, name)(*args, **params)
    params = {RENAMED.get(key, key): translated(value) for key, value in params.items()}
    return new_class(name)(*args, **params)


def translated(value):
    """The kernel of the second edition with the same parameters; anything else as it is."""
    if not hasattr(value, "with_params"):
        return value
    name = type(value).__name__
    modules = (import_module(f"mercer.kernels.{module}") for module in KERNEL_MODULES)
    made = next(getattr(module, name) for module in modules if hasattr(module, name))
    return made(**{key: translated(part) for key, part in value.get_params(deep=False).items()})
