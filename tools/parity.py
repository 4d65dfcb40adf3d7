"""Compare both editions on the same problems, in one process.

    python tools/parity.py [NAME ...]      a table of all probes, or of those whose name contains one of the words

A fit is compared within both certificates: intervals of eigenvalues intersect, axes and scores agree within the sum of
the bounds on the angles. A number without a certificate agrees to 1e-12. An input that the first edition rejects is
rejected with the same family of exception, for the same parameter. `EXPLAINED` holds the intended differences, `OPEN`
the known defects of the second edition; any other difference is an error, and the exit code is 1.
"""

import re
import sys
import tempfile
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatch
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from sklearn.exceptions import NotFittedError

import mercer_old
from parity_probes import RENAMED, Fit, Rejection, Sample, made, probes

EXACT = 1e-12
UNIT = 2.0**-53
ESTIMATORS = ("PCA", "IncrementalPCA", "ProbabilisticPCA", "FactorAnalysis")
ROUTES = {"triangle": "qr", "gapped": "missing"}  # other names of the first edition are the same
FAMILIES = (
    NotFittedError,
    ValueError,
    TypeError,
    MemoryError,
    OSError,
    AttributeError,
    NotImplementedError,
    RuntimeError,
)

# Intended differences: a pattern of "quantity: probe" or, for plans, of "plan: old route -> new route"; and the reason.
EXPLAINED = {
    "plan: rows -> scatter": "Small arrays with at least ten rows per column use the scatter matrix.",
    "plan: rows -> gram": "Small arrays with at least ten columns per row use the products of all pairs of rows.",
    "plan: scatter -> gram": "Rows fewer than columns: always the products of all pairs of rows.",
    "plan: products -> gram": "Rows fewer than columns: always the products of all pairs of rows.",
    "plan: qr -> rows": "Small arrays: the SVD of the rows has the same digits.",
    "error: dates": "Columns of dates are a DataError with their names, like columns of strings.",
}
# Known defects of the second edition: the same, and what is wrong. A row goes when its defect is mended.
OPEN: dict[str, str] = {}


def estimator_class(edition: str, name: str) -> Any:
    """The class of an edition, or None if it is not written yet."""
    if edition == "old":
        return getattr(mercer_old, name)
    try:
        return getattr(import_module("mercer.estimators"), name)
    except ImportError:
        return None


# ---------------------------------------------------------------------- differences


@dataclass(frozen=True)
class Difference:
    """One compared quantity: the difference in units of what is allowed."""

    quantity: str  # eigenvalues, axes, scores, inverse, attributes, likelihood, plan, warnings or error
    size: float  # of the allowed difference; more than 1 is too much
    text: str = ""

    @property
    def too_large(self) -> bool:
        return not self.size <= 1


@dataclass
class Outcome:
    """What a probe found."""

    name: str
    differences: list[Difference] = field(default_factory=list)
    routes: str = ""
    widths: list[float] = field(default_factory=list)  # of intervals, relative to those of the first edition
    angles: list[float] = field(default_factory=list)  # the same of bounds on angles
    skipped: str = ""

    def add(self, quantity: str, size: Any, text: str = "") -> None:
        self.differences.append(Difference(quantity, float(size), text))

    def largest(self, quantity: str) -> float | None:
        return max((one.size for one in self.differences if one.quantity == quantity), default=None)

    def unexplained(self) -> list[Difference]:
        """Differences that are too large and have no row in a table."""
        return [one for one in self.differences if one.too_large and not self.reason(one)]

    def reason(self, difference: Difference) -> str:
        """The row of a table that matches, or an empty text."""
        where = difference.text if difference.quantity == "plan" else self.name
        rows = EXPLAINED | OPEN
        return next((key for key in rows if fnmatch(f"{difference.quantity}: {where}", key)), "")


def ratio(difference: Any, allowed: Any) -> float:
    """The largest difference in units of what is allowed; NaN and missing values count as infinite."""
    difference, allowed = np.broadcast_arrays(np.abs(np.asarray(difference, float)), np.asarray(allowed, float))
    if not difference.size:
        return 0.0
    with np.errstate(all="ignore"):
        found = np.where(difference == 0, 0.0, difference / allowed)
    return float(np.where(np.isnan(found), np.inf, found).max())


# ---------------------------------------------------------------------- one probe


