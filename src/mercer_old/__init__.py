"""Dimension reduction that people can trust on real data."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mercer_old.conversions.convert import convert
    from mercer_old.displays.biplot import BiplotDisplay
    from mercer_old.displays.circle import CircleDisplay
    from mercer_old.displays.contribution import ContributionDisplay
    from mercer_old.displays.eigenimages import EigenimagesDisplay
    from mercer_old.displays.field import FieldDisplay
    from mercer_old.displays.loadings import LoadingsDisplay
    from mercer_old.displays.metadata import MetadataDisplay
    from mercer_old.displays.neighborhood import NeighborhoodDisplay
    from mercer_old.displays.novelty import NoveltyDisplay
    from mercer_old.displays.pairs import PairsDisplay
    from mercer_old.displays.preimage import PreimageDisplay
    from mercer_old.displays.reconstruction import ReconstructionDisplay
    from mercer_old.displays.scores import ScoresDisplay
    from mercer_old.displays.scree import ScreeDisplay
    from mercer_old.displays.spectrum import SpectrumDisplay
    from mercer_old.functions.clusters import clusters
    from mercer_old.functions.contributions import contributions
    from mercer_old.functions.health import doctor
    from mercer_old.functions.influence import influence
    from mercer_old.functions.locally_linear_embedding import locally_linear_embedding
    from mercer_old.functions.planning import plan
    from mercer_old.models.autoencoder import Autoencoder
    from mercer_old.models.factor_analysis import FactorAnalysis
    from mercer_old.models.gplvm import GPLVM
    from mercer_old.models.incremental_pca import IncrementalPCA
    from mercer_old.models.kernel_pca import KernelPCA
    from mercer_old.models.lle import LocallyLinearEmbedding
    from mercer_old.models.novelty import NoveltyDetector
    from mercer_old.models.pca import PCA
    from mercer_old.models.probabilistic_pca import ProbabilisticPCA
    from mercer_old.readings.quality import co_ranking, continuity, quality, trustworthiness
    from mercer_old.report.playground import playground
    from mercer_old.sources.files import open_rows, open_texts
    from mercer_old.sources.frames import open_table
    from mercer_old.store.files import load, save
    from mercer_old.store.headers import inspect
    from mercer_old.store.verdicts import verify
    from mercer_old.studies.comparison import compare
    from mercer_old.studies.stability import stability
    from mercer_old.studies.suggesting import suggest
    from mercer_old.studies.tuning import tune

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
    "BiplotDisplay": "mercer_old.displays.biplot",
    "CircleDisplay": "mercer_old.displays.circle",
    "ContributionDisplay": "mercer_old.displays.contribution",
    "EigenimagesDisplay": "mercer_old.displays.eigenimages",
    "FieldDisplay": "mercer_old.displays.field",
    "LoadingsDisplay": "mercer_old.displays.loadings",
    "MetadataDisplay": "mercer_old.displays.metadata",
    "NeighborhoodDisplay": "mercer_old.displays.neighborhood",
    "NoveltyDisplay": "mercer_old.displays.novelty",
    "PairsDisplay": "mercer_old.displays.pairs",
    "PreimageDisplay": "mercer_old.displays.preimage",
    "ReconstructionDisplay": "mercer_old.displays.reconstruction",
    "ScoresDisplay": "mercer_old.displays.scores",
    "ScreeDisplay": "mercer_old.displays.scree",
    "SpectrumDisplay": "mercer_old.displays.spectrum",
    "Autoencoder": "mercer_old.models.autoencoder",
    "FactorAnalysis": "mercer_old.models.factor_analysis",
    "GPLVM": "mercer_old.models.gplvm",
    "IncrementalPCA": "mercer_old.models.incremental_pca",
    "KernelPCA": "mercer_old.models.kernel_pca",
    "LocallyLinearEmbedding": "mercer_old.models.lle",
    "NoveltyDetector": "mercer_old.models.novelty",
    "locally_linear_embedding": "mercer_old.functions.locally_linear_embedding",
    "PCA": "mercer_old.models.pca",
    "ProbabilisticPCA": "mercer_old.models.probabilistic_pca",
    "co_ranking": "mercer_old.readings.quality",
    "continuity": "mercer_old.readings.quality",
    "clusters": "mercer_old.functions.clusters",
    "compare": "mercer_old.studies.comparison",
    "contributions": "mercer_old.functions.contributions",
    "convert": "mercer_old.conversions.convert",
    "doctor": "mercer_old.functions.health",
    "influence": "mercer_old.functions.influence",
    "inspect": "mercer_old.store.headers",
    "load": "mercer_old.store.files",
    "open_rows": "mercer_old.sources.files",
    "open_table": "mercer_old.sources.frames",
    "open_texts": "mercer_old.sources.files",
    "plan": "mercer_old.functions.planning",
    "playground": "mercer_old.report.playground",
    "quality": "mercer_old.readings.quality",
    "save": "mercer_old.store.files",
    "stability": "mercer_old.studies.stability",
    "suggest": "mercer_old.studies.suggesting",
    "trustworthiness": "mercer_old.readings.quality",
    "tune": "mercer_old.studies.tuning",
    "verify": "mercer_old.store.verdicts",
}


def __getattr__(name: str) -> Any:
    """The models, imported when first used: `import mercer` alone stays light."""
    if name in _HOMES:
        from importlib import import_module

        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'mercer' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
