"""Every rule there is: its name, what it is called, what it needs, and whether it tells signal from noise."""

from collections.abc import Callable
from dataclasses import dataclass

from mercer_old.readings.rules.likelihood import minka, schwarz
from mercer_old.readings.rules.noise import (
    deflated_parallel,
    gavish_donoho,
    marchenko_pastur,
    parallel,
    patterson,
    tracy_widom,
)
from mercer_old.readings.rules.scree import Opinion, Scree
from mercer_old.readings.rules.shape import broken_stick, elbow, enough, kaiser

__all__ = ["KERNEL_RULES", "LINEAR_RULES", "Rule"]


@dataclass(frozen=True)
class Rule:
    """A rule for how many components to keep."""

    name: str  # what `n_components` and `Suggestion[...]` take
    title: str
    needs: str
    ask: Callable[[Scree], Opinion] | None = None  # None: it needs more than a scree, such as rows
    tells_noise: bool = False  # whether it asks what is more than noise: such rules make the consensus
    white: bool = False  # whether it takes the noise of all columns as equal


_EVERY = "all variances"
_SCREE = (
    Rule("share", "share of the variance", "the total", enough),
    Rule("elbow", "elbow (Zhu and Ghodsi)", "the first 100 variances", elbow),
    Rule("broken-stick", "broken stick", "the total", broken_stick),
    Rule("kaiser", "Kaiser", "the total", kaiser),
    Rule("mle", "Minka's evidence", f"{_EVERY}, n ≥ d", minka, True, True),
    Rule("bic", "Schwarz's criterion", _EVERY, schwarz, True, True),
    Rule("marchenko-pastur", "Marchenko–Pastur edge", _EVERY, marchenko_pastur, True, True),
    Rule("gavish-donoho", "Gavish–Donoho threshold", _EVERY, gavish_donoho, True, True),
    Rule("tracy-widom", "Tracy–Widom tests", "the total", tracy_widom, True, True),
    Rule("patterson", "Tracy–Widom tests of smartpca", _EVERY, patterson, white=True),
    Rule("parallel", "parallel analysis", "columns' variances", parallel, True),
    Rule("deflated-parallel", "deflated parallel analysis", "columns' variances, axes", deflated_parallel, True),
)
_LABELS = Rule("labels", "relevant dimension", "labels")

#: Of PCA, in the order in which they are told.
LINEAR_RULES = {
    rule.name: rule
    for rule in (
        *_SCREE,
        Rule("horn", "Horn's permutations", "rows", tells_noise=True),
        Rule("flip", "flipped signs", "rows", tells_noise=True),
        _LABELS,
    )
}
#: Of kernel PCA.
KERNEL_RULES = {
    rule.name: rule
    for rule in (
        *(rule for rule in _SCREE if rule.name in ("share", "elbow", "broken-stick")),
        Rule("parallel", "kernel parallel analysis", "rows of numbers", tells_noise=True),
        _LABELS,
    )
}
