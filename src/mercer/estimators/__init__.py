"""Estimators, imported when first used."""

from importlib import import_module
from typing import Any

_MODULES = {
    "FactorAnalysis": "factor_analysis",
    "IncrementalPCA": "incremental_pca",
    "KernelPCA": "kernel_pca",
    "LocallyLinearEmbedding": "lle",
    "PCA": "pca",
    "ProbabilisticPCA": "probabilistic_pca",
    "locally_linear_embedding": "lle",
}
__all__ = list(_MODULES)


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'mercer.estimators' has no attribute {name!r}")
    return getattr(import_module(f"mercer.estimators.{_MODULES[name]}"), name)
