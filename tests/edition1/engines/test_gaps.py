"""ProbabilisticPCA of rows with gaps that lie in chunks: sums go to them, and the model is that of rows in memory."""

import os
import signal
import time
from dataclasses import replace
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mercer import ProbabilisticPCA, open_rows
from mercer_old.engines import Loop
from mercer_old.errors import BadData, MercerWarning, NoRoom
from mercer_old.fits.gaps import climbing
from mercer_old.fits.gaps.columns import given_rows
from mercer_old.fits.gaps.drawing import hold_out
from mercer_old.fits.gaps.finding import _gapped
from mercer_old.functions.asking import complete_items
from mercer_old.limits import Limits
from mercer_old.models import with_gaps
from mercer_old.plans import gaps as plans
from mercer_old.plans.sizes import Spread
from mercer_old.solvers.expectation import Expectation
from mercer_old.sources import groups
from mercer_old.sources.chunked import ChunkedRows
from mercer_old.sources.collections import open_collection
from mercer_old.sources.groups import in_chunks
from mercer_old.sweeps import chunked_gaps
from mercer_old.sweeps.chunked_gaps import as_gapped, gapped_in
from mercer_old.sweeps.factors import Factors
from mercer_old.sweeps.gaps import GappedRows

da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
pd = pytest.importorskip("pandas")
sizeof = pytest.importorskip("dask.sizeof").sizeof

TO_THE_END = {"held_out": 0, "tol": 1e-12, "max_iter": 3000}
BRIEF = {"held_out": 0, "tol": 1e-3}  # some passes: enough where every pass would show what is asked
FITTED = ("components_", "explained_variance_", "mean_", "noise_variance_", "loglike_", "n_missing_", "n_iter_")
UNEVEN = ((1, 400, 250, 149), (8,))


def table(n=800, d=8, k=2, share=0.2, seed=0):
    rng = np.random.default_rng(seed)
    X = (
        rng.normal(size=(n, k)) @ (2 * rng.normal(size=(k, d)))
        + 0.5 * rng.normal(size=(n, d))
        + 100 * rng.normal(size=d)
    )
    return np.where(rng.random(X.shape) < share, np.nan, X)


X = table()
D = da.from_array(X, chunks=UNEVEN)
WEIGHTS = np.where(np.arange(800) < 401, 0.0, np.arange(800) % 4)  # of two chunks, none counts


@pytest.fixture(autouse=True)
def few_rows_stay_in_their_chunks(monkeypatch):
    monkeypatch.setattr(plans, "_FEW", 0)


def same_bits(one, other):
    for name in FITTED:
        assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)
    assert str(one.certificate_) == str(other.certificate_)


def near(one, other, within=1e-6):
    for name in (*FITTED[:4], "total_variance_", "singular_values_"):
        assert_allclose(getattr(one, name), getattr(other, name), rtol=within, atol=within, err_msg=name)
    assert_allclose(one.loglike_, other.loglike_, rtol=1e-9)
    assert_array_equal(one.n_missing_, other.n_missing_)
    for name in ("rows", "columns", "missing", "rows_with_gaps", "empty_rows", "patterns", "more_patterns"):
        assert getattr(one.certificate_, name) == getattr(other.certificate_, name)


# ---------------------------------------------------------------------- the same answer


@pytest.mark.parametrize("prior", ["normal", "ard", None])
@pytest.mark.parametrize("standardize", [False, True])
def test_chunks_climb_the_hill_of_the_rows(prior, standardize):
    make = partial(ProbabilisticPCA, 2, prior=prior, standardize=standardize, **TO_THE_END)
    for cut in (UNEVEN, (300, 3), (800, 8)):
        near(make().fit(da.from_array(X, chunks=cut)), make().fit(X), 1e-5 if prior == "ard" else 1e-6)