def run(name: str) -> Outcome:
    """The outcome of one probe, in a folder of its own."""
    probe, outcome = probes()[name], Outcome(name)
    if estimator_class("new", probe.estimator) is None:
        outcome.skipped = f"mercer.estimators has no {probe.estimator}"
        return outcome
    with tempfile.TemporaryDirectory() as folder:
        compare = compare_fits if isinstance(probe, Fit) else compare_rejections
        compare(probe, Path(folder), outcome)  # type: ignore[arg-type]
    return outcome


def compare_fits(probe: Fit, folder: Path, outcome: Outcome) -> None:
    sample = probe.data(folder)
    old, old_warnings = fitted("old", probe, sample)
    try:
        new, new_warnings = fitted("new", probe, sample)
    except Exception as error:
        outcome.add("error", np.inf, f"{type(error).__name__}: {error}")
        return
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        compare = Subspaces if hasattr(old.certificate_, "lower") else Optima
        compare(old, new, sample, outcome).compare()
    text = f"old: {(old_warnings or ['none'])[0][:70]} new: {(new_warnings or ['none'])[0][:70]}"
    outcome.add("warnings", 0.0 if bool(old_warnings) == bool(new_warnings) else np.inf, text)


def fitted(edition: str, probe: Fit, sample: Sample) -> tuple[Any, list[str]]:
    """The model of an edition, and its warnings."""
    model = made(estimator_class(edition, probe.estimator), probe.params)
    weights = {} if sample.weights is None else {"sample_weight": sample.weights}
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        if probe.batches:
            for some in np.array_split(np.arange(len(sample.rows)), probe.batches):
                model.partial_fit(sample.X[some], **{key: value[some] for key, value in weights.items()})
        else:
            model.fit(sample.X, **weights)
        _ = model.certificate_  # IncrementalPCA solves when it is read
    return model, [str(warning.message) for warning in found]


def compare_rejections(probe: Rejection, folder: Path, outcome: Outcome) -> None:
    old, new = raised("old", probe, folder), raised("new", probe, folder)
    text = "; ".join(f"{name} {type(error).__name__}: {error}"[:90] for name, error in (("old", old), ("new", new)))
    missing = families(old) - families(new)
    outcome.add("error", np.inf if (old is None) != (new is None) or missing else 0.0, text)
    named = parameter(old)
    same = parameter(new) in (named, RENAMED.get(named or "", named))
    outcome.add("parameter", np.inf if named and not same else 0.0, f"old {named}; {text}")


def raised(edition: str, probe: Rejection, folder: Path) -> BaseException | None:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            probe.call(estimator_class(edition, probe.estimator), folder)
        except Exception as error:
            return error
    return None


def families(error: BaseException | None) -> set[str]:
    """The built-in classes of which the exception is an instance."""
    return {family.__name__ for family in FAMILIES if isinstance(error, family)}


def parameter(error: BaseException | None) -> str | None:
    """The parameter that the exception names: its field, or scikit-learn's wording."""
    named = getattr(error, "parameter", None)
    if named is None and (match := re.match(r"(?:The '(\w+)' parameter of|(\w+)=)", str(error))):
        named = match[1] or match[2]
    return named


# ---------------------------------------------------------------------- comparison of models


