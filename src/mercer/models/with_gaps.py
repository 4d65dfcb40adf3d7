"""A fit to rows with gaps, and the fitted names that follow from it."""

from typing import Any

import numpy as np
from scipy import sparse

from mercer.arrays import Array, Home, dense, single_or_double
from mercer.certificates.filling import FillingCertificate
from mercer.certificates.residuals import Certificate
from mercer.errors import BadData, warn_each
from mercer.fits.door import open_items
from mercer.fits.gaps.finding import find_factors
from mercer.fits.gaps.task import Answer, GapsFound, GapsTask
from mercer.fits.gaps.telling import about_climb, certificate_of
from mercer.fits.linear.units import squared_units
from mercer.fits.training import Training, weigh
from mercer.models.filling import FillsGaps
from mercer.models.linear import Exact, as_narrow
from mercer.plans.gaps import gaps_plan
from mercer.plans.plan import Plan
from mercer.solvers.expectation import Expectation
from mercer.sources.items import Items

_TOL = 1e-5  # nats for each number that is there: what a pass has to gain


class WithGaps(FillsGaps):
    """A linear model that is fitted to rows of which numbers may be missing; of complete ones, as ever."""

    prior: str | None
    held_out: float
    max_iter: int
    n_missing_: Array
    loglike_: float
    n_iter_: int
    certificate_: Certificate | FillingCertificate  # type: ignore[assignment]

    def _fit(self, X: Any, sample_weight: Any) -> Items:
        """Nobody looks for gaps beforehand: whoever sums up the rows stumbles over them."""
        try:
            return super()._fit(X, sample_weight)
        except GapsFound:
            return self._fit_with_gaps(X, sample_weight)

    def _training_items(self, X: Any) -> Items:
        return open_items(self, X, reset=True, mapped=True, finite=False, gaps=True)

    def _look_at_left_out(self, X: Any) -> None:
        open_items(self, X, reset=False, gaps=True)

    def _look(self, X: Any) -> None:
        """Numbers that are not finite are gaps, or too large to be squared; infinite ones are refused."""
        self._stumble(open_items(self, X, reset=False, gaps=True))

    def _stumble(self, items: Items) -> None:
        if any(_has_gaps(block) for block in ([items.load()] if items.held else items.blocks(1024))):
            raise GapsFound

    def _fit_with_gaps(self, X: Any, sample_weight: Any) -> Items:
        """By expectation and maximisation, over rows in memory."""
        home, training = self._home_of(X), weigh(self._training_items(X), sample_weight)
        plan = self._plan_for_gaps(training)
        training = training.in_memory()
        rows = dense(training.items.load(), np.float64)
        self._dtype, self.n_samples_ = single_or_double(training.items.as_rows().dtype), len(rows)
        found = find_factors(
            GapsTask(
                rows=rows,
                weights=training.weights,
                asked="cv" if self.n_components == "cv" else self._number_of(rows.shape),
                prior=self.prior,
                tol=self.tol or _TOL,
                most_passes=int(self.max_iter),
                held_out=float(self.held_out),
                standardize=self.standardize,
                limits=self._limits(),
                rng=self._rng,
                names=getattr(self, "feature_names_in_", None),
                progress=self.progress,
            )
        )
        self._keep_answer(found, plan, training, np.isnan(rows), home)
        return training.all_items

    def _number_of(self, shape: tuple[int, int]) -> int:
        most = min(shape)
        if isinstance(self.n_components, (str, float)):
            raise BadData(
                f"n_components={self.n_components!r} looks at the variances of complete rows, and numbers are missing: "
                'give a whole number, or "cv", which holds some numbers out.'
            )
        if self.n_components is None:
            return most
        if not 1 <= self.n_components <= most:
            raise ValueError(
                f"n_components={self.n_components} must be between 1 and min(n_samples, n_features)={most} where "
                "numbers are missing."
            )
        return int(self.n_components)

    def _plan_for_gaps(self, training: Training) -> Plan:
        rows = training.items.as_rows()
        if rows.sparse:
            raise BadData(
                "X is sparse and has numbers missing (NaN): gaps are for dense rows, as what is not stored in sparse "
                "ones is zero. Give X.toarray()."
            )
        k = None if self.n_components == "cv" else self._number_of((training.count, rows.width))
        solver = Expectation(self.prior, self.tol or _TOL, int(self.max_iter))
        return gaps_plan(training.count, rows.width, k, solver, self._limits())

    def _keep_answer(self, found: Answer, plan: Plan, training: Training, gaps: Array, home: Home) -> None:
        """All fitted names that follow from factors."""
        W, d = found.factors.W, len(found.centre)
        lengths = np.sqrt((W**2).sum(axis=0))
        unit = 1.0 if self.standardize else float(found.scale[0])
        weight = float(len(gaps) if training.weights is None else training.weights.sum())
        axes = np.divide(W, lengths, out=_any_axes(W), where=lengths > 0).T
        noise, variances = found.factors.noise, lengths**2 + found.factors.noise
        total = float((lengths**2).sum()) + d * noise
        arrays = {
            "components_": axes,
            "explained_variance_": squared_units(variances, unit),
            "explained_variance_ratio_": variances / total if total > 0 else np.zeros(len(variances)),
            "singular_values_": np.sqrt(weight * variances) * unit,
            "mean_": found.centre + found.scale * found.factors.mean,
        }
        for name, array in arrays.items():
            setattr(self, name, home.bring(as_narrow(array, self._dtype)))
        self.__dict__.pop("scale_", None)
        if self.standardize:
            self.scale_ = home.bring(found.scale.astype(self._dtype))
        self.n_components_ = len(variances)
        self.noise_variance_, self.total_variance_ = squared_units(noise, unit), squared_units(total, unit)
        self.reconstruction_error_ = squared_units((d - len(variances)) * noise, unit)
        columns = squared_units((W**2).sum(axis=1) + noise, unit)
        self._exact = Exact(arrays["mean_"], columns, weight)
        self.n_missing_, self.loglike_, self.n_iter_ = gaps.sum(axis=0), found.likelihood, max(1, found.passes)
        known = certificate_of(found, self.prior, gaps)
        self.plan_, self.certificate_ = plan, known
        warn_each([*found.warnings, *about_climb(known, int(self.max_iter))])

    def _plan(self, X: Any, sample_weight: Any) -> Plan:
        """Whether numbers are missing is known once all were read: they are looked for first."""
        try:
            self._stumble(self._training_items(X))
            return super()._plan(X, sample_weight)
        except GapsFound:
            return self._plan_for_gaps(weigh(self._training_items(X), sample_weight))


def _has_gaps(block: Any) -> bool:
    data = block.data if sparse.issparse(block) else block
    return bool(data.dtype.kind == "f" and np.isnan(data).any())


def _any_axes(W: Array) -> Array:
    """Directions at right angles to the others, for factors without length."""
    return np.asarray(
        np.linalg.qr(np.hstack([W, np.random.default_rng(0).standard_normal(W.shape)]))[0][:, : W.shape[1]]
    )
