"""Data on the workers of a Dask cluster. Nothing else in the package imports Dask, and local fits do not load this."""

from mercer.cluster.client import connect, start_workers
from mercer.cluster.dask_dataset import DaskDataset, open_collection
from mercer.cluster.distributed_gram import DistributedGram
from mercer.cluster.executor import Executor, active_client
from mercer.cluster.lazy import lazy_fit_transform, lazy_transform
from mercer.cluster.parquet import distribute

__all__ = [
    "DaskDataset",
    "DistributedGram",
    "Executor",
    "active_client",
    "connect",
    "distribute",
    "lazy_fit_transform",
    "lazy_transform",
    "open_collection",
    "start_workers",
]