def test_with_numbers_held_out_the_answer_is_as_near_as_a_pass_gains():
    one, other = ProbabilisticPCA(2).fit(D), ProbabilisticPCA(2).fit(X)
    assert abs(one.loglike_ - other.loglike_) < 1e-5 * np.sum(~np.isnan(X))
    assert np.abs(one.components_ - other.components_).max() < 0.01
    assert one.certificate_.held_out == pytest.approx(other.certificate_.held_out, abs=5)
    assert one.certificate_.error == pytest.approx(other.certificate_.error, rel=0.2)


def test_the_number_of_components_is_found_in_chunks():
    known = ProbabilisticPCA(random_state=1).fit(D).certificate_
    assert known.tried[:3] == (1, 2, 3) and known.errors[1] < 0.7 * known.errors[0]
    assert known.error > 0.95 * known.errors[1]  # by more of them than there are, hardly better
    few = ProbabilisticPCA().fit(da.from_array(X[:60], chunks=(25, 8)))  # several groups are held out, one by one
    assert few.certificate_.held_out > 2 * 0.1 * np.sum(~np.isnan(X[:60]))


def test_no_row_comes_here_to_find_the_number_of_components(monkeypatch):
    def refused(*args):
        raise AssertionError("rows came here")

    complete, make = np.nan_to_num(X, nan=3.0), partial(ProbabilisticPCA, svd_solver="covariance_eigh")
    expected = [make().fit(complete, sample_weight=weights).n_components_ for weights in (None, WEIGHTS)]
    monkeypatch.setattr(ChunkedRows, "load", refused)
    monkeypatch.setattr(ChunkedRows, "blocks", refused)
    rows = da.from_array(complete, chunks=UNEVEN)
    assert [make().fit(rows, sample_weight=weights).n_components_ for weights in (None, WEIGHTS)] == expected
    assert make().fit(D).plan_.held == "gapped chunks"


def test_single_precision_is_kept_and_worked_on_in_double():
    single = D.astype(np.float32)
    model = ProbabilisticPCA(2, **TO_THE_END).fit(single)
    assert model.components_.dtype == np.float32
    expected = ProbabilisticPCA(2, **TO_THE_END).fit(X.astype(np.float32))
    assert_allclose(model.components_, expected.components_, atol=1e-6)


def test_frames_bring_their_names():
    frame = pd.DataFrame(X, columns=list("abcdefgh"))
    model = ProbabilisticPCA(2, **TO_THE_END).fit(dd.from_pandas(frame, npartitions=3))
    assert model.feature_names_in_.tolist() == list("abcdefgh")
    near(model, ProbabilisticPCA(2, **TO_THE_END).fit(frame))


# ---------------------------------------------------------------------- the same bits


@pytest.mark.parametrize(
    ("options", "weights"),
    [
        ({"n_components": 2}, None),
        pytest.param({}, None, marks=pytest.mark.slow),  # one after the other of such fits
        ({"n_components": 2, "standardize": True, "prior": "ard"}, WEIGHTS),
    ],
)
def test_workers_and_a_loop_give_the_same_bits(options, weights, client, in_a_loop):
    on_workers = ProbabilisticPCA(**options).fit(D, sample_weight=weights)
    assert "by 2 workers" in str(on_workers.plan_) and on_workers.plan_.moved > 0
    with in_a_loop():
        here = ProbabilisticPCA(**options).fit(D, sample_weight=weights)
    assert "in this process" in str(here.plan_) and not here.plan_.moved
    same_bits(on_workers, here)


def test_one_worker_gives_the_bits_of_two(client, another_cluster):
    from distributed import Client

    two = ProbabilisticPCA(2, **BRIEF).fit(D)
    with another_cluster(n_workers=1, threads_per_worker=3) as one_alone, Client(one_alone):
        same_bits(ProbabilisticPCA(2, **BRIEF).fit(D), two)


