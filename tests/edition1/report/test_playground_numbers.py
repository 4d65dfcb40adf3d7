"""The playground computes by itself, in a real browser: its numbers are the library's."""

import numpy as np
import pytest

from mercer import datasets
from mercer.textbook import lle_weights
from mercer_old.report.playground import playground
from support.playing import Library, check_kernel, check_lle, check_pca, fitted, playing
from support.together import check_each

KERNELS = {
    "rbf": lambda spread: {"kernel": "rbf", "gamma": 8 / spread**2},
    "a narrow rbf": lambda spread: {"kernel": "rbf", "gamma": 300 / spread**2},
    "a wide rbf": lambda spread: {"kernel": "rbf", "gamma": 0.01 / spread**2},
    "poly": lambda spread: {"kernel": "poly", "degree": 3, "gamma": 2 / spread**2, "coef0": 0.5},
    "poly of degree 6": lambda spread: {"kernel": "poly", "degree": 6, "gamma": 2 / spread**2, "coef0": 1.0},
    "laplacian": lambda spread: {"kernel": "laplacian", "gamma": 3 / spread},
    "cosine": lambda spread: {"kernel": "cosine"},
    "linear": lambda spread: {"kernel": "linear"},
}


def _grid():
    return np.stack(np.meshgrid(np.arange(8.0), np.arange(7.0)), axis=-1).reshape(-1, 2)


def point_sets():
    rng = np.random.default_rng(0)
    sets = {
        "clusters": datasets.three_clusters(30)[0],
        "rings": datasets.rings(60, seed=1)[0],
        "spiral": datasets.spiral(300, 2)[0],
        "unequal": datasets.unequal_gaussian(200),
        "two points": np.array([[1.0, 2.0], [3.0, 1.0]]),
        "three points": rng.normal(size=(3, 2)),
        "on a line": np.outer(rng.normal(size=40), [1.0, 2.0]) + 3,
        "on an axis": np.column_stack([rng.normal(size=30), np.full(30, 2.0)]),
        "tiny": 1e-9 * rng.normal(size=(50, 2)),
        "huge": 1e9 * rng.normal(size=(50, 2)),
        "one far away": np.vstack([rng.normal(size=(40, 2)), [[30.0, -20.0]]]),
    }
    for n in (5, 17, 60, 150, 300):
        sets[f"{n} at random"] = rng.normal(size=(n, 2)) @ rng.normal(size=(2, 2))
    return sets


SETS = point_sets()
WITH_TIES = {
    "a grid": _grid(),
    "all points twice": np.repeat(np.random.default_rng(1).normal(size=(25, 2)), 2, axis=0),
    "a cross": np.array([[t, 0.0] for t in range(-9, 10)] + [[0.0, t] for t in range(-9, 10) if t]),
}


@pytest.fixture(scope="module")
def page(browser, tmp_path_factory):
    path = tmp_path_factory.mktemp("playground") / "play.html"
    playground(path=path)
    return playing(browser, path)


FEWER = {name: X for name, X in SETS.items() if len(X) < 200}  # the others take most of the time of the page


def with_all(*values):
    """Of the cases of a test the first has all sets of points, the others have fewer of them; the rest is slow."""
    more = [pytest.param(value, SETS, marks=pytest.mark.slow) for value in values[1:]]
    return [(values[0], SETS), *((value, FEWER) for value in values[1:]), *more]


def by_name(value):
    return f"{len(value)} sets" if isinstance(value, dict) else str(value)


def spread_of(X):
    return float(np.ptp(X, axis=0).max()) or 1.0


def test_pca_is_the_librarys(page):
    def check(name):
        for standardise in (False, True):
            params = {"standardise": standardise}
            check_pca(fitted(page, "pca", SETS[name], params), Library(SETS[name], params))

    check_each(SETS, check)


@pytest.mark.parametrize(("kernel", "sets"), with_all(*KERNELS), ids=by_name)
def test_kernel_pca_is_the_librarys(page, kernel, sets):
    def check(name):
        params = KERNELS[kernel](spread_of(SETS[name]))
        found = Library(SETS[name], params)
        check_kernel(fitted(page, "kernelPca", SETS[name], params, exact=True), found.kernel, found.kernel_scores)

    check_each(sets, check)


