"""Dimension reduction that people can trust on real data."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mercer.functions.clusters import clusters
    from mercer.functions.contributions import contributions
    from mercer.functions.influence import influence
    from mercer.functions.locally_linear_embedding import locally_linear_embedding
    from mercer.functions.planning import plan
    from mercer.models.incremental_pca import IncrementalPCA
    from mercer.models.kernel_pca import KernelPCA
    from mercer.models.lle import LocallyLinearEmbedding
    from mercer.models.novelty import NoveltyDetector
    from mercer.models.pca import PCA
    from mercer.readings.quality import co_ranking, continuity, quality, trustworthiness
    from mercer.sources.files import open_rows, open_texts
    from mercer.store.files import load, save
    from mercer.store.headers import inspect
    from mercer.store.verdicts import verify
    from mercer.studies.stability import stability
    from mercer.studies.suggesting import suggest
    from mercer.studies.tuning import tune

__version__ = "0.1.0"
__all__ = [
    "PCA",
    "IncrementalPCA",
    "KernelPCA",
    "LocallyLinearEmbedding",
    "NoveltyDetector",
    "__version__",
    "clusters",
    "co_ranking",
    "continuity",
    "contributions",
    "influence",
    "inspect",
    "load",
    "locally_linear_embedding",
    "open_rows",
    "open_texts",
    "plan",
    "quality",
    "save",
    "stability",
    "suggest",
    "trustworthiness",
    "tune",
    "verify",
]

_HOMES = {
    "IncrementalPCA": "mercer.models.incremental_pca",
    "KernelPCA": "mercer.models.kernel_pca",
    "LocallyLinearEmbedding": "mercer.models.lle",
    "NoveltyDetector": "mercer.models.novelty",
    "locally_linear_embedding": "mercer.functions.locally_linear_embedding",
    "PCA": "mercer.models.pca",
    "co_ranking": "mercer.readings.quality",
    "continuity": "mercer.readings.quality",
    "clusters": "mercer.functions.clusters",
    "contributions": "mercer.functions.contributions",
    "influence": "mercer.functions.influence",
    "inspect": "mercer.store.headers",
    "load": "mercer.store.files",
    "open_rows": "mercer.sources.files",
    "open_texts": "mercer.sources.files",
    "plan": "mercer.functions.planning",
    "quality": "mercer.readings.quality",
    "save": "mercer.store.files",
    "stability": "mercer.studies.stability",
    "suggest": "mercer.studies.suggesting",
    "trustworthiness": "mercer.readings.quality",
    "tune": "mercer.studies.tuning",
    "verify": "mercer.store.verdicts",
}


def __getattr__(name: str) -> Any:
    """The models, imported when first used: `import mercer` alone stays light."""
    if name in _HOMES:
        from importlib import import_module

        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'mercer' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
