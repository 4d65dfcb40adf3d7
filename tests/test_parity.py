"""Both editions agree on every probe of tools/parity.py, and a difference that is put there is found."""

import copy
from dataclasses import replace

import numpy as np
import pytest

import parity
import parity_probes
from parity_probes import Fit, Rejection, given, normal, use

ROWS = normal(60, 4)
FIT = Fit("probe", given(ROWS), dict(n_components=3, svd_solver="covariance_eigh"))


@pytest.mark.parametrize("name", parity.probes())
def test_editions_agree(name):
    outcome = parity.run(name)
    if outcome.skipped:
        pytest.skip(outcome.skipped)
    assert not outcome.unexplained()
    assert outcome.differences, "nothing was compared"


def test_there_are_enough_probes_of_every_estimator():
    probes = parity.probes().values()
    fits = [probe for probe in probes if isinstance(probe, Fit)]
    assert len(fits) >= 120 and len(probes) - len(fits) >= 60
    assert {probe.estimator for probe in fits} == set(parity.ESTIMATORS)


def test_every_row_has_a_reason_and_is_in_one_table():
    rows = {**parity.EXPLAINED, **parity.OPEN}
    assert len(rows) == len(parity.EXPLAINED) + len(parity.OPEN)
    assert all(reason.endswith(".") for reason in rows.values())


# ---------------------------------------------------------------------- the comparison itself


def compare_with(spoil, params=FIT.params, rows=ROWS):
    """The quantities in which a model differs from itself after `spoil`; both have the class of the first edition."""
    sample = given(rows)(None)
    old, _ = parity.fitted("old", replace(FIT, params=params), sample)
    new = copy.deepcopy(old)
    plan = type("Plan", (), {"route": old.plan_.held})()
    new.__dict__["plan_"] = plan
    spoil(new)
    outcome = parity.Outcome("spoiled")
    parity.Subspaces(old, new, sample, outcome).compare()
    return {one.quantity for one in outcome.differences if one.too_large}


def spoil_certificate(**changes):
    def spoil(model):
        values = {name: change(getattr(model.certificate_, name)) for name, change in changes.items()}
        model.certificate_ = replace(model.certificate_, **values)

    return spoil


def turn(model):
    """Turn the first two axes by 1e-10, which is 100 times the bound."""
    first, second = model.components_[:2].copy()
    model.components_[0], model.components_[1] = first + 1e-10 * second, second - 1e-10 * first


def set_attribute(name, change):
    return lambda model: setattr(model, name, change(getattr(model, name)))


SPOILED = {
    "eigenvalues": set_attribute("singular_values_", lambda values: values * (1 + 1e-10)),
    "axes": turn,
    "scores": turn,
    "attributes": set_attribute("explained_variance_ratio_", lambda values: values * (1 + 1e-9)),
    "plan": lambda model: setattr(model.plan_, "route", "another"),
}


def test_equal_models_have_no_difference():
    assert compare_with(lambda model: None) == set()


@pytest.mark.parametrize("quantity", SPOILED)
def test_a_difference_is_found(quantity):
    assert quantity in compare_with(SPOILED[quantity])


@pytest.mark.parametrize(
    "spoil",
    [
        set_attribute("mean_", lambda mean: mean + 1e-9),
        set_attribute("total_variance_", lambda total: total * (1 + 1e-10)),
        set_attribute("noise_variance_", lambda noise: noise * (1 + 1e-8)),
        set_attribute("n_samples_", lambda n: n + 1),
        set_attribute("components_", lambda axes: axes.astype(np.float32)),
        spoil_certificate(converged=lambda converged: not converged),
    ],
    ids=["mean", "total variance", "noise variance", "number of rows", "type", "converged"],
)
def test_a_difference_of_attributes_is_found(spoil):
    assert "attributes" in compare_with(spoil)


def test_a_flipped_axis_is_found():
    def flip(model):
        model.components_[1] *= -1

    assert "axes" in compare_with(flip)


def test_disjoint_intervals_are_found():
    spoil = spoil_certificate(lower=lambda values: values * 1.01, upper=lambda values: values * 1.02)
    assert "eigenvalues" in compare_with(spoil)


def test_a_difference_within_the_certificate_is_none():
    """Wide intervals and angles allow what narrow ones do not."""

    def spoil(model):
        turn(model)
        spoil_certificate(angles=lambda angles: angles + 1e-8)(model)

    assert not compare_with(spoil) & {"axes", "scores"}


def error_of(call, monkeypatch, other=None):
    """The quantities in which two rejections differ, the second edition calling `other`."""
    monkeypatch.setattr(parity, "raised", lambda edition, probe, folder: call if edition == "old" else other)
    outcome = parity.Outcome("rejection")
    parity.compare_rejections(Rejection("rejection", use(lambda model, folder: None)), None, outcome)
    return {one.quantity for one in outcome.differences if one.too_large}


def test_other_exceptions_are_found(monkeypatch):
    wrong = ValueError("n_components=9 must be between 0 and 4")
    assert error_of(wrong, monkeypatch, ValueError("n_components=9 is too large")) == set()
    assert error_of(wrong, monkeypatch, None) == {"error", "parameter"}
    assert error_of(wrong, monkeypatch, TypeError("n_components=9 is too large")) == {"error"}
    assert error_of(wrong, monkeypatch, ValueError("tol=9 is too large")) == {"parameter"}


def test_the_table_names_what_has_no_explanation(monkeypatch):
    outcome = parity.Outcome("made up")
    outcome.add("scores", 7.0, "component 2")
    assert any("UNEXPLAINED: made up: scores" in line for line in parity.table([outcome]))
    monkeypatch.setitem(parity.EXPLAINED, "scores: made*", "A reason.")
    text = "\n".join(parity.table([outcome]))
    assert "UNEXPLAINED" not in text and "1 times: scores: made*: A reason." in text


def test_parameters_are_passed_by_the_names_of_the_edition():
    class Renamed:
        def __init__(self, forgetting_factor=1.0):
            self.forgetting_factor = forgetting_factor

        def get_params(self):
            return vars(self)

    assert parity_probes.made(Renamed, {"forget": 0.5}).forgetting_factor == 0.5
