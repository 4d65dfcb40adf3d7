"""Rows of any size: right, or refused in words."""

import warnings
from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mercer import PCA, IncrementalPCA
from mercer_old.errors import BadData
from support.linear import SOLVERS, rows_with_spectrum
from support.long_double import centred, holds, singular_values
from support.silence import quiet

SIZES = [-300, -170, -162, -158, -150, -120, -81, 85, 118, 150, 153]


@cache
def of_size(power):
    """Rows of size 10^power, as near to the same ones as they are stored; the true singular values, and that size."""
    X = rows_with_spectrum(40, 4, [4, 3, 2, 1], seed=9) + np.array([1.0, 0, 0, 3])
    scaled = X * 10.0**power
    unit = np.longdouble(10) ** power
    return scaled, singular_values(centred(scaled.astype(np.longdouble) / unit)), unit


@pytest.mark.parametrize("solver", [*SOLVERS, "batches"])
@pytest.mark.parametrize("power", SIZES)
def test_rows_of_any_size_are_right_and_what_is_no_number_is_told(power, solver):
    X, sigma, unit = of_size(power)
    model = IncrementalPCA(3) if solver == "batches" else PCA(3, svd_solver=solver)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        for rows in np.split(X, 4) if solver == "batches" else [X]:
            model = model.partial_fit(rows) if solver == "batches" else model.fit(rows)
        found, certificate = model.singular_values_, model.certificate_
    assert_allclose((found / unit).astype(float), sigma[:3].astype(float), rtol=1e-11)
    assert certificate.certified
    told = [message for message in said if "another unit" in str(message.message)]
    true = (sigma * unit) ** 2  # long double holds them
    if power < -154:
        assert len(told) == 1
    else:
        assert told == []
        assert holds(certificate, true)
        assert_allclose(model.explained_variance_, (true[:3] / 39).astype(float), rtol=1e-11)
    assert np.all(certificate.lower <= true[:3])
    assert np.all(true[:3] <= certificate.upper)
    assert true[3] <= certificate.bound_beyond
    assert_allclose(model.explained_variance_ratio_, (sigma[:3] ** 2 / np.sum(sigma**2)).astype(float), rtol=1e-11)
    scores = (model.transform(X) / unit).astype(float)
    assert_allclose(np.linalg.norm(scores, axis=0), sigma[:3].astype(float), rtol=1e-11)


@pytest.mark.parametrize("power", [-170, 150])
@pytest.mark.parametrize("solver", ["full", "covariance_eigh", "qr", "gram", "krylov"])
def test_columns_of_any_size_are_standardized(power, solver):
    X, weights = rows_with_spectrum(40, 4, [4, 3, 2, 1], seed=9), np.arange(40) % 3 + 1.0
    expected = PCA(3, svd_solver=solver, standardize=True).fit(X, sample_weight=weights)
    model = PCA(3, svd_solver=solver, standardize=True)
    model.fit(X * [1.0, 10.0**power, 1.0, 1e10], sample_weight=weights)
    assert_allclose(model.explained_variance_, expected.explained_variance_, rtol=1e-10)
    assert_allclose(model.scale_, expected.scale_ * [1.0, 10.0**power, 1.0, 1e10], rtol=1e-10)


@quiet
def test_batches_of_any_sizes_meet():
    X = rows_with_spectrum(40, 4, [4, 3, 2, 1], seed=9)
    for first, second in ((1e-170, 1.0), (1.0, 1e-170), (1e-170, 1e150), (1e150, 1e-170)):
        model = IncrementalPCA(2).partial_fit(np.zeros((5, 4))).partial_fit(first * X).partial_fit(second * X)
        together = np.concatenate([np.zeros((5, 4)), first / max(first, second) * X, second / max(first, second) * X])
        expected = singular_values(centred(together))[:2].astype(float)
        assert_allclose(model.singular_values_ / max(first, second), expected, rtol=1e-11)


def test_rows_that_no_unit_helps_are_refused():
    for size in (1e155, 1e200, 1.7e308):
        X = size * np.random.default_rng(0).choice([-1.0, 1.0], size=(40, 3))
        for model in (PCA(2), PCA(2, svd_solver="covariance_eigh"), IncrementalPCA(2)):
            with pytest.raises(BadData, match="far too large"):
                model.fit(X)
