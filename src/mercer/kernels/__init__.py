"""Kernels on vectors, strings, series and tables."""

from typing import Any


def __getattr__(name: str) -> Any:
    """Look a name up in the first edition until this module is written."""
    from importlib import import_module

    return getattr(import_module("mercer_old.kernels"), name)


def __dir__() -> list[str]:
    from importlib import import_module

    return dir(import_module("mercer_old.kernels"))
