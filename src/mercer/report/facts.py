"""Facts: all that is to be told of a fitted model, as one record that JSON can say; every page is made from it alone.

Texts are as they are in the data: whoever shows them has to escape them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mercer.arrays import Array, to_numpy
from mercer.certificates.placed import PlacedCertificate
from mercer.displays.asking import prefix_of, shares_of, under
from mercer.displays.spectrum import proven_intervals
from mercer.displays.words import component_name, percent
from mercer.errors import counted, shortened
from mercer.models.linear import LinearModel
from mercer.models.local_model import LocalModel
from mercer.models.novelty import NoveltyDetector
from mercer.plans.plan import Plan
from mercer.readings.rules.suggestion import Suggestion
from mercer.report.origin import Origin, written_parameters
from mercer.report.steps import Step, steps_of

__all__ = ["Component", "Driver", "Facts", "Rule", "facts_of"]

_MOST_COMPONENTS = 30  # in tables: who wants more asks the model
_MOST_DRIVERS = 5
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


@dataclass(frozen=True)
class Driver:
    """A column that a component is made of, with its loading."""

    component: str
    column: str
    loading: float


@dataclass(frozen=True)
class Rule:
    """How many components a rule would keep, and why."""

    name: str
    answer: str
    why: str


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
    consensus: str | None  # of the rules
    rules: tuple[Rule, ...]
    drivers: tuple[Driver, ...]
    origin: Origin
    steps: tuple[Step, ...]

    def as_dict(self) -> dict[str, Any]:
        """For JSON: dicts, lists, texts, truths, finite numbers and None."""
        return asdict(self)


def facts_of(model: Any, origin: Origin, suggestion: Suggestion | None = None, why_not: str = "") -> Facts:
    """Read them off a fitted model; `suggestion` is what `mercer.suggest` says of it, or `why_not` why it does not."""
    inner = under(model)
    check_is_fitted(inner)
    certificate, plan = inner.certificate_, inner.plan_
    kernel = getattr(inner, "kernel_", None)
    local = isinstance(inner, LocalModel)
    return Facts(
        title=f"{type(model).__name__}{', with rows of' if origin.others else ' of'} {origin.name}",
        findings=tuple(_findings(model, inner, origin)),
        model=type(model).__name__,
        parameters=written_parameters(model),
        kernel=None if kernel is None else shortened(str(kernel), _LONGEST),
        value="eigenvalue" if local else "variance",
        components=tuple(_components(inner)),
        n_components=int(inner._n_features_out),
        certified=bool(certificate.certified),
        approximate=_as_planned(certificate, plan),
        verdict=_verdict(certificate, plan),
        certificate=tuple(certificate.sentences()),
        how=plan.in_words.partition(f": {plan.why}")[0],
        why=plan.why,
        consensus=(why_not or None) if suggestion is None else suggestion.consensus,
        rules=() if suggestion is None else tuple(Rule(o.rule, o.answer, o.why) for o in suggestion.opinions),
        drivers=tuple(_drivers(inner)),
        origin=origin,
        steps=tuple(steps_of(model, origin, None if suggestion is None else suggestion.k)),
    )


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


def _components(inner: Any) -> list[Component]:
    """With variances, which are eigenvalues over n − 1; of locally linear embedding eigenvalues."""
    eigenvalues, lower, upper = proven_intervals(inner)
    variances = getattr(inner, "explained_variance_", None)
    values = eigenvalues if variances is None else np.asarray(to_numpy(variances), dtype=np.float64)
    unit = _unit(values, eigenvalues)
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


def _unit(values: Array, eigenvalues: Array) -> float:
    """What eigenvalues are multiplied by to be variances."""
    there = np.flatnonzero(eigenvalues > 0)
    return float(values[there[0]] / eigenvalues[there[0]]) if len(there) else 1.0


def _number(values: Array | None, j: int, unit: float = 1.0) -> float | None:
    """As JSON has it: what is not finite is not known."""
    if values is None or not np.isfinite(values[j] * unit):
        return None
    return float(values[j] * unit)


def _drivers(inner: Any) -> list[Driver]:
    """Of linear models: the columns with the largest loadings on the first components."""
    if not isinstance(inner, LinearModel):
        return []
    loadings = np.asarray(to_numpy(inner.loadings_), dtype=np.float64)  # d × k
    names = _names_of_columns(inner, len(loadings))
    largest = np.argsort(-np.abs(loadings), axis=0, kind="stable")[:_MOST_DRIVERS]
    return [
        Driver(component_name(prefix_of(inner), j), names[i], float(loadings[i, j]))
        for j in range(min(4, loadings.shape[1]))
        for i in largest[:, j]
        if np.isfinite(loadings[i, j])
    ]


def _names_of_columns(inner: Any, d: int) -> Sequence[str]:
    names = getattr(inner, "feature_names_in_", None)
    return [f"x{j}" for j in range(d)] if names is None else [str(name) for name in names]