class Subspaces:
    """Two models with eigenvalues, axes and certificates of both."""

    def __init__(self, old: Any, new: Any, sample: Sample, outcome: Outcome) -> None:
        self.old, self.new, self.sample, self.outcome = old, new, sample, outcome
        self.k, self.d = new.components_.shape
        single = np.float32 in (old.components_.dtype, new.components_.dtype)
        self.unit = 2.0**-24 if single else UNIT

    def compare(self) -> None:
        self.compare_counts()
        if self.old.components_.shape != self.new.components_.shape:
            return
        self.compare_verdicts()
        self.compare_eigenvalues()
        self.compare_numbers()
        if self.k:
            self.compare_axes()
            self.compare_scores()
            self.compare_density()
        self.compare_plans()

    def compare_counts(self) -> None:
        """Whatever is not a rounded number is equal."""
        different = []
        for name in ("n_components_", "n_samples_", "n_features_in_", "n_samples_seen_", "feature_names_in_"):
            if not hasattr(self.old, name):
                continue
            values = [getattr(model, name, None) for model in (self.old, self.new)]
            if not np.array_equal(np.asarray(values[0]), np.asarray(values[1])):
                different.append(f"{name} {values}")
        for name in ("components_", "explained_variance_", "mean_", "scale_"):
            types = [getattr(getattr(model, name, None), "dtype", None) for model in (self.old, self.new)]
            if types[0] != types[1]:
                different.append(f"type of {name} {types}")
        converged = [model.certificate_.converged for model in (self.old, self.new)]
        if converged[0] != converged[1]:
            different.append(f"converged {converged}")
        self.outcome.add("attributes", np.inf if different else 0.0, ", ".join(different))

    def compare_verdicts(self) -> None:
        """Certified is what converged; in the second edition, nothing may be missed or undetermined either."""
        certificate = self.new.certificate_
        doubt = bool(getattr(certificate, "unresolved", ())) or getattr(certificate, "n_complete", self.k) < self.k
        verdicts = self.old.certificate_.certified, certificate.certified
        allowed = verdicts[0] == verdicts[1] or (verdicts == (True, False) and doubt)
        self.outcome.add("attributes", 0.0 if allowed else np.inf, f"certified {verdicts}")
        for name, found in (("angles", self.outcome.angles), ("widths", self.outcome.widths)):
            old, new = (_bounds(model.certificate_, name) for model in (self.old, self.new))
            known = (old > 0) & (new > 0) & (old < 1e-3)
            found.extend((new[known] / old[known]).tolist())

    def compare_eigenvalues(self) -> None:
        """Intervals intersect, and the values differ by no more than the sum of their widths."""
        values, radii = [], []
        lower = np.full(self.k, -np.inf)
        upper = np.full(self.k, np.inf)
        for model in (self.old, self.new):
            certificate, value = model.certificate_, np.asarray(model.singular_values_, float) ** 2
            lower, upper = np.maximum(lower, certificate.lower), np.minimum(upper, certificate.upper)
            values.append(value)
            radii.append(certificate.upper - certificate.lower + 8 * self.unit * value)
        self.values, self.radius = np.maximum(*values), radii[0] + radii[1]
        self.present = np.asarray(self.new.singular_values_) > 0
        disjoint = upper < lower
        text = f"components {(np.flatnonzero(disjoint) + 1).tolist()}: intervals are disjoint" if disjoint.any() else ""
        finite = np.isfinite(self.values) & np.isfinite(self.radius)
        size = ratio((values[0] - values[1])[finite], self.radius[finite])
        self.outcome.add("eigenvalues", np.inf if disjoint.any() else size, text)
        # Squares of very small or large numbers are no numbers, and then singular values have only these bounds.
        singular = [np.asarray(model.singular_values_, float) for model in (self.old, self.new)]
        safe = finite & (self.values > 1e-290)
        relative = np.where(safe, self.radius / (self.values + 1e-300), 1e-8)
        allowed = (relative + EXACT) * np.maximum(*singular) + np.where(safe, 0.0, 1e-12 * singular[0].max(initial=0.0))
        self.outcome.add("attributes", ratio(singular[0] - singular[1], allowed), "singular_values_")

    def compare_numbers(self) -> None:
        """Attributes that follow from eigenvalues, and those that need none."""
        old, new = self.old, self.new
        total = np.nan_to_num(max(float(old.total_variance_), float(new.total_variance_)))
        rounding = [float(model.certificate_.rounding) for model in (old, new)]
        squares = float((np.maximum(*[np.asarray(m.singular_values_, float) for m in (old, new)]) ** 2).sum())
        with np.errstate(all="ignore"):
            share = np.nan_to_num(squares / self.degrees / total, nan=1.0) if total else 1.0
            per_variance = total * share / squares if squares else 0.0
        spread = np.where(np.isfinite(self.radius), self.radius, 0.0) * per_variance
        slack = EXACT * total + sum(rounding) * per_variance * self.d
        for name, allowed in {
            "explained_variance_": spread + 16 * self.unit * total + EXACT * total,
            "explained_variance_ratio_": (spread + slack) / total + 8 * self.unit if total else 1e-10,
            "total_variance_": slack + 8 * self.unit * total,
            "noise_variance_": spread.sum() + slack,
            "reconstruction_error_": (spread.sum() + slack) * 2 if total else 1e-9 * old.reconstruction_error_,
        }.items():
            values = [np.asarray(getattr(model, name), float) for model in (old, new)]
            both = np.isnan(values[0]) & np.isnan(values[1])
            self.outcome.add("attributes", ratio(np.where(both, 0.0, values[0] - values[1]), allowed), name)
        largest = np.abs(self.sample.rows).max(axis=0, initial=0.0, where=np.isfinite(self.sample.rows))
        self.mean_change = np.abs(_float(old, "_mean64", "mean_") - _float(new, "_mean64", "mean_"))
        means = np.abs(np.asarray(old.mean_, float) - np.asarray(new.mean_, float))
        self.outcome.add("attributes", ratio(means, (EXACT + 4 * self.unit) * largest), "mean_")
        if hasattr(old, "scale_"):
            scales = np.asarray(old.scale_, float), np.asarray(new.scale_, float)
            self.outcome.add("attributes", ratio(scales[0] - scales[1], (1e-10 + 4 * self.unit) * scales[0]), "scale_")

    @property
    def degrees(self) -> float:
        weights = self.sample.weights
        return (len(self.sample.rows) if weights is None else float(np.sum(weights))) - 1.0

    def groups(self) -> Iterator[tuple[int, int, float]]:
        """Components that both certificates tell from the others: start, stop, sum of both bounds on the angle."""
        joined = np.zeros(max(self.k - 1, 0), dtype=bool)  # whether component i + 1 belongs to the group of i
        for model in (self.old, self.new):
            for start, stop in getattr(model.certificate_, "clusters", ()):
                joined[start : stop - 1] = True
        edges = [0, *(np.flatnonzero(~joined) + 1).tolist(), self.k]
        for start, stop in pairwise(edges):
            members = slice(start, stop)
            angles = [np.asarray(model.certificate_.angles, float)[members] for model in (self.old, self.new)]
            bound = float(sum(np.linalg.norm(each) for each in angles)) + 16 * self.unit
            if start < stop and bound < 0.5 and self.present[members].all():
                yield start, stop, bound

    def compare_axes(self) -> None:
        worst, text = 0.0, ""
        old, new = (np.asarray(model.components_, float) for model in (self.old, self.new))
        for start, stop, bound in self.groups():
            inside = old[start:stop] @ new[start:stop].T
            sine = float(np.linalg.norm(old[start:stop] - inside @ new[start:stop], 2))
            if sine / bound > worst:
                worst, text = sine / bound, f"components {start + 1} to {stop}"
        self.outcome.add("axes", worst, text)
        gram = new @ new.T - np.eye(self.k)
        self.outcome.add("attributes", ratio(gram, max(1e-11, 64 * self.unit)), "components_ are orthonormal")

    def compare_scores(self) -> None:
        """Scores of training rows and of new ones, and what is reconstructed from them."""
        rows = self.sample.rows
        self.compare_scores_of(self.sample.X, rows)
        if np.abs(rows).max(initial=0.0) < 1e100:
            self.compare_scores_of(1.25 * rows[:4] - 0.5 * rows[-4:], 1.25 * rows[:4] - 0.5 * rows[-4:])
        same_signs = self.same_signs()
        wrong = [start + 1 for start, stop, bound in self.groups() if self.has_clear_sign(start, stop, bound)]
        wrong = [number for number in wrong if same_signs[number - 1] < 0]
        self.outcome.add("axes", np.inf if wrong else 0.0, f"signs of components {wrong}" if wrong else "")

    def compare_scores_of(self, X: Any, rows: NDArray) -> None:
        scale, signs = _float(self.new, "scale_"), self.same_signs()
        moved = (rows - np.asarray(self.new.mean_, float)) / scale
        length = np.array([linalg.norm(row) for row in moved])  # BLAS does not overflow
        relative = (4 * self.d + 32) * self.unit + (1e-10 if hasattr(self.new, "scale_") else 0.0)
        slack = relative * length + float(linalg.norm(self.mean_change / scale))
        slack += 4 * UNIT * np.abs(rows / scale).max(axis=1, initial=0.0) * np.sqrt(self.d)
        old, new = (np.asarray(model.transform(X), float) for model in (self.old, self.new))
        worst, text, total_bound = 0.0, "", 0.0
        compared = np.zeros(self.k, dtype=bool)
        for start, stop, bound in self.groups():
            compared[start:stop] = True
            total_bound += bound
            if stop - start > 1:
                continue
            factor, more = self.whitening(start)
            allowed = (bound * length + slack) * factor + more * np.abs(new[:, start])
            size = ratio(old[:, start] * signs[start] - new[:, start], allowed)
            if size > worst:
                worst, text = size, f"component {start + 1}"
        self.outcome.add("scores", worst, text)
        if compared[self.present].all():
            back = [np.asarray(model.inverse_transform(model.transform(X)), float) for model in (self.old, self.new)]
            largest = np.abs(rows).max(axis=1, initial=0.0)
            allowed = (2 * total_bound * length + 4 * slack) * scale.max(initial=0.0) + 16 * self.unit * largest
            self.outcome.add("inverse", ratio(back[0] - back[1], allowed[:, None]), "inverse_transform")

    def same_signs(self) -> NDArray:
        return np.sign((np.asarray(self.old.components_, float) * np.asarray(self.new.components_, float)).sum(axis=1))

    def has_clear_sign(self, start: int, stop: int, bound: float) -> bool:
        """Whether one entry of the axis is the largest: its sign is positive by convention."""
        axis = np.sort(np.abs(np.asarray(self.new.components_, float)[start]))
        return stop - start == 1 and (len(axis) == 1 or bool(axis[-1] - axis[-2] > 2 * bound))

    def whitening(self, i: int) -> tuple[float, float]:
        """The factor of a whitened score, and its relative uncertainty."""
        if not getattr(self.new, "whiten", False):
            return 1.0, 0.0
        deviation = float(np.sqrt(np.asarray(self.new.explained_variance_, float)[i]))
        uncertainty = float(self.radius[i] / max(self.values[i], 1e-300))
        return (1 / deviation, uncertainty) if deviation > 0 else (0.0, np.inf)

    def compare_density(self) -> None:
        """Log-likelihoods, where the variances are known well enough to have one."""
        if not hasattr(self.old, "score_samples"):
            return
        noise = [float(model.noise_variance_) for model in (self.old, self.new)]
        known = self.present & (self.values > 0)
        relative = (self.radius[known] / self.values[known]).max(initial=0.0)
        outside = abs(noise[0] - noise[1]) / max(*noise, 1e-300)
        if not np.isfinite(noise).all() or relative + outside > 1e-6 or (~known).any():
            return
        old, new = (np.asarray(model.score_samples(self.sample.X), float) for model in (self.old, self.new))
        angle = max((bound for _, _, bound in self.groups()), default=1.0)
        spread = np.abs(new).max(initial=1.0) * self.d
        mahalanobis = np.abs(new - new.max(initial=0.0)).max(initial=0.0) + self.d
        allowed = (EXACT + 64 * self.unit) * spread + 4 * (relative + outside + angle) * self.d * mahalanobis
        self.outcome.add("likelihood", ratio(old - new, allowed), "score_samples")
        score = self.new.score(self.sample.X)
        self.outcome.add("likelihood", ratio(score - new.mean(), (EXACT + 16 * self.unit) * (1 + abs(score))), "score")

    def compare_plans(self) -> None:
        old, new = ROUTES.get(self.old.plan_.held, self.old.plan_.held), self.new.plan_.route
        self.outcome.routes = new if old == new else f"{old} -> {new}"
        self.outcome.add("plan", 0.0 if old == new else np.inf, self.outcome.routes)


