"""Dimension reduction that people can trust on real data."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mercer.conversions.convert import convert
    from mercer.displays.biplot import BiplotDisplay
    from mercer.displays.circle import CircleDisplay
    from mercer.displays.contribution import ContributionDisplay
    from mercer.displays.eigenimages import EigenimagesDisplay
    from mercer.displays.field import FieldDisplay
    from mercer.displays.loadings import LoadingsDisplay
    from mercer.displays.metadata import MetadataDisplay
    from mercer.displays.neighborhood import NeighborhoodDisplay
    from mercer.displays.novelty import NoveltyDisplay
    from mercer.displays.pairs import PairsDisplay
    from mercer.displays.preimage import PreimageDisplay
    from mercer.displays.reconstruction import ReconstructionDisplay
    from mercer.displays.scores import ScoresDisplay
    from mercer.displays.scree import ScreeDisplay
    from mercer.displays.spectrum import SpectrumDisplay
    from mercer.functions.clusters import clusters
    from mercer.functions.contributions import contributions
    from mercer.functions.health import doctor
    from mercer.functions.influence import influence
    from mercer.functions.locally_linear_embedding import locally_linear_embedding
    from mercer.functions.planning import plan
    from mercer.models.autoencoder import Autoencoder
    from mercer.models.factor_analysis import FactorAnalysis
    from mercer.models.gplvm import GPLVM
    from mercer.models.incremental_pca import IncrementalPCA
    from mercer.models.kernel_pca import KernelPCA
    from mercer.models.lle import LocallyLinearEmbedding
    from mercer.models.novelty import NoveltyDetector
    from mercer.models.pca import PCA
    from mercer.models.probabilistic_pca import ProbabilisticPCA
    from mercer.readings.quality import co_ranking, continuity, quality, trustworthiness
    from mercer.report.playground import playground
    from mercer.sources.files import open_rows, open_texts
    from mercer.sources.frames import open_table
    from mercer.store.files import load, save
    from mercer.store.headers import inspect
    from mercer.store.verdicts import verify
    from mercer.studies.comparison import compare
    from mercer.studies.stability import stability
    from mercer.studies.suggesting import suggest
    from mercer.studies.tuning import tune

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

_HOMES = {
    "BiplotDisplay": "mercer.displays.biplot",
    "CircleDisplay": "mercer.displays.circle",
    "ContributionDisplay": "mercer.displays.contribution",
    "EigenimagesDisplay": "mercer.displays.eigenimages",
    "FieldDisplay": "mercer.displays.field",
    "LoadingsDisplay": "mercer.displays.loadings",
    "MetadataDisplay": "mercer.displays.metadata",
    "NeighborhoodDisplay": "mercer.displays.neighborhood",
    "NoveltyDisplay": "mercer.displays.novelty",
    "PairsDisplay": "mercer.displays.pairs",
    "PreimageDisplay": "mercer.displays.preimage",
    "ReconstructionDisplay": "mercer.displays.reconstruction",
    "ScoresDisplay": "mercer.displays.scores",
    "ScreeDisplay": "mercer.displays.scree",
    "SpectrumDisplay": "mercer.displays.spectrum",
    "Autoencoder": "mercer.models.autoencoder",
    "FactorAnalysis": "mercer.models.factor_analysis",
    "GPLVM": "mercer.models.gplvm",
    "IncrementalPCA": "mercer.models.incremental_pca",
    "KernelPCA": "mercer.models.kernel_pca",
    "LocallyLinearEmbedding": "mercer.models.lle",
    "NoveltyDetector": "mercer.models.novelty",
    "locally_linear_embedding": "mercer.functions.locally_linear_embedding",
    "PCA": "mercer.models.pca",
    "ProbabilisticPCA": "mercer.models.probabilistic_pca",
    "co_ranking": "mercer.readings.quality",
    "continuity": "mercer.readings.quality",
    "clusters": "mercer.functions.clusters",
    "compare": "mercer.studies.comparison",
    "contributions": "mercer.functions.contributions",
    "convert": "mercer.conversions.convert",
    "doctor": "mercer.functions.health",
    "influence": "mercer.functions.influence",
    "inspect": "mercer.store.headers",
    "load": "mercer.store.files",
    "open_rows": "mercer.sources.files",
    "open_table": "mercer.sources.frames",
    "open_texts": "mercer.sources.files",
    "plan": "mercer.functions.planning",
    "playground": "mercer.report.playground",
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
