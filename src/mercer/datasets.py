"""Example data sets."""

from typing import Any


def __getattr__(name: str) -> Any:
    """Look a name up in the first edition until this module is written."""
    from importlib import import_module

    if name == "__path__":  # asked by every `from mercer.datasets import …`; must not load the first edition
        raise AttributeError(name)
    return getattr(import_module("mercer_old.datasets"), name)


def __dir__() -> list[str]:
    from importlib import import_module

    return dir(import_module("mercer_old.datasets"))
