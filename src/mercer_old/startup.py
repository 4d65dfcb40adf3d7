"""What a fresh process need not wait for.

Half of the time that `import sklearn` takes goes to scipy.stats, which it imports for a function that no model of
mercer calls. scipy loads its own rooms when they are named (``scipy.stats.norm``), so nothing is lost if that import
waits until then. That is for the command line, whose process is ours: whoever imports mercer as a library has other
imports beside it, and none of them is touched.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import Any

__all__ = ["meet_sklearn"]

_WAITS = "scipy.stats"


class _Later(ModuleType):
    """Stands for a module as long as nobody asks for anything in it."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name != "__path__":  # asked by the import itself; a path by that of a part
            raise AttributeError(name)
        _leave(self)
        return getattr(import_module(_WAITS), name)


def _leave(stand_in: _Later) -> None:
    if sys.modules.get(_WAITS) is stand_in:
        del sys.modules[_WAITS]


def meet_sklearn() -> None:
    """Import scikit-learn, for the first time in this process, without scipy.stats; whoever imports that has all of it.

    The stand-in is gone when this returns. A scikit-learn that uses the module at once gets the module at once.
    """
    if "sklearn" in sys.modules or _WAITS in sys.modules:
        return
    import scipy  # noqa: F401 (the module that the other is a part of)

    stand_in = sys.modules[_WAITS] = _Later(_WAITS)
    try:
        import sklearn.base  # noqa: F401
    finally:
        _leave(stand_in)
