"""Facts: all that is to be told of a fitted model, as one record that JSON can say; every page is made from it alone.

Texts are as they are in the data: whoever shows them has to escape them.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mercer_old.arrays import Array, to_numpy
from mercer_old.certificates.placed import PlacedCertificate
from mercer_old.displays.asking import prefix_of, shares_of, under
from mercer_old.displays.spectrum import beyond_and_unresolved, proven_intervals
from mercer_old.displays.words import component_name, percent
from mercer_old.errors import counted, shortened
from mercer_old.models.local_model import LocalModel
from mercer_old.models.novelty import NoveltyDetector
from mercer_old.plans.plan import Plan
from mercer_old.readings.rules.suggestion import Suggestion
from mercer_old.report.card import Citation, Line, card_of, citation_of
from mercer_old.report.chapters.columns import Columns
from mercer_old.report.chapters.fields import Fields
from mercer_old.report.chapters.novelty import Novelty
from mercer_old.report.chapters.sureness import Sureness
from mercer_old.report.chapters.sweep import Sweep
from mercer_old.report.chapters.walk import Walk
from mercer_old.report.cloud import Cloud
from mercer_old.report.origin import Origin, written_parameters
from mercer_old.report.records import as_record
from mercer_old.report.steps import Step, steps_of

__all__ = ["Chapters", "Component", "Facts", "Note", "Rule", "facts_of"]

_MOST_COMPONENTS = 100  # who wants more asks the model
_LONGEST = 600  # letters of a kernel, which may have learnt texts of the data


@dataclass(frozen=True)
class Component:
    """A component, its eigenvalue or variance, and between which numbers that is proven to lie."""

    name: str
    value: float | None
    share: float | None  # of the variance
    together: float | None  # of it and those before
    lower: float | None
    upper: float | None

    @property
    def proven_shares(self) -> tuple[float, float] | None:
        """The same ends as shares of the variance."""
        if not self.value or self.share is None or self.lower is None or self.upper is None:
            return None
        return self.lower * self.share / self.value, self.upper * self.share / self.value


@dataclass(frozen=True)
class Rule:
    """How many components a rule would keep, and why."""

    name: str
    k: int | None
    answer: str  # the same for people
    why: str
    heard: bool  # whether the consensus is made of it and others


@dataclass(frozen=True)
class Note:
    """What a chapter warns of, or why there is none."""

    chapter: str
    words: str


@dataclass(frozen=True)
class Chapters:
    """What rows tell beside the model, as far as there is an answer."""

    cloud: Cloud | None = None
    columns: Columns | None = None
    fields: Fields | None = None
    walk: Walk | None = None
    sweep: Sweep | None = None
    novelty: Novelty | None = None
    sureness: Sureness | None = None
    notes: tuple[Note, ...] = ()

    def said_of(self, chapter: str) -> list[str]:
        """Notes of a chapter."""
        return [note.words for note in self.notes if note.chapter == chapter]


@dataclass(frozen=True)
class Facts:
    """A fitted model, told."""

    title: str
    findings: tuple[str, ...]  # what it comes to, a sentence each
    model: str  # its class
    parameters: Mapping[str, str]  # that are not as usual, as Python writes them
    kernel: str | None
    value: str  # what `Component.value` is: a variance or an eigenvalue
    components: tuple[Component, ...]
    n_components: int
    certified: bool
    approximate: bool  # by the plan
    verdict: str  # the same in a few words
    certificate: tuple[str, ...]
    how: str  # the plan
    why: str
    beyond: float | None  # what no other value exceeds; of locally linear embedding, below which none is
    unresolved: tuple[int, ...]  # components whose direction the data do not determine, counted from 0
    consensus: str | None  # of the rules
    agreed: int | None  # the same as a number
    rules: tuple[Rule, ...]
    origin: Origin
    steps: tuple[Step, ...]
    error: float | None  # of reconstruction, of locally linear embedding
    card: tuple[Line, ...]
    citation: Citation
    chapters: Chapters

    def as_dict(self) -> dict[str, Any]:
        """For JSON: dicts, lists, texts, truths, finite numbers and None."""
        return asdict(self)

    @classmethod
    def from_dict(cls, said: Mapping[str, Any]) -> Self:
        """The same facts, from what JSON has kept of them."""
        facts: Self = as_record(cls, said)
        return facts


def facts_of(
    model: Any, origin: Origin, suggestion: Suggestion | None = None, why_not: str = "",
    chapters: Chapters | None = None,
) -> Facts:  # fmt: skip
    """Read them off a fitted model; `suggestion` is what `mercer.suggest` says of it, or `why_not` why it does not."""
    inner = under(model)
    check_is_fitted(inner)
    certificate, plan = inner.certificate_, inner.plan_
    kernel = getattr(inner, "kernel_", None)
    local = isinstance(inner, LocalModel)
    values, unit = _values(inner)
    beyond, unresolved = beyond_and_unresolved(inner)
    return Facts(
        title=f"{type(model).__name__}{', with rows of' if origin.others else ' of'} {origin.name}",
        findings=tuple(_findings(model, inner, origin)),
        model=type(model).__name__,
        parameters=written_parameters(model),
        kernel=None if kernel is None else shortened(str(kernel), _LONGEST),
        value="eigenvalue" if local else "variance",
        components=tuple(_components(inner, values, unit)),
        n_components=int(inner._n_features_out),
        certified=bool(certificate.certified),
        approximate=_as_planned(certificate, plan),
        verdict=_verdict(certificate, plan),
        certificate=tuple(certificate.sentences()),
        how=plan.in_words.partition(f": {plan.why}")[0],
        why=plan.why,
        consensus=(why_not or None) if suggestion is None else suggestion.consensus,
        agreed=None if suggestion is None else suggestion.k,
        rules=_rules(suggestion),
        beyond=None if beyond is None or not np.isfinite(beyond) or beyond <= 0 else float(beyond * unit),
        unresolved=tuple(int(j) for j in unresolved),
        origin=origin,
        steps=tuple(steps_of(model, origin, None if suggestion is None else suggestion.k)),
        error=float(inner.reconstruction_error_) if local else None,
        card=card_of(model, _learned(origin), _verdict(certificate, plan), _by_chance(model)),
        citation=citation_of(model),
        chapters=chapters or Chapters(),
    )


def _learned(origin: Origin) -> str:
    rows = "" if origin.rows is None else f"{counted(origin.rows, 'row')} of "
    data = "data that are not here" if origin.others else origin.name
    return f"{rows}{counted(origin.columns, 'column')}: {data}."


def _by_chance(model: Any) -> str:
    """What decided where anything was drawn."""
    seed = model.get_params(deep=False).get("random_state")
    if isinstance(seed, np.random.RandomState):
        return "A generator is given as random_state, and what it had drawn before has a say in the answer."
    said = "No seed is given, which is a fixed one" if seed is None else f"The seed is {shortened(str(seed), 40)}"
    return f"{said}: the same rows give the same answer."


def _rules(suggestion: Suggestion | None) -> tuple[Rule, ...]:
    if suggestion is None:
        return ()
    heard = suggestion.heard
    return tuple(Rule(said.rule, said.k, said.answer, said.why, said in heard) for said in suggestion.opinions)


def _verdict(certificate: Any, plan: Plan) -> str:
    if certificate.certified and isinstance(certificate, PlacedCertificate):
        return "Landmarks certified, all other rows placed between them: what is proven is below."
    if certificate.certified:
        return "Certified: what is proven is below."
    as_planned = _as_planned(certificate, plan)
    return "Approximate, as planned: what is proven is below." if as_planned else "NOT certified: see below."


def _as_planned(certificate: Any, plan: Plan) -> bool:
    """Whether nobody said that there would be a proof; landmarks of an embedding were to have one."""
    return bool(plan.approximate) and not isinstance(certificate, PlacedCertificate)


def _findings(model: Any, inner: Any, origin: Origin) -> list[str]:
    """The answer in a few sentences."""
    k, shares = int(inner._n_features_out), shares_of(inner)
    rows = "" if origin.rows is None else f" of {counted(origin.rows, 'row')}"
    said = [f"{counted(k, 'component')}{rows}."]
    if shares is not None and np.isfinite(shares).all():
        said = [f"{counted(k, 'component')}{rows}, with {percent(float(shares.sum()))} of the variance."]
    if isinstance(inner, LocalModel):
        said.append(f"The reconstruction error, the sum of the eigenvalues, is {inner.reconstruction_error_:.3g}.")
        said += _parts(inner)
    if isinstance(model, NoveltyDetector):
        said.append(_limit(model))
    if not inner.certificate_.converged and not _as_planned(inner.certificate_, inner.plan_):
        said.append("The answer is there, but it is not proven to be what was asked for.")
    return said


def _parts(inner: Any) -> list[str]:
    """A graph of neighbours that falls apart."""
    if inner.n_parts_ == 1:
        return []
    meant = "each is embedded on its own" if inner.on_disconnected == "separate" else "coordinates only tell them apart"
    return [f"The graph of neighbours falls apart into {inner.n_parts_:,} parts: {meant}."]


def _limit(detector: NoveltyDetector) -> str:
    """What is novel, and how often that is said of rows that are not."""
    held = f"{counted(len(detector.calibration_scores_), 'row')} that were held out for calibration"
    if not np.isfinite(detector.threshold_):
        return f"No row is called novel: {held} are too few for alpha={detector.alpha:g}."
    return (
        f"A row whose {detector.statistic} exceeds {detector.threshold_:.4g} is called novel: of rows like those of "
        f"the fit, a share of {detector.alpha:g} at most does, by {held}."
    )


def _values(inner: Any) -> tuple[Array, float]:
    """Variances, which are eigenvalues over n − 1, and what eigenvalues are multiplied by to be such; of locally
    linear embedding eigenvalues."""
    eigenvalues, _, _ = proven_intervals(inner)
    variances = getattr(inner, "explained_variance_", None)
    values = eigenvalues if variances is None else np.asarray(to_numpy(variances), dtype=np.float64)
    there = np.flatnonzero(eigenvalues > 0)
    return values, float(values[there[0]] / eigenvalues[there[0]]) if len(there) else 1.0


def _components(inner: Any, values: Array, unit: float) -> list[Component]:
    _, lower, upper = proven_intervals(inner)
    shares = shares_of(inner)
    together = None if shares is None else np.cumsum(shares)
    prefix, shown = prefix_of(inner), min(len(values), _MOST_COMPONENTS)
    return [
        Component(
            name=component_name(prefix, j),
            value=_number(values, j),
            share=_number(shares, j),
            together=_number(together, j),
            lower=_number(lower, j, unit),
            upper=_number(upper, j, unit),
        )
        for j in range(shown)
    ]


def _number(values: Array | None, j: int, unit: float = 1.0) -> float | None:
    """As JSON has it: what is not finite is not known."""
    if values is None or not np.isfinite(values[j] * unit):
        return None
    return float(values[j] * unit)
