"""Data in and out: datasets, validation, readers and writers."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mercer.data.dataset import ArrayDataset, Dataset
    from mercer.data.opening import open_dataset
    from mercer.data.read_options import ReadOptions
    from mercer.data.validation import as_dataset

__all__ = ["ArrayDataset", "Dataset", "ReadOptions", "as_dataset", "open_dataset"]
_HOMES = {
    "ArrayDataset": "dataset",
    "Dataset": "dataset",
    "ReadOptions": "read_options",
    "as_dataset": "validation",
    "open_dataset": "opening",
}


def __getattr__(name: str) -> Any:
    """Import a name when it is first used: a fit to an array needs no readers."""
    if name not in _HOMES:
        raise AttributeError(f"module 'mercer.data' has no attribute {name!r}")
    return getattr(import_module(f"mercer.data.{_HOMES[name]}"), name)