class Optima:
    """Two models that an iteration found: EM, or a search for the maximum of a likelihood."""

    def __init__(self, old: Any, new: Any, sample: Sample, outcome: Outcome) -> None:
        self.old, self.new, self.sample, self.outcome = old, new, sample, outcome

    def compare(self) -> None:
        names = ["loglike_", "loglike_" if hasattr(self.new, "loglike_") else "log_likelihood_"]
        models = (self.old, self.new)
        likelihoods = [float(np.ravel(getattr(*pair))[-1]) for pair in zip(models, names, strict=True)]
        size = abs(likelihoods[0]) + len(self.sample.rows)
        # A higher maximum is not a defect.
        self.outcome.add("likelihood", ratio(max(likelihoods[0] - likelihoods[1], 0.0), 1e-9 * size), f"{likelihoods}")
        old, new = np.asarray(self.old.components_, float), np.asarray(self.new.components_, float)
        if old.shape != new.shape:
            self.outcome.add("attributes", np.inf, f"n_components_ {len(old)} {len(new)}")
            return
        scale = max(float(np.abs(old).max(initial=0.0)), 1e-300)
        self.outcome.add("axes", ratio(old - new, 1e-6 * scale), "components_")
        noise = np.asarray(self.old.noise_variance_, float), np.asarray(self.new.noise_variance_, float)
        self.outcome.add("attributes", ratio(noise[0] - noise[1], 1e-6 * noise[0].max(initial=0.0)), "noise_variance_")
        scores = [np.asarray(model.transform(self.sample.X), float) for model in (self.old, self.new)]
        self.outcome.add("scores", ratio(scores[0] - scores[1], 1e-5 * scores[0].std(axis=0)), "transform")
        if hasattr(self.old, "impute"):
            filled = [np.asarray(model.impute(self.sample.X), float) for model in (self.old, self.new)]
            deviations = np.nanstd(self.sample.rows, axis=0)
            self.outcome.add("inverse", ratio(filled[0] - filled[1], 1e-5 * deviations), "impute")
        old_route, new_route = ROUTES.get(self.old.plan_.held, self.old.plan_.held), self.new.plan_.route
        self.outcome.routes = new_route if old_route == new_route else f"{old_route} -> {new_route}"
        self.outcome.add("plan", 0.0 if old_route == new_route else np.inf, self.outcome.routes)


