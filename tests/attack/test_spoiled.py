"""A test of the attack: certificates that are spoiled on purpose are caught, each as what it is."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from attack import local
from attack.editions import attacking, estimator, exists
from attack.judge import Claims, Verdict, judge
from attack.kernels import kernel_matrix
from attack.landmark import share_seen
from attack.precise import DD
from attack.problems import Problem, try_problem
from attack.tally import Tally
from attack.truth import kernel_truth, linear_truth, truth_of
from mercer import KernelPCA
from mercer.certificates.gap import certify_gaps
from mercer.kernels import RBF
from mercer.linalg.eigen import Eigenpairs

ROWS = np.random.default_rng(0).normal(size=(40, 5)) * [5, 4, 3, 2, 1]


EDITIONS = [edition for edition in ("old", "new") if exists("PCA", edition)]
READ = ("n_components", "residuals", "lower", "upper", "angles", "clusters", "n_complete", "bound_beyond", "rounding")


def changed(certificate, **changes):
    """What the attack reads of a certificate, with some of it changed."""
    return SimpleNamespace(**{name: getattr(certificate, name) for name in (*READ, "noise")} | changes)


def pca_problem(spoil=lambda certificate: certificate, k=3, edition="old"):
    def fit():
        with attacking(edition):
            model = estimator("PCA", k, svd_solver="covariance_eigh").fit(ROWS)
        model.certificate_ = spoil(model.certificate_)
        return model

    return Problem(fit, lambda _: linear_truth(ROWS), "spoiled", asked=k)


def kinds(problem):
    return {violation.kind for violation in try_problem(problem).violations}


SPOILED = {
    "below": lambda c: changed(c, lower=c.upper, upper=c.upper * 1.1),
    "above": lambda c: changed(c, upper=c.lower, lower=c.lower * 0.9),
    "beyond": lambda c: changed(c, bound_beyond=c.bound_beyond * 0.9),
    "angle": lambda c: changed(c, angles=c.angles * 1e-9),
    "residual": lambda c: changed(c, residuals=0 * c.residuals, noise=0 * c.noise),
    "own": lambda c: changed(c, lower=c.lower * 1.01, upper=c.upper * 1.02),
    "nan": lambda c: changed(c, upper=c.upper * np.nan),
}


@pytest.mark.parametrize("edition", EDITIONS)
def test_a_certificate_as_it_is_passes(edition):
    verdict = try_problem(pca_problem(edition=edition))
    assert not verdict.violations and sum(verdict.statements.values()) > 15


@pytest.mark.parametrize("edition", EDITIONS)
@pytest.mark.parametrize("kind", SPOILED)
def test_a_spoiled_certificate_is_caught(kind, edition):
    assert kind in kinds(pca_problem(SPOILED[kind], edition=edition))


@pytest.mark.parametrize("edition", EDITIONS)
def test_an_interval_that_is_off_by_a_few_roundings_is_caught(edition):
    """The attack sees what is wrong by one part in 10¹⁵, as it knows the truth to thirty digits."""
    true = linear_truth(ROWS)
    values = np.ldexp(true.values.hi[:3], -true.exponent)
    above, below = (
        pca_problem(lambda c, e=e: changed(c, lower=values * (1 + e)), edition=edition) for e in (1e-15, -1e-15)
    )
    assert "below" in kinds(above) and not kinds(below)


@pytest.mark.parametrize("edition", EDITIONS)
def test_a_dropped_pair_is_caught_as_missed(edition):
    def fit():
        with attacking(edition):
            model = estimator("PCA", 3, svd_solver="covariance_eigh").fit(ROWS)
        c, kept = model.certificate_, [0, 2]
        arrays = {name: getattr(c, name)[kept] for name in ("residuals", "lower", "upper", "angles", "noise")}
        model.certificate_ = changed(c, n_components=2, n_complete=2, **arrays)
        model.components_, model.singular_values_ = model.components_[kept], model.singular_values_[kept]
        return model

    found = kinds(Problem(fit, lambda _: linear_truth(ROWS), "dropped", asked=3))
    assert {"complete", "above", "few", "unwarned"} <= found


@pytest.mark.parametrize("edition", EDITIONS)
def test_a_certificate_that_forgets_rounding_is_caught(edition):
    """Intervals that begin at the computed values, a thousandth as wide."""

    def spoiled(k):
        def fit():
            model = pca_problem(k=k, edition=edition).fit()
            values, c = model.singular_values_**2, model.certificate_
            model.certificate_ = changed(c, lower=values, upper=values + (c.upper - c.lower) / 1e3)
            return model

        return Problem(fit, lambda _: linear_truth(ROWS), "spoiled", asked=k)

    caught = [kinds(spoiled(k)) for k in (1, 2, 3, 5)]
    assert any("below" in found or "above" in found for found in caught)


@pytest.mark.parametrize("edition", EDITIONS)
def test_a_certificate_that_trusts_an_unfinished_iteration_is_caught(edition):
    """With tol=0.5 on noise, directions are far off: bounds on angles as if they had converged are wrong."""
    noise = np.random.default_rng(5).normal(size=(90, 60))

    def fit(spoil):
        with attacking(edition):
            model = estimator("PCA", 4, svd_solver="krylov", tol=0.5, random_state=0).fit(noise)
        if spoil:  # turned by as much as this tolerance may leave
            turn = np.linalg.qr(np.eye(60) + 0.02 * np.random.default_rng(6).normal(size=(60, 60)))[0]
            model.components_ = model.components_ @ turn
            model.certificate_ = changed(model.certificate_, angles=np.full(4, 1e-9), n_complete=4, clusters=())
        return model

    assert not kinds(Problem(lambda: fit(False), lambda _: linear_truth(noise), "as it is", asked=4))
    assert "angle" in kinds(Problem(lambda: fit(True), lambda _: linear_truth(noise), "spoiled", asked=4))


@pytest.mark.parametrize(
    ("kind", "spoil"),
    [
        ("total", lambda c: replace(c, total=(c.total[1] * 1.1, c.total[1] * 1.5))),
        ("explained", lambda c: replace(c, explained=(0.0, c.explained[0] * 0.5))),
        ("captured", lambda c: replace(c, captured=1.0)),
        ("below", lambda c: replace(c, lower=c.upper * 1.01, upper=c.upper * 1.02)),
        ("above", lambda c: replace(c, upper=c.lower * 0.99)),
    ],
)
def test_a_spoiled_certificate_of_landmarks_is_caught(kind, spoil):
    kernel = RBF(0.05)

    def problem(spoil):
        def fit():
            model = KernelPCA(2, kernel=kernel, n_landmarks=6).fit(ROWS)
            model.certificate_ = spoil(model.certificate_)
            return model

        def truth(_):
            return kernel_truth(*kernel_matrix(kernel, ROWS))

        return Problem(fit, truth, "landmarks", captured=lambda model: share_seen(model, ROWS, None))

    assert not kinds(problem(lambda c: c))
    assert kind in kinds(problem(spoil))


@pytest.mark.parametrize(
    ("kind", "spoil"),
    [
        ("above", lambda c: replace(c, lower=c.upper * 1.5, upper=c.upper * 2)),
        ("below", lambda c: replace(c, upper=c.lower * 0.5)),
        ("beyond", lambda c: replace(c, bound_beyond=c.bound_beyond * 1.5)),
        ("angle", lambda c: replace(c, angles=c.angles * 1e-9)),
    ],
)
def test_a_spoiled_certificate_of_an_embedding_is_caught(kind, spoil):
    def problem(spoil):
        kept = local.lle(np.random.default_rng(3), local.sheet(np.random.default_rng(0), 40), "sheet")

        def fit():
            model = kept.fit()
            model.certificate_ = spoil(model.certificate_)
            return model

        return replace(kept, fit=fit)

    assert not kinds(problem(lambda c: c))
    assert kind in kinds(problem(spoil))


def test_crashes_count_and_refusals_in_words_do_not():
    def raising(error):
        def fit():
            raise error

        return Problem(fit, None, "raises")

    assert kinds(raising(ZeroDivisionError("division by zero"))) == {"crash"}
    assert kinds(raising(np.linalg.LinAlgError("did not converge"))) == {"crash"}
    assert try_problem(raising(ValueError("scale the data down"))).refused == "scale the data down"
    assert not kinds(raising(ValueError("scale the data down")))


def test_the_table_names_what_is_wrong_so_that_it_can_be_run_alone():
    tally = Tally()
    tally.add("spoiled", "spoiled:0:7", "a problem", try_problem(pca_problem(SPOILED["below"])))
    assert tally.failures == 1
    text = str(tally)
    assert "spoiled:0:7" in text and "1 problems with a violated one" in text and "half widths" in text


def test_of_equal_eigenvalues_only_the_span_is_claimed():
    """Two eigenvalues of zero, and vectors that are turned among those of them."""
    turned = np.array([[0.8, -0.6], [0.6, 0.8], [0.0, 0.0]])
    pairs = Eigenpairs(np.zeros(2), turned, np.zeros(2), np.zeros((3, 2)), norm=1.0, bound=1e-3)
    claims = Claims.of_gaps(certify_gaps(pairs, tol=1e-6), 0)
    assert claims.groups == [(0, 2)]
    verdict = Verdict()
    judge(truth_of(DD(-np.diag([0.0, 0.0, 1e-3]))), claims, turned, verdict)
    assert verdict.statements["angle"] == 1 and not verdict.violations