def test_the_same_seed_draws_the_same_numbers_and_another_one_others():
    same_bits(ProbabilisticPCA(2, random_state=5).fit(D), ProbabilisticPCA(2, random_state=5, n_jobs=1).fit(D))
    one, other = (ProbabilisticPCA(2, random_state=seed).fit(D).certificate_.error for seed in (5, 6))
    assert one != other


def test_a_worker_that_is_killed_on_the_way_changes_nothing(own_client, monkeypatch):
    make = partial(ProbabilisticPCA, 2, **BRIEF)
    expected, passes, improve = make().fit(D), [], climbing.improve

    def improve_or_kill(*args):
        passes.append(1)
        if len(passes) == 4:
            os.kill(sorted(own_client.run(os.getpid).values())[0], signal.SIGKILL)
        return improve(*args)

    monkeypatch.setattr(climbing, "improve", improve_or_kill)
    model = make().fit(D)
    assert len(passes) > 4
    same_bits(model, expected)


def test_workers_read_a_folder_with_gaps_by_themselves(client, tmp_path, monkeypatch):
    monkeypatch.setattr(groups, "_LEAST", 200 * 64)
    for i, some in enumerate(np.array_split(X, 3)):
        columns = {f"x{j}": pa.array(some[:, j], from_pandas=True) for j in range(8)}  # gaps are null
        pq.write_table(pa.table(columns), tmp_path / f"{i}.parquet", row_group_size=100)
    rows = open_rows(tmp_path)
    there = ProbabilisticPCA(2, **BRIEF).fit(rows)
    assert there.plan_.held == "gapped chunks"
    same_bits(there, ProbabilisticPCA(2, **BRIEF).fit(in_chunks(rows.source, Loop())))
    near(there, ProbabilisticPCA(2, **BRIEF).fit(X))


# ---------------------------------------------------------------------- what workers keep


def soon(gone):
    """Whether that is empty before long: a cluster hears of what is let go a moment later."""
    for _ in range(100):
        if not gone():
            return True
        time.sleep(0.05)
    return False


def test_what_complete_rows_would_need_is_let_go_before_the_climb(client, monkeypatch):
    """By products, workers keep the rows: who stumbles over a gap then forgets them."""
    held, find = [], with_gaps.find_factors
    monkeypatch.setattr(with_gaps, "find_factors", lambda task: held.append(soon(lambda: client.futures)) or find(task))
    assert ProbabilisticPCA(2, svd_solver="krylov").fit(D).n_missing_.any()
    assert held == [True]


def test_a_guess_that_is_singular_to_rounding_costs_no_rows(client):
    given = given_rows(open_collection(D).allowing_gaps(), None)
    rows = gapped_in(given.remade(_gapped, as_gapped, None, np.nanmean(X, axis=0), np.ones(8)))
    good = Factors(np.eye(8)[:, :2], 1.0, np.zeros(8))
    expected = rows.swept(good, 1).likelihood
    with pytest.raises(np.linalg.LinAlgError):
        rows.swept(replace(good, doubt=np.tile(-9 * np.eye(2), (8, 1, 1))), 1)
    time.sleep(0.5)  # what is let go is gone by then
    assert rows.swept(good, 1).likelihood == expected


