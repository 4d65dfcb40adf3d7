"""A card of the model for who gets it without a word, and how to cite what has made it."""

from dataclasses import dataclass
from typing import Any

from mercer_old import __version__
from mercer_old.displays.asking import under
from mercer_old.models.kernel_pca import KernelPCA
from mercer_old.models.local_model import LocalModel
from mercer_old.models.novelty import NoveltyDetector
from mercer_old.models.with_gaps import FillsGaps
from mercer_old.relatives.ours import BY_NAME

__all__ = ["AUTHORS", "TITLE", "Citation", "Line", "card_of", "citation_of"]

TITLE = "mercer: dimensionality reduction with error bounds"
AUTHORS = "the mercer developers"
_PAPERS = {
    "kernel": (
        "Schölkopf, B., Smola, A., Müller, K.-R. (1998). Nonlinear component analysis as a kernel eigenvalue problem. "
        "Neural Computation 10(5), 1299–1319."
    ),
    "local": (
        "Roweis, S. T., Saul, L. K. (2000). Nonlinear dimensionality reduction by locally linear embedding. Science "
        "290(5500), 2323–2326."
    ),
    "gaps": (
        "Tipping, M. E., Bishop, C. M. (1999). Probabilistic principal component analysis. Journal of the Royal "
        "Statistical Society B 61(3), 611–622."
    ),
    "linear": (
        "Pearson, K. (1901). On lines and planes of closest fit to systems of points in space. Philosophical Magazine "
        "2(11), 559–572."
    ),
    "novelty": (
        "Vovk, V., Gammerman, A., Shafer, G. (2005). Algorithmic Learning in a Random World. Springer. (p-values by "
        "rows that are held out)"
    ),
}


@dataclass(frozen=True)
class Line:
    """A line of the card."""

    name: str
    words: str


@dataclass(frozen=True)
class Citation:
    """How to cite the library, and the papers behind the method."""

    words: str
    bibtex: str
    papers: tuple[str, ...]


def card_of(model: Any, learned: str, verdict: str, seed: str) -> tuple[Line, ...]:
    """What the model is, what it keeps, and what nobody should ask of it."""
    method = BY_NAME[_METHODS[_kind(under(model))]]
    lines = [
        ("what it is", _WHAT[_kind(under(model))]),
        ("learned from", learned),
        ("it keeps", f"{method.keeps}."),
        ("it assumes", f"{method.assumes}."),
        ("made for", _MADE_FOR[_kind(under(model))]),
        ("not made for", "Causes, and judgements about people: components say what varies together, not why."),
        ("checked", verdict),
        ("by chance", seed),
    ]
    if isinstance(model, NoveltyDetector):
        lines.insert(1, ("with", "A detector of novelty around it: rows that were held out say what is usual."))
    return tuple(Line(name, words[:1].upper() + words[1:]) for name, words in lines)


def citation_of(model: Any) -> Citation:
    """Facts as those of CITATION.cff, which is not installed."""
    bibtex = (
        f"@software{{mercer,\n  title = {{{TITLE}}},\n  author = {{{{{AUTHORS}}}}},\n"
        f"  version = {{{__version__}}},\n  license = {{BSD-3-Clause}}\n}}"
    )
    papers = [_PAPERS[_kind(under(model))], *([_PAPERS["novelty"]] * isinstance(model, NoveltyDetector))]
    return Citation(f"{AUTHORS}. {TITLE}, version {__version__}.", bibtex, tuple(papers))


def _kind(inner: Any) -> str:
    if isinstance(inner, KernelPCA):
        return "kernel"
    return "local" if isinstance(inner, LocalModel) else "gaps" if isinstance(inner, FillsGaps) else "linear"


_METHODS = {"kernel": "kernel-pca", "local": "lle", "gaps": "ppca", "linear": "pca"}
_WHAT = {
    "kernel": "Kernel principal component analysis: PCA of the rows' images in the space of a kernel's features.",
    "local": "Locally linear embedding: coordinates by which every row is rebuilt from its neighbours as before.",
    "gaps": "Probabilistic principal component analysis: the normal distribution behind PCA.",
    "linear": "Principal component analysis: the directions along which rows vary most.",
}
_MADE_FOR = {
    "kernel": "Pictures of rows, features for later steps, denoising, and telling what is unusual.",
    "local": "Pictures of rows that lie on a bent surface. Distances between far rows mean nothing.",
    "gaps": "Pictures and features of rows with gaps, and filling these.",
    "linear": "Pictures of rows, features for later steps, and less noise; where relations are straight.",
}
