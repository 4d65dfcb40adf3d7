"""Graphs that fall apart, rows that are equal and neighbours that are equally near."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits

from mercer import LocallyLinearEmbedding, textbook
from mercer.datasets import spiral
from mercer_old.errors import MercerWarning
from mercer_old.spaces.points import Points
from support import naive
from support.alike import assert_same_places
from support.local import METHODS, M_of, apart, cloud, every_method, flat, neighbours_of, roll, sheet
from support.silence import quiet

# ---------------------------------------------------------------------- graphs that fall apart


@every_method
def test_parts_are_counted_and_told(method):
    X = apart((25, 64, 36))
    with pytest.warns(MercerWarning, match=r"10 nearest neighbours falls apart into 3 parts of 64, 36 and 25 rows\."):
        model = LocallyLinearEmbedding(n_neighbors=10, method=method).fit(X)
    assert model.n_parts_ == 3
    assert np.array_equal(model.part_labels_, np.repeat([2, 0, 1], [25, 64, 36]))
    assert_allclose(model.embedding_.sum(axis=0), 0, atol=1e-12)
    assert model.certificate_.n_zero == 2
    for part in range(3):  # two coordinates of three parts: each is a point
        assert_allclose(np.ptp(model.embedding_[model.part_labels_ == part], axis=0), 0, atol=1e-6)


@every_method
def test_parts_can_be_refused(method):
    with pytest.raises(ValueError, match=r"falls apart into 2 parts of 49 and 36 rows"):
        LocallyLinearEmbedding(n_neighbors=8, method=method, on_disconnected="raise").fit(apart())
    LocallyLinearEmbedding(n_neighbors=8, method=method, on_disconnected="raise").fit(sheet())


@every_method
@pytest.mark.parametrize("eigen_solver", ["auto", "arpack"])
def test_parts_can_be_embedded_on_their_own(method, eigen_solver):
    sizes = 64, 36
    X = apart(sizes)
    params = dict(n_neighbors=8, method=method, eigen_solver=eigen_solver)
    with pytest.warns(MercerWarning, match=r"2 parts of 64 and 36 rows\. Each was embedded on its own"):
        model = LocallyLinearEmbedding(**params, on_disconnected="separate").fit(X)
    for i, part in enumerate((slice(0, 64), slice(64, None))):
        alone = LocallyLinearEmbedding(**params).fit(X[part])
        assert_same_places(model.embedding_[part], alone.embedding_ * np.sqrt(sizes[i] / 100), atol=1e-5)
        assert_allclose(model.certificate_.parts[i].values, alone.certificate_.values, rtol=1e-6, atol=1e-13)
    assert model.certificate_.certified and model.certificate_.sizes == sizes
    assert str(model.certificate_).startswith("Part 1 (64 rows): 2 components certified")
    assert np.array_equal(model.transform(X), model.embedding_)


def test_parts_too_small_to_be_embedded_are_named():
    X = apart((36, 4), d=5)
    with pytest.raises(ValueError, match="The smallest of 2 parts has 4 rows, too few for n_components=4"):
        LocallyLinearEmbedding(n_neighbors=3, n_components=4, on_disconnected="separate").fit(X)


def bridged():
    """Two groups whose rows look at nobody else, and some between them who look at both, and at whom nobody looks."""
    rng = np.random.default_rng(0)
    groups = [0.1 * rng.normal(size=(15, 2)) + [x, 0.0] for x in (-3.0, 3.0)]
    return np.concatenate([*groups, [[0.0, 0.0]]])


@pytest.mark.filterwarnings("ignore:Column 0 has 99.9% of the summed variance")
def test_groups_that_nobody_leaves_are_told_though_the_graph_hangs_together():
    X = bridged()
    near = naive.nearest(naive.exact_distances(X), 6)
    near_middle = set(near[30])
    assert near_middle & set(range(15)) or near_middle & set(range(15, 30))
    X[:15, 0] -= X[near[30], 0].mean()  # as many on one side as on the other
    X[30, 0] = (X[:15, 0].max() + X[15:30, 0].min()) / 2
    near = naive.nearest(naive.exact_distances(X), 6)
    assert set(near[30]) & set(range(15)) and set(near[30]) & set(range(15, 30)) and 30 not in near[:30]
    M = naive.alignment(X, near, "standard", 1)
    assert np.linalg.eigvalsh(M)[1] < 1e-13 < np.linalg.eigvalsh(M)[2]  # the null space has dimension two
    with pytest.warns(MercerWarning, match=r"2 groups of rows \(15 and 15 rows\) have all their 6 nearest neighbours"):
        model = LocallyLinearEmbedding(n_neighbors=6, n_components=1).fit(X)
    assert model.n_parts_ == 1 and model.certificate_.n_zero == 1
    with pytest.raises(ValueError, match="2 groups of rows"):
        LocallyLinearEmbedding(n_neighbors=6, on_disconnected="raise").fit(X)


def test_warnings_point_at_the_line_of_the_user():
    with pytest.warns(MercerWarning) as told:
        LocallyLinearEmbedding(n_neighbors=8).fit(apart())
    assert {one.filename for one in told} == {__file__}


def test_nothing_is_said_about_ordinary_data():
    X, _ = roll(400)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for method in METHODS:
            model = LocallyLinearEmbedding(**neighbours_of(method)).fit(X)
            model.transform(X[:20] + 0.01)
            assert model.n_parts_ == 1 and not model.part_labels_.any()


@pytest.mark.parametrize("method", ["hessian", "ltsa"])
def test_rows_that_nobody_looks_at_are_held_all_the_same(method):
    """Neighbourhoods of these methods are made of neighbours only: who is nobody's can be anywhere at no cost."""
    X = cloud(50, 3)
    near = naive.nearest(naive.exact_distances(X), 8)
    lonely = np.setdiff1d(np.arange(50), near)
    assert len(lonely) == 1 and not M_of(Points.of(X), near, method, 2)[lonely].any()
    near[lonely, -1] = lonely  # so it is put among its own
    model = LocallyLinearEmbedding(n_neighbors=8, method=method).fit(X)
    M = M_of(Points.of(X), near, method, 2)
    assert M[lonely, lonely] > 0.01
    assert_same_places(model.embedding_, naive.bottom(M, 2)[1], atol=1e-6)