def test_who_stops_between_two_passes_leaves_nothing_on_the_workers(own_client, monkeypatch):
    """Although a notebook remembers the frames of the fit, and what is in them."""

    def stop(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr(climbing, "improve", stop)
    with pytest.raises(KeyboardInterrupt) as remembered:
        ProbabilisticPCA(2).fit(D)
    assert soon(lambda: own_client.cluster.scheduler.tasks)
    assert remembered.value.__traceback__ is not None


# ---------------------------------------------------------------------- chunks of all kinds


def test_chunks_without_gaps_and_columns_that_a_chunk_has_not():
    rows = X.copy()
    rows[:200] = np.nan_to_num(rows[:200], nan=3.0)  # complete
    rows[200:400, 5] = np.nan  # a column that one chunk misses
    rows[450, :] = np.nan  # a row without any number
    fit = {"prior": "normal", **TO_THE_END}
    with pytest.warns(MercerWarning, match="1 row is without any number"):
        model = ProbabilisticPCA(2, **fit).fit(da.from_array(rows, chunks=(200, 8)))
    with pytest.warns(MercerWarning, match="1 row is without any number"):
        near(model, ProbabilisticPCA(2, **fit).fit(rows))
    assert ProbabilisticPCA(2).fit(da.from_array(rows[:401], chunks=(200, 8))).certificate_.held_out > 0


def test_complete_rows_need_no_climb_in_chunks_either():
    complete = np.nan_to_num(X, nan=3.0)
    model = ProbabilisticPCA(2).fit(da.from_array(complete, chunks=UNEVEN))
    assert model.n_iter_ == 1 and not model.n_missing_.any()


def test_a_column_that_is_missing_everywhere_is_refused_in_the_same_words():
    empty = X.copy()
    empty[:, [2, 6]] = np.nan
    said = []
    for rows in (empty, da.from_array(empty, chunks=UNEVEN)):
        with pytest.raises(
            BadData, match=r"2 columns of 8 are missing in every row \(2, 6\): leave them out\."
        ) as told:
            ProbabilisticPCA(2).fit(rows)
        said.append(str(told.value))
    assert said[0] == said[1]


def test_an_infinite_number_behind_gaps_is_told_with_its_row():
    spoiled = X.copy()
    spoiled[700, 3] = np.inf
    with pytest.raises(BadData, match=r"an infinite value \(inf\): row 700, column 3"):
        ProbabilisticPCA(2).fit(da.from_array(spoiled, chunks=UNEVEN))


def test_rows_that_do_not_vary_are_told_of():
    flat = np.full((90, 3), 7.0)
    flat[[0, 50], [0, 2]] = np.nan
    with pytest.warns(MercerWarning, match="All rows are the same"):
        model = ProbabilisticPCA(1).fit(da.from_array(flat, chunks=(40, 3)))
    assert_allclose(model.mean_, 7.0)


def test_weights_go_with_the_rows_and_rows_of_weight_zero_are_left_out():
    make = partial(ProbabilisticPCA, 2, **TO_THE_END)
    model = make().fit(D, sample_weight=WEIGHTS)
    near(model, make().fit(X, sample_weight=WEIGHTS))
    assert model.n_samples_ == np.sum(WEIGHTS > 0) == model.certificate_.rows
    often = make().fit(da.from_array(np.repeat(X, WEIGHTS.astype(int), axis=0), chunks=(170, 8)))
    assert_allclose(model.components_, often.components_, atol=1e-6)
    assert_allclose(model.loglike_, often.loglike_, rtol=1e-9)
    assert ProbabilisticPCA(2).fit(D, sample_weight=WEIGHTS).certificate_.held_out > 0


# ---------------------------------------------------------------------- what is held out


def test_no_row_and_no_column_loses_its_last_numbers():
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(1800, 6))
    rows[rng.random(rows.shape) < 0.4] = np.nan
    rows[:600, :5] = np.nan  # rows of one number
    rows[:, 4] = np.nan
    rows[[700, 1300], [4, 4]] = 1.0, 2.0  # a column of two
    given = given_rows(open_collection(da.from_array(rows, chunks=(600, 6))).allowing_gaps(), None)
    portions = given.remade(_gapped, as_gapped, None, np.zeros(6), np.ones(6))
    ((known, _),) = hold_out(gapped_in(portions), 0.5, np.random.default_rng(0))
    left = [known.opened(handle(), 0) for handle in known.handles]
    count, there = sum(len(part.truth) for part in left), sum(part.rows.counts for part in left)
    assert 600 < count < 0.5 * np.sum(~np.isnan(rows)) and there.sum() + count == np.sum(~np.isnan(rows))
    assert there[4] == 2 and there.min() > 1
    empty = [np.isnan(part.rows.given()[0]).all(axis=1).sum() for part in left]
    assert sum(empty) == np.isnan(rows).all(axis=1).sum()


