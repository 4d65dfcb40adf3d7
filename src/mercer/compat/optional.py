"""Optional packages, imported when they are needed."""

import sys
from importlib import import_module
from types import ModuleType
from typing import Any

from mercer.errors import MissingDependencyError

_PACKAGES = {"PIL": "pillow"}  # names on PyPI that differ from the module


def import_optional(name: str, extra: str, what: str = "") -> ModuleType:
    """Import a module of an optional package.

    Parameters
    ----------
    name : str
        Module, such as "pyarrow.csv".
    extra : str
        Extra of mercer that installs the package.
    what : str, default=""
        What the package is needed for, as subject of the message.
    """
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        package = name.partition(".")[0]
        if error.name != package:
            raise
        package = _PACKAGES.get(package, package)
        raise MissingDependencyError(what or f"Module {name}", package, extra) from None


def is_dask_collection(X: Any) -> bool:
    """Whether X is a collection of Dask, which has been imported by then."""
    dask = sys.modules.get("dask")
    return dask is not None and bool(dask.is_dask_collection(X))
