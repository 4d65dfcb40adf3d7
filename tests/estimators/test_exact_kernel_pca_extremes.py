"""Exact kernel PCA where squares over- or underflow, where no eigenvalue is positive, and of single samples."""

import warnings

import numpy as np
import pytest

from mercer.errors import MercerWarning
from mercer.estimators import KernelPCA
from mercer.kernels.dot import Cosine
from mercer.linalg.gram import Centered, PrecomputedGram

ROWS = np.random.default_rng(0).normal(size=(700, 5))
K = ROWS[:60] @ ROWS[:60].T


def messages(function):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        function()
    return [str(warning.message) for warning in found]


@pytest.mark.parametrize("scale", [2.0**-900, 2.0**-600, 2.0**600, 2.0**900])
def test_certificates_of_huge_and_tiny_matrices_are_those_of_ordinary_ones(scale):
    """The squares of the entries are not numbers; all that is claimed scales with the matrix."""
    ordinary = KernelPCA(3, kernel="precomputed").fit(K)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scaled = KernelPCA(3, kernel="precomputed").fit(K * scale)
    assert np.allclose(scaled.eigenvalues_ / scale, ordinary.eigenvalues_, rtol=1e-13)
    mine, other = scaled.certificate_, ordinary.certificate_
    assert np.allclose((mine.upper - mine.lower) / scale, other.upper - other.lower, rtol=0.5)
    assert np.allclose(mine.angles, other.angles, rtol=0.5) and mine.certified


@pytest.mark.parametrize("exponent", [-900, -600, 600, 900])
def test_the_rounding_of_a_centered_matrix_scales_with_it(exponent):
    errors = []
    for scale in (1.0, 2.0**exponent):
        A = Centered(PrecomputedGram(K * scale))
        A.to_dense()
        errors.append(A.product_error / scale)
    assert errors[1] == pytest.approx(errors[0], rel=1e-12)


def test_a_matrix_without_positive_eigenvalues_is_not_taken_for_equal_samples():
    found = messages(lambda: KernelPCA(2, kernel="precomputed").fit(-K))
    assert any("no positive eigenvalue" in text for text in found)
    assert not any("are equal" in text for text in found)


def test_a_single_sample_has_one_warning():
    found = messages(lambda: KernelPCA(1, kernel="rbf").fit(ROWS[:1]))
    assert len(found) == 1 and "only one sample" in found[0]


def test_more_components_than_samples():
    found = messages(lambda: KernelPCA(9, kernel="rbf").fit(ROWS[:4]))
    assert found == ["n_components=9 exceeds the number of samples, 4, and was reduced to it."]


@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
def test_directions_of_a_middling_number_of_samples_are_determined(kernel):
    """The solver knows the eigenvalue after the last: without it, the last direction could not be certain."""
    model = KernelPCA(4, kernel=kernel)
    assert not messages(lambda: model.fit(ROWS))
    assert model.certificate_.angles.max() < 1e-6


@pytest.mark.parametrize("scale", [1.0, 2.0])
def test_directions_that_are_equal_but_for_rounding_have_no_variance(scale):
    """All cosines are exactly 1, so the only eigenvalue is 0: moved directions are known to a unit of a unit."""
    X = 100 + np.random.default_rng(0).normal(size=(32, 1))
    with pytest.warns(MercerWarning, match="All samples are equal"):
        model = KernelPCA(1, kernel=scale * Cosine()).fit(X)
    assert model.plan_.route == "features"
    assert model.certificate_.lower[0] <= 0 <= model.certificate_.upper[0]
    assert model.eigenvalues_[0] == 0
