"""IncrementalPCA(sketch_size=ℓ): a few rows stand for all, and every eigenvalue lies where the certificate says."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse

from mercer import PCA, IncrementalPCA, load
from mercer_old.errors import BadData, MercerWarning, NoRoom
from mercer_old.sweeps import Sketch
from support.batches import all_rows, groups
from support.linear import U, few, rows_with_spectrum
from support.long_double import centred, holds, scatter_values
from support.naive import frequent_directions
from support.peak import needs_peaks, peak_of
from support.silence import quiet
from support.strategies import seeds

pytestmark = quiet
rng = np.random.default_rng(0)
NOISE = rng.normal(size=(90, 14))
SLOW = rows_with_spectrum(90, 14, 1 / np.sqrt(np.arange(1, 15)))
RANK_4 = rng.normal(size=(90, 4)) @ rng.normal(size=(4, 14))
OUTLIER = NOISE.copy()
OUTLIER[40] *= 1e9
HOSTILE = {
    "noise": NOISE,
    "slow decay": SLOW,
    "rank below the size": RANK_4,
    "ties": rows_with_spectrum(90, 14, np.repeat([3.0, 2.0, 1.0], [5, 5, 4])),
    "constant columns": NOISE * (np.arange(14) % 3 == 0) + 7,
    "all rows the same": np.full((90, 14), 0.1),
    "copies": np.repeat(NOISE[:9], 10, axis=0),
    "one-hot": np.eye(14)[rng.integers(0, 14, 90)],
    "far from zero": SLOW + 1e6,
    "very large": 1e100 * SLOW,
    "very small": 1e-100 * SLOW,
    "a huge outlier": OUTLIER,
    "many scales": NOISE * 10.0 ** -np.arange(14),
    "sorted": SLOW[np.argsort(SLOW[:, 0])],
    "few digits": SLOW.astype(np.float32),
}
BATCHES = {"at once": [90], "tens": [10] * 9, "one by one": [5] + [1] * 85, "few, then many": [5, 85]}


def in_batches(model, X, sizes, weights=None):
    for stop, size in zip(np.cumsum(sizes), sizes, strict=True):
        some = slice(stop - size, stop)
        model.partial_fit(X[some], sample_weight=None if weights is None else weights[some])
    return model


def least_bound(values, size):
    """What is foretold of the shrinkage: the least (λ_{k+1} + …)/(ℓ + 1 − k)."""
    return min(float(values[k:].sum()) / (size + 1 - k) for k in range(size + 1))


# ---------------------------------------------------------------------- the theorem, on anything


@pytest.mark.parametrize("sizes", BATCHES.values(), ids=BATCHES)
@pytest.mark.parametrize("name", HOSTILE)
def test_every_eigenvalue_lies_in_its_interval(name, sizes):
    X = HOSTILE[name]
    model = in_batches(IncrementalPCA(3, sketch_size=5), X, sizes)
    true, certificate = scatter_values(X), model.certificate_
    assert holds(certificate, true)
    assert certificate.total[0] <= true.sum() <= certificate.total[1]
    share = float(true[:3].sum() / true.sum()) if true.sum() else 0.0
    assert certificate.explained[0] - 8 * U <= share <= certificate.explained[1] + 8 * U
    assert certificate.shrinkage <= least_bound(true, 5) + 8 * certificate.rounding
    assert np.all(model.explained_variance_ * 89 <= certificate.upper * (1 + 1e-6))


@pytest.mark.parametrize("name", ["noise", "slow decay", "far from zero", "rank below the size", "sorted"])
def test_no_direction_is_further_off_than_the_certificate_says(name):
    X = HOSTILE[name] * np.append([9, 5, 3], np.ones(11))  # three that stand out
    model = in_batches(IncrementalPCA(3, sketch_size=8), X, [10] * 9)
    axes = np.linalg.svd(centred(X).astype(float), full_matrices=False)[2][:3]
    cosines = np.abs(np.sum(axes * model.components_, axis=1))
    sines = np.linalg.norm(axes - np.sum(axes * model.components_, axis=1)[:, None] * model.components_, axis=1)
    assert np.all(sines <= model.certificate_.angles + 1e-7)
    assert np.all(cosines[model.certificate_.angles < 0.5] > 0.8)


@given(groups(), seeds, st.integers(1, 3))
@few
def test_batches_of_every_kind_with_weights_stay_within_the_bounds(blocks, seed, size):
    order = np.random.default_rng(seed).permutation(len(blocks))
    model = IncrementalPCA(1, sketch_size=size)
    for i in order:
        model.partial_fit(blocks[i][0], sample_weight=blocks[i][1])
    X, w = all_rows(blocks)
    true = scatter_values(X, w)
    assert holds(model.certificate_, true)
    assert model.certificate_.shrinkage <= least_bound(true, size) + 8 * model.certificate_.rounding


@given(seeds, st.floats(0.3, 1.0))
@few
def test_what_is_forgotten_is_forgotten_by_the_sketch_too(seed, forget):
    X = np.random.default_rng(seed).normal(size=(60, 9)) + 100
    model = in_batches(IncrementalPCA(2, sketch_size=3, forget=forget), X, [6] * 10)
    w = np.repeat(forget ** np.arange(10)[::-1], 6)
    true = scatter_values(X, w)
    assert holds(model.certificate_, true)
    assert model.certificate_.shrinkage <= least_bound(true, 3) + 8 * model.certificate_.rounding
    assert_allclose(model.mean_, np.average(X, axis=0, weights=w), rtol=1e-12)


def test_the_sketch_is_that_of_the_textbook():
    Y = SLOW - SLOW.mean(axis=0)
    sketch = Sketch(np.zeros(14), 5)
    sketch.add(Y)
    B, lost = frequent_directions(Y, 5)
    assert_allclose(sketch.shrinkage, lost, rtol=1e-10)
    assert_allclose(sketch.rows.T @ sketch.rows, B.T @ B, atol=1e-10)
    assert lost > 0.01 * np.sum(Y**2) / 14  # or nothing was shown


@given(seeds)
@few
def test_sketches_merge_in_any_tree(seed):
    tree, X = np.random.default_rng(seed), SLOW + 1e3
    sketches = []
    for some in np.array_split(tree.permutation(90), tree.integers(2, 12)):
        sketches.append(Sketch(X[0], 5))
        sketches[-1].add(X[some])
    while len(sketches) > 1:
        last = sketches.pop(tree.integers(len(sketches)))
        sketches[tree.integers(len(sketches))].merge(last)
    (sketch,) = sketches
    true, noise = scatter_values(X).astype(float), sketch.doubtful
    Xc = centred(X).astype(float)
    missing = np.linalg.eigvalsh(Xc.T @ Xc - sketch.rows.T @ sketch.rows)
    assert missing.min() >= -noise - 1e-13 and missing.max() <= sketch.shrinkage + noise + 1e-13
    assert 0 < sketch.shrinkage <= least_bound(true, 5) + 8 * noise
    assert (sketch.count, len(sketch.rows) <= 10) == (90, True)
    assert_allclose(sketch.squares, np.sum(Xc**2, axis=0), rtol=1e-9)


@pytest.mark.parametrize("powers", [(0, 90, 0), (120, 0, -120), (-160, -160, -160), (150, 150, 150)], ids=str)
def test_batches_in_units_far_apart_share_one(powers):
    X = SLOW * np.repeat(10.0 ** np.array(powers), 30)[:, None]
    certificate = in_batches(IncrementalPCA(3, sketch_size=5), X, [30] * 3).certificate_
    top = 10.0 ** max(powers)
    true = scatter_values(X / top).astype(float)
    lower, upper = certificate.lower / top / top, certificate.upper / top / top
    assert np.all(lower <= true[:3] * (1 + 1e-12)) and np.all(true[:3] <= upper * (1 + 1e-12))


def test_rows_whose_squares_are_no_numbers_are_refused_and_leave_no_trace():
    model = IncrementalPCA(3, sketch_size=5).partial_fit(SLOW[:30])
    before = model.certificate_
    with pytest.raises(BadData, match="squares of the data are no numbers"):
        model.partial_fit(1e170 * SLOW[30:])
    assert model.n_samples_seen_ == 30 and model.certificate_ == before


# ---------------------------------------------------------------------- what is exact


@pytest.mark.parametrize("n", [3, 8, 9])
def test_few_rows_are_all_kept(n):
    X = SLOW[:n] + 1e3
    model, exact = IncrementalPCA(2, sketch_size=5).fit(X), PCA(2).fit(X)
    assert model.certificate_.shrinkage == 0 and model.certificate_.certified
    assert_allclose(model.explained_variance_, exact.explained_variance_, rtol=1e-9)
    assert_allclose(model.components_, exact.components_, atol=1e-9)
    assert "lost nothing but rounding" in str(model.certificate_)


def test_a_rank_below_the_size_loses_nothing():
    model, exact = in_batches(IncrementalPCA(3, sketch_size=5), RANK_4, [10] * 9), PCA(3).fit(RANK_4)
    assert model.certificate_.certified
    assert_allclose(model.explained_variance_, exact.explained_variance_, rtol=1e-9)
    assert_allclose(model.components_, exact.components_, atol=1e-9)


@pytest.mark.parametrize("name", ["noise", "far from zero", "very large", "very small", "many scales"])
def test_mean_variances_and_their_total_are_those_of_all_rows(name):
    X = HOSTILE[name]
    model, Xc = in_batches(IncrementalPCA(3, sketch_size=5), X, [10] * 9), centred(X)
    squares = np.sum(Xc**2, axis=0)
    assert_allclose(model.mean_, X.mean(axis=0), rtol=1e-12, atol=1e-12 * float(np.abs(X).max()))
    assert_allclose(model.var_, (squares / 90).astype(float), rtol=1e-9)
    assert_allclose(model.total_variance_, float(squares.sum() / 89), rtol=1e-12)
    assert_allclose(model.explained_variance_ratio_, model.explained_variance_ / model.total_variance_, rtol=1e-12)
    assert model.explained_variance_ratio_.sum() <= 1


def test_sparse_batches_give_the_sketch_of_dense_ones():
    X = NOISE * (NOISE > 1)
    model = in_batches(IncrementalPCA(3, sketch_size=5), sparse.csr_array(X), [10] * 9)
    twin = in_batches(IncrementalPCA(3, sketch_size=5), X, [10] * 9)
    assert_allclose(model.explained_variance_, twin.explained_variance_, rtol=1e-9)
    assert_allclose(model.certificate_.shrinkage, twin.certificate_.shrinkage, rtol=1e-9)


def test_weights_of_a_fit_count():
    w = np.arange(90) % 3
    model = IncrementalPCA(3, sketch_size=5).fit(SLOW, sample_weight=w)
    assert holds(model.certificate_, scatter_values(SLOW, w))
    assert model.n_samples_seen_ == np.sum(w > 0)


def test_scores_and_back_are_as_always():
    model = IncrementalPCA(3, sketch_size=8, whiten=True).fit(SLOW + 5)
    axes, deviations = model.components_, np.sqrt(model.explained_variance_)
    assert_allclose(axes @ axes.T, np.eye(3), atol=1e-12)
    scores = (SLOW + 5 - model.mean_) @ axes.T / deviations
    assert_allclose(model.transform(SLOW + 5), scores, atol=1e-9)
    assert_allclose(model.inverse_transform(scores), model.mean_ + scores * deviations @ axes, atol=1e-9)


# ---------------------------------------------------------------------- what users are told


def test_the_certificate_says_it_in_words():
    model = IncrementalPCA(3, sketch_size=5).fit(SLOW)
    words = str(model.certificate_)
    assert "3 components from a sketch of size 5: every eigenvalue lies in an interval of width" in words
    assert "Give a larger sketch_size" in words and not model.certificate_.certified
    assert "a sketch of the rows" in str(model.plan_)
    assert model.plan(SLOW).held == "sketch"


@pytest.mark.filterwarnings("error::mercer_old.errors.MercerWarning")
def test_directions_that_a_sketch_cannot_tell_are_told():
    with pytest.warns(MercerWarning, match="not determined by a sketch of size 5.*larger sketch_size"):
        IncrementalPCA(3, sketch_size=5).fit(NOISE)


def test_a_sketch_has_room_for_the_components_and_keeps_its_size():
    with pytest.raises(ValueError, match="n_components=6 needs a sketch_size of at least 6, better 24; it is 5"):
        IncrementalPCA(6, sketch_size=5).fit(SLOW)
    assert IncrementalPCA(sketch_size=5).fit(SLOW).n_components_ == 5
    for before, after in [(5, 6), (None, 5), (5, None)]:
        model = IncrementalPCA(3, sketch_size=before).partial_fit(SLOW)
        with pytest.raises(ValueError, match=f"sketch_size has changed from {before} to {after}"):
            model.set_params(sketch_size=after).partial_fit(SLOW)
    with pytest.raises(NoRoom, match=r"sketch_size=1,000,000 was asked for.*smaller sketch_size"):
        IncrementalPCA(3, sketch_size=1_000_000, memory_limit="100MB").partial_fit(SLOW)


def test_what_has_no_room_as_a_matrix_is_told_of_sketches():
    X = np.random.default_rng(1).normal(size=(20, 5000))
    with pytest.raises(NoRoom, match="sketch_size"):
        IncrementalPCA(3, memory_limit="100MB").partial_fit(X)
    assert IncrementalPCA(3, sketch_size=10, memory_limit="100MB").partial_fit(X).components_.shape == (3, 5000)


def test_a_model_from_a_file_goes_on_to_the_same_bits(tmp_path):
    model = in_batches(IncrementalPCA(3, sketch_size=5), SLOW, [40])
    model.save(tmp_path / "m.mercer")
    again = load(tmp_path / "m.mercer").partial_fit(SLOW[40:])
    model.partial_fit(SLOW[40:])
    assert np.array_equal(again.components_, model.components_)
    assert again.certificate_ == model.certificate_


WIDE = """
from mercer import IncrementalPCA
import warnings; warnings.simplefilter("ignore")
def stream(rng, d, count, size=25):
    for _ in range(count):
        yield rng.normal(size=(size, 1)) + rng.random(size=(size, d))
model = IncrementalPCA(3, sketch_size=8)
def take(d, count):
    for batch in stream(np.random.default_rng(0), d, count):
        model.partial_fit(batch)
    model.components_
take(50, 3)
model = IncrementalPCA(3, sketch_size=8)
"""


@needs_peaks
def test_wide_streams_take_as_much_memory_as_the_plan_says():
    peak, planned = peak_of("take(100_000, 20)", WIDE)
    assert peak < planned + 2 * 25 * 100_000 * 8 + 64e6  # the batch itself; a matrix would take 160 GB