@pytest.mark.parametrize("method", ["hessian", "ltsa"])
def test_what_was_not_kept_is_only_said_to_be_as_good_if_it_is(method):
    """On a plane two eigenvalues are zero and the third is not: a rotation among the two is all that is free."""
    X, _ = flat(150)
    with pytest.warns(MercerWarning, match="what they span is determined, but any rotation among them") as told:
        model = LocallyLinearEmbedding(n_neighbors=10, method=method).fit(X)
    assert model.certificate_.bound_beyond > 1e3 * model.certificate_.rounding
    assert not any("that were not kept" in str(one.message) for one in told)


# ---------------------------------------------------------------------- equal rows


def test_few_equal_rows_are_rows_like_others():
    X = cloud(80, 4)
    X[[10, 30]] = X[[11, 31]]
    model = LocallyLinearEmbedding(n_neighbors=8).fit(X)
    assert_same_places(model.embedding_, textbook.lle_embedding(textbook.lle_weight_matrix(X, 8), 2), atol=1e-4)


def test_rows_have_their_own_places_though_another_row_is_equal():
    X = cloud(80, 4)
    X[[10, 30]] = X[[11, 31]]
    model = LocallyLinearEmbedding(n_neighbors=8).fit(X)
    expected = model.embedding_.copy()
    expected[[11, 31]] = expected[[10, 30]]  # what is given twice has two places, and new rows get the first
    assert np.array_equal(model.transform(X), expected)


