"""What an embedding says of its eigenpairs: certificates in words, ways that agree, few rows and many components."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import subspace_angles
from sklearn.exceptions import ConvergenceWarning

from mercer import LocallyLinearEmbedding
from mercer.kernels import RBF
from mercer_old.spaces.points import Points
from support import naive
from support.alike import assert_same_places
from support.bottom import every_solver
from support.local import M_of, cloud, roll
from support.silence import quiet, silently


def test_a_certificate_speaks_plainly():
    X, _ = roll(400)
    model = LocallyLinearEmbedding(n_neighbors=12).fit(X)
    text = str(model.certificate_)
    assert "2 components certified: each residual at most 1e-06 of the gap" in text
    assert "Nothing was missed" in text and "Directions: off by at most" in text
    values = np.linalg.eigvalsh(M_of(Points.of(X), Points.of(X).nearest(12, 1).indices, "standard", 2))[1:]
    assert_allclose(model.certificate_.values, values[:2], atol=1e-13)
    assert float(text.split("no other eigenvalue is below ")[1].split()[0]) <= 1.001 * values[2]


@quiet
def test_a_certificate_of_all_eigenvalues_says_nothing_about_infinity():
    model = LocallyLinearEmbedding(n_neighbors=3, n_components=5, metric=RBF(gamma=0.1)).fit(cloud(6, 3))
    assert "inf" not in str(model.certificate_)


@quiet
def test_stopping_too_early_is_told(monkeypatch):
    monkeypatch.setattr("mercer_old.solvers.shift_invert.POLISHING", 1)
    model = LocallyLinearEmbedding(n_neighbors=12, max_iter=1, tol=0.0, n_components=20)
    with pytest.warns(ConvergenceWarning, match="before every coordinate met the tolerance"):
        model.fit(cloud(600, 25))
    assert not model.certificate_.converged


@pytest.mark.parametrize("method", ["standard", "modified"])
def test_eigenvalues_that_are_far_apart_are_not_said_to_be_nearly_equal(method):
    """Rows without structure: no eigenvalue is small, so bounds by the inverse are weak. That is no equality."""
    X = cloud(400, 40)
    M = M_of(Points.of(X), Points.of(X).nearest(12, 1).indices, method, 1)
    values = naive.bottom(M, 2)[0]
    assert values[1] > 1.01 * values[0]  # a gap of 1 % and residuals of rounding: the direction is known very well
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = LocallyLinearEmbedding(n_neighbors=12, n_components=1, method=method).fit(X)
    assert model.certificate_.n_complete == 1 and not model.certificate_.unresolved
    assert_same_places(model.embedding_, naive.bottom(M, 1)[1], atol=1e-5)


@pytest.mark.filterwarnings("ignore:The direction of coordinate")
def test_equal_eigenvalues_are_no_failure_of_the_solver():
    """A circle has pairs of equal eigenvalues: no gap, so residuals have to be rounding, which LAPACK's are."""
    for n in (100, 300, 400):
        angle = 2 * np.pi * np.arange(n) / n
        model = LocallyLinearEmbedding(n_neighbors=10).fit(np.column_stack([np.cos(angle), np.sin(angle)]))
        assert model.certificate_.converged and model.certificate_.unresolved == (0, 1)
        waves = np.column_stack([np.cos(angle), np.sin(angle)])
        assert np.sin(subspace_angles(model.embedding_, waves)[0]) < 1e-6


@pytest.mark.parametrize("eigen_solver", ["arpack", "dense", "auto"])
@pytest.mark.parametrize("method", ["standard", "ltsa"])
def test_every_way_finds_the_embedding_that_lapack_finds(eigen_solver, method):
    X, _ = roll(420)
    near = Points.of(X).nearest(12, 1).indices
    values, vectors = naive.bottom(M_of(Points.of(X), near, method, 2), 2)
    model = LocallyLinearEmbedding(n_neighbors=12, method=method, eigen_solver=eigen_solver).fit(X)
    assert_same_places(model.embedding_, vectors, atol=1e-4)
    assert_allclose(model.reconstruction_error_, values.sum(), rtol=1e-4)
    assert model.certificate_.certified and model.certificate_.n_complete == 2


def test_the_constant_vector_never_comes_back():
    for X in (cloud(40, 3), np.concatenate([cloud(20, 3), cloud(20, 3) + 100])):
        for solver in ("auto", "arpack", "dense"):
            Y = silently(lambda X=X, s=solver: LocallyLinearEmbedding(n_neighbors=6, eigen_solver=s).fit_transform(X))
            assert_allclose(Y.sum(axis=0), 0, atol=1e-12)
            assert_allclose(Y.T @ Y, np.eye(2), atol=1e-12)


@every_solver
@quiet
def test_as_many_components_as_rows_allow(solver):
    X = cloud(9, 8)
    eigen_solver = {"lapack": "auto", "sparse": "arpack", "dense": "dense"}[solver]
    model = LocallyLinearEmbedding(n_neighbors=5, n_components=8, eigen_solver=eigen_solver).fit(X)
    assert_allclose(model.embedding_.T @ model.embedding_, np.eye(8), atol=1e-10)
    assert_allclose(model.embedding_.sum(axis=0), 0, atol=1e-10)
    M = naive.alignment(X, naive.nearest(naive.exact_distances(X), 5), "standard", 8)
    assert_allclose(model.reconstruction_error_, np.trace(M), rtol=1e-9)


@pytest.mark.parametrize(("n", "k"), [(3, 1), (3, 2), (4, 3), (5, 4), (12, 5), (20, 12), (60, 59)])
@pytest.mark.parametrize("eigen_solver", ["auto", "arpack", "dense"])
@quiet
def test_few_rows_or_many_neighbours_are_no_trouble(n, k, eigen_solver):
    X = cloud(n, 3)
    model = LocallyLinearEmbedding(n_neighbors=k, n_components=1, eigen_solver=eigen_solver).fit(X)
    M = naive.alignment(X, naive.nearest(naive.exact_distances(X), k), "standard", 1)
    y = model.embedding_[:, 0]
    assert_allclose(y @ M @ y, naive.bottom(M, 1)[0][0], atol=1e-10)


def test_more_neighbours_than_the_pieces_that_are_looked_at_first():
    X, k = cloud(310, 5), 160
    model = LocallyLinearEmbedding(n_neighbors=k).fit(X)
    assert_same_places(
        model.embedding_, naive.bottom(M_of(Points.of(X), Points.of(X).nearest(k, 1).indices, "standard", 2), 2)[1]
    )


@pytest.mark.parametrize(("n", "k"), [pytest.param(1300, 600, marks=pytest.mark.slow), (310, 309)])
def test_nobody_is_asked_for_more_neighbours_than_there_are(n, k, monkeypatch):
    """A tree answers with a row that does not exist, and what is made of that writes past the end of its memory."""
    nearest = Points.nearest

    def checked(self, k, *rest):
        assert k < self.n
        return nearest(self, k, *rest)

    monkeypatch.setattr(Points, "nearest", checked)
    assert LocallyLinearEmbedding(n_neighbors=k).plan(cloud(n)).memory > 0