def _bounds(certificate: Any, name: str) -> NDArray:
    """Bounds on angles, or relative widths of intervals."""
    if name == "angles":
        return np.asarray(getattr(certificate, "angles", ()), float)
    return (certificate.upper - certificate.lower) / np.maximum(certificate.upper, 1e-300)


def _float(model: Any, *names: str) -> NDArray:
    """The first attribute there is, in float64; ones if there is none."""
    for name in names:
        if getattr(model, name, None) is not None:
            return np.asarray(getattr(model, name), float)
    return np.ones(model.n_features_in_)


# ---------------------------------------------------------------------- table

SHOWN = ("eigenvalues", "axes", "scores", "inverse", "attributes", "likelihood", "warnings", "error")


def table(outcomes: list[Outcome]) -> Iterator[str]:
    """A line for each probe, the largest differences, and what has no explanation."""
    yield f"{'probe':<42}" + "".join(f"{name:>12}" for name in SHOWN) + "  route"
    for outcome in outcomes:
        if outcome.skipped:
            continue
        cells = [outcome.largest(name) for name in SHOWN]
        yield f"{outcome.name:<42}" + "".join(f"{_cell(cell):>12}" for cell in cells) + f"  {outcome.routes}"
    largest = {name: max((o.largest(name) or 0.0 for o in outcomes), default=0.0) for name in SHOWN}
    yield f"{'largest':<42}" + "".join(f"{_cell(size):>12}" for size in largest.values())
    skipped = sorted({outcome.skipped for outcome in outcomes if outcome.skipped})
    for text in skipped:
        yield f"{sum(outcome.skipped == text for outcome in outcomes)} probes were skipped: {text}."
    used = [outcome.reason(one) for outcome in outcomes for one in outcome.differences if one.too_large]
    for title, rows in (("Explained", EXPLAINED), ("Open", OPEN)):
        for row, reason in rows.items():
            yield f"{title}, {used.count(row)} times: {row}: {reason}"
    for name in ("widths", "angles"):
        if found := [number for outcome in outcomes for number in getattr(outcome, name)]:
            low, middle, high = np.quantile(found, [0.05, 0.5, 0.95])
            yield f"Claimed {name}, new to old: {low:.2f} to {high:.2f} (90% of them), median {middle:.2f}."
    for outcome in outcomes:
        for one in outcome.unexplained():
            yield f"UNEXPLAINED: {outcome.name}: {one.quantity} ({one.size:.3g} of the allowed difference) {one.text}"
    compared = [outcome for outcome in outcomes if not outcome.skipped]
    bad = sum(bool(outcome.unexplained()) for outcome in compared)
    yield f"{len(compared)} probes compared, {bad} with an unexplained difference. Sizes: units of the certificates."


def _cell(size: float | None) -> str:
    return "" if size is None else "differ" if size == np.inf else f"{size:.2g}"


def main(words: list[str]) -> int:
    chosen = [name for name in probes() if not words or any(word in name for word in words)]
    outcomes = [run(name) for name in chosen]
    print(*table(outcomes), sep="\n")
    return 1 if any(outcome.unexplained() for outcome in outcomes) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
