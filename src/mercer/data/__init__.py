"""Data in and out."""

from mercer.data.dataset import ArrayDataset, Dataset
from mercer.data.opening import open_dataset
from mercer.data.read_options import ReadOptions
from mercer.data.validation import as_dataset

__all__ = ["ArrayDataset", "Dataset", "ReadOptions", "as_dataset", "open_dataset"]