def test_nothing_that_is_as_long_as_the_rows_comes_here(client, monkeypatch):
    from mercer_old.engines.cluster import Cluster

    def refused(*args):
        raise AssertionError("rows came here")

    came, reduce, bring = [], Cluster.reduce, Cluster.bring
    monkeypatch.setattr(ChunkedRows, "load", refused)
    monkeypatch.setattr(ChunkedRows, "blocks", refused)
    monkeypatch.setattr(Cluster, "collect", refused)
    monkeypatch.setattr(Cluster, "reduce", lambda *args: came.append(reduce(*args)) or came[-1])
    monkeypatch.setattr(Cluster, "bring", lambda *args: (came.append(one) or one for one in bring(*args)))
    rows = da.from_array(table(n=6000), chunks=(1000, 8))
    ProbabilisticPCA(2, n_jobs=1).fit(rows)
    arrays = [value for one in came for value in getattr(one, "__dict__", {"": one}).values()]
    assert len(came) > 20 and max(map(np.size, arrays)) <= 256  # of so many patterns there are, of 8 columns


def test_patterns_are_counted_up_to_a_point(monkeypatch):
    monkeypatch.setattr(chunked_gaps, "MOST_PATTERNS", 20)
    monkeypatch.setattr("mercer_old.fits.gaps.finding.MOST_PATTERNS", 20)
    model = ProbabilisticPCA(2).fit(D)
    assert model.certificate_.patterns == 20 and "in at least 20 patterns" in str(model.certificate_)
    few = np.where(np.arange(800)[:, None] % 5 == np.arange(8), np.nan, np.nan_to_num(X))
    model = ProbabilisticPCA(2).fit(da.from_array(few, chunks=UNEVEN))
    assert model.certificate_.patterns == 5 and "in 5 patterns" in str(model.certificate_)


# ---------------------------------------------------------------------- plans


def test_the_plan_ahead_is_the_plan_of_the_fit():
    model = ProbabilisticPCA(2)
    assert str(model.plan(D)) == str(model.fit(D).plan_)
    assert "4 chunks" in str(model.plan_) and "chunk by chunk" in str(model.plan_)


def test_few_rows_and_wide_ones_come_here(monkeypatch):
    wide = np.random.default_rng(0).normal(size=(20, 40))
    wide[0, 0] = np.nan
    model = ProbabilisticPCA(1, held_out=0).fit(da.from_array(wide, chunks=(7, 40)))
    assert model.plan_.held == "gapped" and "take less room here" in str(model.plan_)
    monkeypatch.setattr(plans, "_FEW", 10_000)
    model = ProbabilisticPCA(2).fit(D)
    assert model.plan_.held == "gapped" and "so few that all rows come here" in str(model.plan_)
    same_bits(model, ProbabilisticPCA(2).fit(X))


@pytest.mark.filterwarnings("ignore::mercer_old.errors.MercerWarning")
def test_a_pass_is_one_round_although_numbers_that_were_held_out_are_watched(monkeypatch):
    reduce, rounds = Loop.reduce, []

    def counted(self, *args):
        rounds[-1] += 1
        return reduce(self, *args)

    monkeypatch.setattr(Loop, "reduce", counted)
    for passes in (4, 10):
        rounds.append(0)
        model = ProbabilisticPCA(2, tol=1e-14, max_iter=passes).fit(D)
        assert model.n_iter_ == 2 * passes  # of the trial, and of the fit to all numbers
    assert rounds[1] - rounds[0] == 2 * 6


SOLVER = Expectation("normal", 1e-5, 500)
LIMITS = Limits(memory=10**9, threads=2)
MANY = 10_000_000, 100, 5, SOLVER


