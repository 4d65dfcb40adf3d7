"""IncrementalPCA: any batches give what all rows give, forgotten ones count less, and bad ones leave no trace."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse

from mercer import PCA, IncrementalPCA
from mercer_old.errors import NoRoom
from support.alike import same_axes
from support.batches import all_rows, groups, rounding_of
from support.linear import SPARSE, TABLE, TALL, U32, U, all_of, assert_same, few
from support.long_double import centred, holds, scatter_values
from support.silence import quiet
from support.strategies import seeds

# ---------------------------------------------------------------------- any batches, any order, any tree


@given(groups(), seeds)
@few
@quiet
def test_any_batches_in_any_order_give_the_variances_of_all_rows(blocks, seed):
    order = np.random.default_rng(seed).permutation(len(blocks))
    first = blocks[order[0]][0]
    model = IncrementalPCA(min(first.shape))
    for i in order:
        model.partial_fit(blocks[i][0], sample_weight=blocks[i][1])
    X, w = all_rows(blocks)
    values = scatter_values(X, w)
    noise = rounding_of(blocks) + 64 * np.sqrt(X.shape[1]) * U * float(values[0])  # what is no more than that is zero
    if w.sum() <= 1:
        return
    found, expected = model.explained_variance_ * (w.sum() - 1), values[: model.n_components_].astype(float)
    rtol = 8 * U32 if model.explained_variance_.dtype == np.float32 else 1e-12
    assert_allclose(found, expected, rtol=rtol, atol=noise)
    assert model.n_samples_seen_ == len(X)
    assert_allclose(
        model.mean_, np.average(X, axis=0, weights=w), rtol=max(rtol, 64 * U), atol=64 * U * np.abs(X).max()
    )
    if not any(sparse.issparse(rows) for rows, _ in blocks):
        assert holds(model.certificate_, values)


@given(groups(("float64",)), st.floats(0.3, 1.0))
@few
@quiet
def test_forgotten_batches_are_rows_of_less_weight(blocks, forget):
    model = IncrementalPCA(1, forget=forget)
    for rows, weights in blocks:
        model.partial_fit(rows, sample_weight=weights)
    ages = np.arange(len(blocks))[::-1]
    X, _ = all_rows(blocks)
    w = np.concatenate(
        [
            forget**age * (np.ones(len(rows)) if weights is None else weights)
            for age, (rows, weights) in zip(ages, blocks, strict=True)
        ]
    )
    if w.sum() <= 1.01 or len(X) < 2:
        return
    rounding = rounding_of(blocks)
    assert_allclose(
        model.explained_variance_ * (w.sum() - 1), scatter_values(X, w)[:1].astype(float), rtol=1e-9, atol=rounding
    )
    batch = PCA(1).fit(X, sample_weight=w)
    assert_allclose(
        model.explained_variance_ * (w.sum() - 1), batch.explained_variance_ * (w.sum() - 1), rtol=1e-9, atol=rounding
    )
    assert_allclose(
        model.total_variance_ * (w.sum() - 1), np.sum(centred(X, w) ** 2).astype(float), rtol=1e-9, atol=rounding
    )


def test_fit_forgets_batch_by_batch():
    model = IncrementalPCA(3, forget=0.7, batch_size=50).fit(TABLE)
    w = 0.7 ** np.repeat([3, 2, 1, 0], 50)
    C = centred(TABLE, w).astype(float)
    _, sigma, Vt = np.linalg.svd(C, full_matrices=False)
    assert_allclose(model.explained_variance_, sigma[:3] ** 2 / (w.sum() - 1), rtol=1e-11)
    same_axes(model.components_, Vt[:3])


# ---------------------------------------------------------------------- batches


def test_any_batches_give_what_all_rows_give():
    model = IncrementalPCA(3)
    for batch in np.split(TALL, [50, 51, 300, 302]):
        model.partial_fit(batch)
    assert_same(model, PCA(3).fit(TALL))
    assert model.n_samples_seen_ == 700
    assert_allclose(model.var_, TALL.var(axis=0))


def test_sparse_batches_and_files_are_batches_too(tmp_path):
    np.save(tmp_path / "rest.npy", SPARSE[600:].toarray())
    model = IncrementalPCA(3).partial_fit(SPARSE[:400]).partial_fit(SPARSE[400:600].toarray())
    assert_same(model.partial_fit(tmp_path / "rest.npy"), PCA(3).fit(SPARSE.toarray()))


def test_fit_and_partial_fit_go_on_from_each_other():
    model = IncrementalPCA(3).fit(TALL[:400]).partial_fit(TALL[400:])
    assert_same(model, PCA(3).fit(TALL))
    assert_same(model.fit(TALL[:50]), PCA(3).fit(TALL[:50]))


def test_axes_are_found_when_somebody_asks():
    model = IncrementalPCA(3).partial_fit(TALL)
    assert "components_" not in vars(model) and model.components_.shape == (3, 12)
    assert "components_" in vars(model) and "components_" not in vars(model.partial_fit(TALL))
    with pytest.raises(AttributeError, match="no attribute 'components_'"):
        IncrementalPCA(3).components_  # noqa: B018


def test_forgetting_is_weighting():
    batches = np.split(TALL, 7)
    model = IncrementalPCA(3, forget=0.5)
    for batch in batches:
        model.partial_fit(batch)
    weights = np.repeat(0.5 ** np.arange(6, -1, -1), 100)
    assert_same(model, PCA(3).fit(TALL, sample_weight=weights))
    assert_same(IncrementalPCA(3, forget=0.5, batch_size=100).fit(TALL), model)


def test_a_bad_batch_leaves_the_model_as_it_was():
    model = IncrementalPCA(2).partial_fit(TALL)
    before = all_of(model)
    bad = TALL[:5].copy()
    bad[3, 2] = np.nan
    for batch, message in [
        (bad, "contains NaN"),
        (TALL[:, :5], "12 features"),
        (np.full((5, 12), 1e300) * np.arange(5)[:, None], "far too large"),
        (np.full((5, 12), "a"), "holds text"),
    ]:
        with pytest.raises(ValueError, match=message):
            model.partial_fit(batch)
    for old, new in zip(before, all_of(model), strict=True):
        assert np.array_equal(old, new)


def test_batches_too_wide_to_be_summed_up_are_refused_with_the_way_out():
    X = np.random.default_rng(0).normal(size=(60, 6000)) * 0.99 ** np.arange(6000)
    with pytest.raises(NoRoom, match=r"6,000×6,000 scatter matrix, which takes .* fit\(X\)"):
        IncrementalPCA(3, memory_limit="120MB").partial_fit(X)
    model = IncrementalPCA(3, memory_limit="120MB").fit(X)
    assert model.plan_.held == "gram"
    assert_allclose(model.explained_variance_, PCA(3, svd_solver="full").fit(X).explained_variance_, rtol=1e-9)
    with pytest.raises(NoRoom, match="without a scatter matrix"):
        model.partial_fit(X)


# ---------------------------------------------------------------------- what a review found


def test_batches_leave_nothing_but_their_sums():
    import pickle

    model = IncrementalPCA(2).partial_fit(np.random.default_rng(0).normal(size=(2000, 100)))
    assert len(pickle.dumps(model)) < 1.1 * 2 * 8 * 100**2  # with what rounding took from them


def test_positions_of_partial_fit_are_those_of_scikit_learn():
    assert_same(IncrementalPCA(2).partial_fit(TALL, None, False), PCA(2).fit(TALL))
