"""Estimators, imported when first used."""

from importlib import import_module
from typing import Any

_MODULES = {
    "Autoencoder": "autoencoder",
    "FactorAnalysis": "factor_analysis",
    "GPLVM": "gplvm",
    "IncrementalPCA": "incremental_pca",
    "KernelPCA": "kernel_pca",
    "LocallyLinearEmbedding": "lle",
    "NoveltyDetector": "novelty",
    "PCA": "pca",
    "ProbabilisticPCA": "probabilistic_pca",
    "locally_linear_embedding": "lle",
}
__all__ = list(_MODULES)


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'mercer.estimators' has no attribute {name!r}")
    value = getattr(import_module(f"mercer.estimators.{_MODULES[name]}"), name)
    globals()[name] = value
    return value