def test_rows_that_do_not_fit_here_fit_on_workers():
    plan = plans.gaps_plan(*MANY, LIMITS, Spread(1000, 10_000, 32, 2 * 10**9))
    assert plan.memory < 10**8 and "by 32 workers" in plan.why
    with pytest.raises(NoRoom, match="over the limit"):
        plans.gaps_plan(*MANY, LIMITS)
    with pytest.raises(NoRoom, match="over the limit"):  # chunks of a loop are kept here
        plans.gaps_plan(*MANY, LIMITS, Spread(1000, 10_000, 1, here=True))


def test_few_rows_come_here_if_they_fit(monkeypatch):
    monkeypatch.setattr(plans, "_FEW", 5_000_000)
    few, workers = (40_000, 100, 5, SOLVER), Spread(40, 1000, 2, 2 * 10**9)
    assert plans.gaps_plan(*few, LIMITS, workers).held == "gapped"
    assert plans.gaps_plan(*few, replace(LIMITS, memory=10**8), workers).held == "gapped chunks"


def test_workers_without_room_are_told_of_beforehand():
    with pytest.raises(NoRoom, match=r"A worker of the cluster needs .* for its share of 10,000,000 rows with gaps"):
        plans.gaps_plan(*MANY, LIMITS, Spread(1000, 10_000, 4, 2 * 10**9))


@pytest.mark.parametrize("share", [0.05, 0.5])
def test_the_plan_counts_what_is_held_out(share):
    rows = GappedRows.of(np.tile(X, (10, 1)))
    ((known, _),) = hold_out(rows, share, np.random.default_rng(0))
    _, *held = known.kept
    drawn = sum(array.nbytes for array in held) + 8 * len(held[0])  # and cells as drawn
    counted = [plans._of_worker(*rows.values.shape, 2, Spread(1, len(rows), 1), part) for part in (share, 0.0)]
    assert 0 < drawn <= counted[0] - counted[1]


def test_a_cluster_knows_what_sums_of_a_pass_weigh():
    rows = GappedRows.of(X)
    sums = rows.swept(Factors(np.ones((8, 2)), 1.0, np.zeros(8)), 1)
    assert sizeof(sums) >= sums.seconds.nbytes + sums.firsts.nbytes + sums.crosses.nbytes
    assert sizeof(chunked_gaps._totals(rows, None)) >= rows.counts.nbytes + rows.sums.nbytes


# ---------------------------------------------------------------------- afterwards


def test_scores_and_filled_gaps_are_promised():
    model = ProbabilisticPCA(2)
    scores = model.fit_transform(D)
    assert isinstance(scores, da.Array)
    assert_allclose(scores.compute(), model.transform(X), rtol=1e-12)
    filled, std = model.impute(D, return_std=True)
    assert isinstance(filled, da.Array) and filled.chunks == D.chunks and filled.dtype == np.float64
    for promised, expected in zip((filled, std), model.impute(X, return_std=True), strict=True):
        assert_allclose(promised.compute(), expected, rtol=1e-12, atol=1e-12)
    assert_array_equal(model.impute(D).compute(), filled.compute())
    assert model.impute(D, 2).shape == (2, 800, 8)  # draws come here
    with pytest.raises(ValueError, match="X has 7 features, but ProbabilisticPCA is expecting 8"):
        model.impute(D[:, :7])


def test_gaps_are_filled_by_workers(client):
    model = ProbabilisticPCA(2, **BRIEF).fit(D)
    assert_allclose(model.impute(D).compute(), model.impute(X), rtol=1e-12)
    frame = dd.from_pandas(pd.DataFrame(X, columns=list("abcdefgh")), npartitions=3)
    named = ProbabilisticPCA(2, **BRIEF).fit(frame)
    assert_allclose(named.impute(frame).compute(), named.impute(frame.compute()), rtol=1e-12)


def test_other_functions_fill_the_gaps_of_chunks_as_well():
    model = ProbabilisticPCA(2).fit(D)
    assert_allclose(complete_items(model, D).load(), model.impute(X), rtol=1e-12)
