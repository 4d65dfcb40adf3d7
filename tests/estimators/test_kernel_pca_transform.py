"""transform gives training rows the scores that fit_transform gave them, in every component."""

import numpy as np
import pytest
from sklearn import decomposition
from sklearn.datasets import make_circles

from mercer import KernelPCA
from mercer.kernels import RBF, AdditiveChiSquared, ChiSquared, Polynomial
from support.registry import ALL_KERNELS, MERCER_KERNELS, for_each
from support.silence import quiet
from support.substitute import sample


def differences(model, X, K, weights=None):
    """Of fit_transform and transform of the same rows: relative to each component's own deviation, and its bound.

    A score is a sum of n terms k(x, xᵢ)vᵢ/√λ, rounded by γₙ·√n·max|k|/√λ at most, and its deviation is √(λ/n).
    """
    fitted = model.fit_transform(X, sample_weight=weights)
    values, n = model.eigenvalues_, len(K)
    there = values > 0
    found = np.abs(fitted - model.transform(X)).max(axis=0) / np.where(there, np.sqrt(values / n), 1.0)
    bound = n * np.finfo(float).eps * n * np.abs(K).max() / np.where(there, values, 1.0)
    return found, np.where(there, bound, 0.0)


@pytest.mark.parametrize("weights", [None, np.tile([1.0, 2.0, 0.5], 20)], ids=["alike", "weighted"])
@for_each(ALL_KERNELS, sample)
@quiet
def test_transform_gives_the_training_rows_their_scores_in_every_component(kernel, items, weights):
    X = items(60)
    model = KernelPCA(kernel=kernel)
    found, bound = differences(model, X, kernel.resolved(X, np.random.default_rng(0)).block(X, X), weights)
    assert (found <= bound).all(), (found / bound).max()


@pytest.mark.parametrize("weights", [None, np.tile([1.0, 2.0, 0.5], 20)], ids=["alike", "weighted"])
@pytest.mark.parametrize("kernel", [RBF(gamma=0.02), Polynomial(degree=3, gamma=0.3, coef0=0.5)], ids=repr)
@quiet
def test_transform_gives_the_items_of_a_matrix_their_scores_in_every_component(kernel, weights):
    K = kernel.block(sample(), sample())
    found, bound = differences(KernelPCA(kernel="precomputed"), K, K, weights)
    assert (found <= bound).all(), (found / bound).max()


@pytest.mark.parametrize("kernel", [RBF(gamma=0.02), Polynomial(degree=3, gamma=0.3, coef0=0.5)], ids=repr)
@quiet
def test_transform_gives_the_training_rows_their_scores_by_landmarks(kernel):
    X = sample()
    model = KernelPCA(kernel=kernel, n_landmarks=40)
    np.testing.assert_array_equal(model.fit_transform(X), model.transform(X))


@quiet
def test_reconstructions_from_all_components_are_those_of_scikit_learn():
    """Its example of kernel PCA as a denoiser: all components, a narrow kernel, and the way back."""
    X = make_circles(n_samples=300, factor=0.3, noise=0.05, random_state=0)[0]
    params = dict(n_components=None, kernel="rbf", gamma=10, fit_inverse_transform=True, alpha=0.1)
    ours, theirs = KernelPCA(**params).fit(X), decomposition.KernelPCA(**params).fit(X)
    errors = [np.sqrt(np.mean((m.inverse_transform(m.transform(X)) - X) ** 2)) for m in (ours, theirs)]
    assert errors[0] == pytest.approx(errors[1], rel=1e-3)


# Spectra that fade away so slowly that rounding decides which eigenvalue is the last above 1e-12 of the first.
FADING = RBF(gamma=1e-6), ChiSquared(gamma=1e-6), AdditiveChiSquared()


@for_each([entry for entry in MERCER_KERNELS if entry[0] not in FADING], sample)
@quiet
def test_weights_and_repeated_rows_have_as_many_components(kernel, items):
    X, counts = items(60), np.tile([1, 2, 3], 20)
    weighted = KernelPCA(kernel=kernel).fit(X, sample_weight=counts)
    repeated = KernelPCA(kernel=kernel).fit(X[np.repeat(np.arange(60), counts)])
    assert len(weighted.eigenvalues_) == len(repeated.eigenvalues_)
    np.testing.assert_allclose(weighted.eigenvalues_, repeated.eigenvalues_, rtol=1e-6)
