"""Dimensionality reduction with error bounds: PCA, kernel PCA, LLE and related methods."""

# ruff: noqa: F403, F405

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mercer_old import *

__version__ = "0.1.0"
__all__ = [
    "GPLVM",
    "PCA",
    "Autoencoder",
    "BiplotDisplay",
    "CircleDisplay",
    "ContributionDisplay",
    "EigenimagesDisplay",
    "FactorAnalysis",
    "FieldDisplay",
    "IncrementalPCA",
    "KernelPCA",
    "LoadingsDisplay",
    "LocallyLinearEmbedding",
    "MetadataDisplay",
    "NeighborhoodDisplay",
    "NoveltyDetector",
    "NoveltyDisplay",
    "PairsDisplay",
    "PreimageDisplay",
    "ProbabilisticPCA",
    "ReconstructionDisplay",
    "ScoresDisplay",
    "ScreeDisplay",
    "SpectrumDisplay",
    "__version__",
    "clusters",
    "co_ranking",
    "compare",
    "continuity",
    "contributions",
    "convert",
    "doctor",
    "influence",
    "inspect",
    "load",
    "locally_linear_embedding",
    "open_rows",
    "open_table",
    "open_texts",
    "plan",
    "playground",
    "quality",
    "save",
    "stability",
    "suggest",
    "trustworthiness",
    "tune",
    "verify",
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used, from the first edition until the second is complete."""
    from importlib import import_module

    if name in __all__:
        return getattr(import_module("mercer_old"), name)
    raise AttributeError(f"module 'mercer' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
