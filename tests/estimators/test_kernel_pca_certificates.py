"""What KernelPCA proves, and what it plans."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import subspace_angles
from scipy.sparse.linalg import aslinearoperator
from sklearn.datasets import make_swiss_roll
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning

from mercer import KernelPCA, textbook
from mercer.kernels import RBF, Laplacian, Linear, Matern, Polynomial
from mercer_old.errors import MercerWarning, NoRoom
from mercer_old.operators import tiles
from support.kernel import BLOBS, X, Y

rng = np.random.default_rng(0)

# ---------------------------------------------------------------------- proof and plan


def test_certificate_is_printed_in_english():
    model = KernelPCA(4, kernel="rbf", gamma=0.01).fit(BLOBS)
    text = str(model.certificate_)
    assert "4 components certified: each residual at most 1e-08 of its own eigenvalue, or rounding" in text
    assert "Nothing was missed" in text and "passes over the matrix" in text
    assert model.certificate_.certified and np.all(model.certificate_.relative_residuals <= 1e-8)


@pytest.mark.parametrize("trial", range(80))
def test_certificate_bounds_hold_for_models(trial):
    """Every solver, with and without weights and shares, on data of many sizes: the bounds against LAPACK."""
    rng = np.random.default_rng(trial)
    n, d = int(rng.integers(5, 400)), int(rng.integers(1, 12))
    rows = rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) + rng.choice([0, 100]) * rng.normal(size=d)
    weights = rng.integers(1, 5, size=n).astype(float) if trial % 2 else None
    k = int(rng.integers(1, min(n - 1, 25) + 1)) if trial % 3 else float(rng.uniform(0.1, 0.95))
    kernel = RBF("median") if trial % 5 < 3 else [Linear(), Polynomial(2, 0.1)][trial % 2]
    model = KernelPCA(
        k, kernel=kernel, eigen_solver=["auto", "dense", "krylov"][trial % 4 % 3], tol=10.0 ** -(3 + trial % 6)
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MercerWarning)
        model.fit(rows, sample_weight=weights)
    root = np.ones(n) if weights is None else np.sqrt(weights)
    P = np.eye(n) - np.outer(root, root) / (root @ root)
    true, vectors = np.linalg.eigh(P @ (root[:, None] * model.kernel_.block(rows, rows) * root) @ P)
    true, vectors = true[::-1], vectors[:, ::-1]
    certificate, kept = model.certificate_, len(model.eigenvalues_)
    slack = 1e-12 * root @ root * np.abs(model.kernel_.diag(rows)).max()
    assert certificate.certified
    assert np.all(certificate.lower <= true[:kept] + slack) and np.all(true[:kept] <= certificate.upper + slack)
    if certificate.n_complete == kept < n:
        assert true[kept] <= certificate.bound_beyond + certificate.residuals.max() + slack
    for i in range(certificate.n_complete):
        if true[i] > 1e4 * slack:
            start, stop = next(((a, b) for a, b in certificate.clusters if a <= i < b), (i, i + 1))
            angle = np.sin(subspace_angles(model.eigenvectors_[:, start:stop], vectors[:, start:stop]).max())
            assert angle <= certificate.angles[i] + 1e-6


def test_plan_is_told_before_and_after():
    model = KernelPCA(4, kernel="rbf", gamma=0.01)
    plan = model.plan(BLOBS)
    assert not hasattr(model, "eigenvalues_")
    assert str(replace(plan, seconds=None)) == str(model.fit(BLOBS).plan_)
    assert "K takes 3.92 MB" in str(plan)


def test_too_little_memory_is_said_before_anything_is_allocated():
    with pytest.raises(NoRoom, match="over the limit of 1 MB") as error:
        KernelPCA(4, kernel="rbf", memory_limit="1MB").fit(BLOBS)
    assert isinstance(error.value, MemoryError)


def test_a_million_rows_with_a_linear_kernel_are_pca():
    data = np.random.default_rng(0).normal(size=(200_000, 5)) * [5, 4, 3, 2, 1]
    model = KernelPCA(2, memory_limit="500MB").fit(data)
    assert_allclose(model.explained_variance_, PCA(2).fit(data).explained_variance_, rtol=1e-9)


def test_transform_never_holds_the_matrix_between_all_rows(monkeypatch):
    model = KernelPCA(3, kernel="rbf", gamma=0.01).fit(BLOBS)
    largest = []
    original = tiles.apply

    def watching(prepared, m, n, B, out, threads):
        class Watched:
            def fill(self, rows, columns, tile):
                largest.append(tile.size)
                prepared.fill(rows, columns, tile)

        original(Watched(), m, n, B, out, threads)

    monkeypatch.setattr("mercer_old.operators.projection.apply", watching)
    monkeypatch.setattr(tiles, "TILE", 64)
    model.transform(BLOBS)
    assert len(largest) > 10 and max(largest) <= 64 * 4 * 64 < BLOBS.shape[0] ** 2


def test_a_cluster_cut_in_two_is_told():
    sides = np.repeat([[-3.0], [3.0]], 20, axis=0)
    corners = np.append(np.eye(40), sides, axis=1)  # two sides, and on each of them every direction is as good
    with pytest.warns(MercerWarning, match="is not determined by the data"):
        model = KernelPCA(3, kernel="rbf", gamma=1.0).fit(corners)
    assert model.certificate_.unresolved == (1, 2)


def test_max_iter_that_does_not_suffice_is_told():
    roll = make_swiss_roll(800, random_state=0)[0]
    with pytest.warns(ConvergenceWarning, match="stopped after"), warnings.catch_warnings():
        warnings.simplefilter("ignore", MercerWarning)
        warnings.simplefilter("always", ConvergenceWarning)
        model = KernelPCA(20, kernel="rbf", gamma=0.1, max_iter=2).fit(roll)
    assert "NOT certified" in str(model.certificate_)


# ---------------------------------------------------------------------- corners


def test_a_constant_in_the_matrix_does_not_spoil_the_certificate():
    values = np.concatenate([[9.0, 5, 2, 0.2], np.zeros(56)])
    Q = np.linalg.qr(np.column_stack([np.ones(600), rng.normal(size=(600, 60))]))[0][:, 1:]
    A = Q * values @ Q.T
    for offset in (0.0, 1e3, 5.4e5, 1e7):
        model = KernelPCA(3, kernel="precomputed", tol=1e-5).fit((A + A.T) / 2 + offset)
        assert model.certificate_.bound_beyond >= 0.2 * (1 - 1e-6)
        assert np.all(model.certificate_.upper >= [9 - 1e-6, 5 - 1e-6, 2 - 1e-6])


def test_a_share_that_takes_many_components_is_planned_anew():
    model = KernelPCA(0.999, kernel="rbf", gamma=1.0).fit(BLOBS)
    assert type(model.plan_.solver).__name__ == "Dense"
    with pytest.raises(NoRoom, match="10 MB"):
        KernelPCA(0.999, kernel="rbf", gamma=1.0, memory_limit="10MB").fit(BLOBS)


def test_a_plan_leaves_a_fitted_model_alone():
    model = KernelPCA(2, kernel="rbf").fit(X)
    before = model.transform(Y)
    model.plan(np.ones((30, 7)))
    assert_allclose(model.transform(Y), before)
    K = RBF(0.3).block(X, X)
    assert KernelPCA(2, kernel="precomputed").plan(aslinearoperator(K)).held == "given"


def test_certificates_can_be_compared():
    first, again, other = (KernelPCA(k, kernel="rbf").fit(BLOBS).certificate_ for k in (3, 3, 4))
    assert first == again and hash(first) == hash(again) and first != other and first != "certified"


@pytest.mark.parametrize("kernel", [Matern(2.5, 1e7), Matern(1.5, 3e4), Laplacian(1e-12), RBF(1e-8), 1.0 * RBF(1e-8)])
@pytest.mark.parametrize("limit", [None, "40MB"])
def test_what_is_rounding_in_a_very_wide_kernel_is_not_certified_as_more(kernel, limit):
    """Every interval holds, and what is lost in 1 − k is called zero."""
    data = make_swiss_roll(2500 if limit else 520, random_state=0)[0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MercerWarning)
        model = KernelPCA(6, kernel=kernel, memory_limit=limit).fit(data)
    assert model.certificate_.passes < 40
    if limit:
        return
    eta = wide_spectrum(kernel, data)[:6]
    slack = 1e-11 * eta[0]
    assert np.all(model.certificate_.lower <= eta + slack) and np.all(eta <= model.certificate_.upper + slack)


def wide_spectrum(kernel, data):
    """Eigenvalues of J(K − 11ᵀ)J with K − 1 from its series, which has no cancellation."""
    if isinstance(kernel, Laplacian):
        distance = np.abs(data[:, None] - data[None]).sum(axis=2)
        K = np.expm1(-kernel.gamma * distance)
    elif isinstance(kernel, Matern):
        r = np.sqrt(((data[:, None] - data[None]) ** 2).sum(axis=2)) * np.sqrt(2 * kernel.nu) / kernel.length_scale
        # (1 + r)e^−r − 1 = −r²/2 + r³/3 − r⁴/8 … and (1 + r + r²/3)e^−r − 1 = −r²/6 + r⁴/24 …
        K = -(r**2) / 2 + r**3 / 3 - r**4 / 8 if kernel.nu == 1.5 else -(r**2) / 6 + r**4 / 24
    else:
        K = np.expm1(-1e-8 * ((data[:, None] - data[None]) ** 2).sum(axis=2))
    return np.linalg.eigvalsh(textbook.centre_gram(K))[::-1]