@every_method
@pytest.mark.parametrize("hold", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_whole_neighbourhoods_of_equal_rows_are_taken_for_one(method, hold):
    X = sheet(64, 4)
    order = np.random.default_rng(0).permutation(64 + 30)
    which = np.append(np.arange(64), np.repeat([3, 8, 20], 10))[order]
    params = dict(n_neighbors=8, method=method)
    with pytest.warns(MercerWarning, match=r"33 of 94 rows have 8 neighbours that are all equal .* 64 distinct rows"):
        model = LocallyLinearEmbedding(**params).fit(hold(X[which]))
    assert_same_places(model.embedding_, LocallyLinearEmbedding(**params).fit_transform(X)[which], atol=1e-5)
    assert np.array_equal(model.embedding_[which == 3], np.tile(model.embedding_[which == 3][:1], (11, 1)))
    assert np.array_equal(model.transform(hold(X[which])), model.embedding_)
    assert model.part_labels_.shape == (94,) and model.residuals_.shape == (94,)


def test_equal_items_of_a_matrix_of_distances_are_taken_for_one():
    X = cloud(40, 4)
    which = np.append(np.arange(40), np.full(9, 5))
    D = naive.euclidean_distances(X)[np.ix_(which, which)]
    with pytest.warns(MercerWarning, match="10 of 49 rows have 6 neighbours that are all equal"):
        model = LocallyLinearEmbedding(n_neighbors=6, metric="precomputed").fit(D)
    assert_same_places(model.embedding_, LocallyLinearEmbedding(n_neighbors=6).fit_transform(X)[which], atol=1e-5)


@pytest.mark.parametrize("hold", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("value", [0.0, 1.0, 1e9])
def test_rows_that_are_all_the_same_have_no_structure(hold, value):
    X = hold(np.full((20, 3), value))
    for eigen_solver in ("auto", "dense"):
        with pytest.warns(MercerWarning, match="All 20 rows are the same"):
            model = LocallyLinearEmbedding(eigen_solver=eigen_solver).fit(X)
        assert not model.embedding_.any() and model.embedding_.shape == (20, 2)
        assert not model.transform(X).any() and model.reconstruction_error_ == 0
    with pytest.raises(ValueError, match="Error in determining null-space with ARPACK"):
        LocallyLinearEmbedding(eigen_solver="arpack").fit(X)


@every_method
@quiet
def test_three_distinct_rows_are_too_few(method):
    X = cloud(3, 4)[np.arange(30) % 3]
    with pytest.warns(MercerWarning, match="Only 3 of 30 rows are distinct, too few for n_neighbors=7"):
        model = LocallyLinearEmbedding(n_neighbors=7, method=method).fit(X)
    assert np.isfinite(model.embedding_).all()


# ---------------------------------------------------------------------- ties


def test_ties_among_neighbours_are_counted():
    """Against all distances: of whole numbers, so that equal ones are equal."""
    X = load_digits(n_class=6).data
    squares = cdist(X, X, "sqeuclidean")
    np.fill_diagonal(squares, np.inf)
    squares.sort(axis=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MercerWarning)
        for k in (5, 30):
            assert (
                LocallyLinearEmbedding(n_neighbors=k).fit(X).n_ties_ == np.sum(squares[:, k - 1] == squares[:, k]) > 0
            )


def test_rows_without_ties_have_none():
    assert LocallyLinearEmbedding(n_neighbors=12, n_components=1).fit(spiral(300, 2)[0]).n_ties_ == 0


def test_a_grid_where_the_order_of_rows_decides_is_warned_of():
    """Inside a square grid a point has four nearest neighbours: with three of them, any is left out."""
    X = np.stack(np.meshgrid(np.arange(12.0), np.arange(12.0)), axis=-1).reshape(-1, 2)
    with pytest.warns(MercerWarning, match=r"\d+ of 144 rows have more than 3 equally near neighbours"):
        model = LocallyLinearEmbedding(n_neighbors=3, n_components=1).fit(X)
    assert model.n_ties_ == 100  # on the border a point has three or two at distance 1, and the next ones are alone