def test_the_way_of_a_dragging_hand_comes_near_it_even_from_nowhere(page):
    """Where something stands out: with a narrow kernel a start from nowhere takes longer than a frame."""

    def check(case):
        name, kernel = case
        params = KERNELS[kernel](spread_of(SETS[name]))
        found = Library(SETS[name], params)
        ours = fitted(page, "kernelPca", SETS[name], params, exact=False)
        check_kernel(ours, found.kernel, found.kernel_scores, 1e-4)
        assert ours["residual"] <= 1e-6

    names = ["clusters", "rings", "unequal", "60 at random"]
    check_each([(name, kernel) for name in names for kernel in KERNELS if kernel != "a narrow rbf"], check)


@pytest.mark.parametrize(("neighbours", "sets"), with_all(12, 3, 30), ids=by_name)
@pytest.mark.parametrize("reg", [1e-3, pytest.param(1e-1, marks=pytest.mark.slow)])
def test_lle_is_the_librarys(page, neighbours, reg, sets):
    def check(name):
        params = {"neighbours": neighbours, "reg": reg}
        check_lle(fitted(page, "lle", SETS[name], params, exact=True), Library(SETS[name], params).lle)

    check_each(sets, check)


@pytest.mark.parametrize("name", WITH_TIES)
def test_of_equally_near_neighbours_the_first_are_taken(page, name):
    X, k = WITH_TIES[name], 6
    squares = np.sum((X[:, None] - X) ** 2, axis=-1)
    np.fill_diagonal(squares, np.inf)
    near = np.argsort(squares, axis=1, kind="stable")[:, :k]
    W = np.zeros_like(squares)
    for i in range(len(X)):
        W[i, near[i]] = lle_weights(X[i], X[near[i]])
    M = (np.eye(len(X)) - W).T @ (np.eye(len(X)) - W)
    values = np.linalg.eigvalsh(M + 2 * np.trace(M) / len(M))
    ours = fitted(page, "lle", X, {"neighbours": k}, exact=True)
    Z = np.array(ours["scores"])
    assert ours["tied"] > 0
    np.testing.assert_allclose(ours["values"], values[:2], rtol=1e-6, atol=1e-13)
    np.testing.assert_allclose(np.diag(Z.T @ M @ Z), values[:2], rtol=1e-5, atol=1e-13)


def test_copies_that_hide_all_others_are_one_point(page):
    X = np.repeat(np.random.default_rng(2).normal(size=(30, 2)), 8, axis=0)
    params = {"neighbours": 6}
    found = Library(X, params)
    ours = fitted(page, "lle", X, params, exact=True)
    check_lle(ours, found.lle)
    assert len(ours["items"]) == 30


def test_points_that_are_all_the_same_have_nothing_to_tell(page):
    X = np.ones((6, 2))
    assert not np.any(fitted(page, "kernelPca", X)["scores"])
    assert not np.any(fitted(page, "lle", X)["scores"])
    assert not np.any(fitted(page, "pca", X)["variances"])


@pytest.mark.parametrize("points", [[], [[1.0, 2.0]]], ids=["none", "one"])
def test_no_point_and_one_point_are_no_error(page, points):
    for method in ("pca", "kernelPca", "lle"):
        found = fitted(page, method, points)
        assert found["n"] == len(points) and len(found["scores"]) == len(points)
        assert np.isfinite(np.array(found["scores"], dtype=float)).all()


def test_a_symmetric_matrix_has_the_eigenvalues_that_lapack_finds(page):
    """The slow twin, through points whose kernel matrix has many equal eigenvalues: a narrow kernel on a grid."""
    X, params = _grid(), {"gamma": 20.0}
    found = Library(X, params)
    ours = fitted(page, "kernelPca", X, params, exact=True)
    check_kernel(ours, found.kernel, found.kernel_scores)


def test_fields_are_what_transform_says(page):
    """The component functions on a grid over the plane, as `transform` of the library has them there."""
    X = SETS["clusters"]

    def check(kernel):
        params = KERNELS[kernel](spread_of(X)) | {"standardise": kernel == "rbf"}
        found = Library(X, params)
        fields = page.evaluate(
            "([points, params]) => playground.fields(points, params, { x: 0.1, y: 0.2, half: 1.5 }, 12)",
            [X.tolist(), {"degree": 3, "coef0": 1, "gamma": 1, "standardise": False} | params],
        )
        grid = np.array(fields["grid"])
        expected = found.kernel.transform(grid)
        for q in range(4):
            if found.kernel.eigenvalues_[q] > 0:
                ours, theirs = np.array(fields["components"][q]), expected[:, q]
                np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-6 * np.abs(theirs).max())

    check_each(KERNELS, check)
