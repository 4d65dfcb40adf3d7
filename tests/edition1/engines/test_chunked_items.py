"""Texts and tables in chunks of Dask: compared by their kernels where they lie, as if they were here."""

import os
import re
import signal
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mercer import KernelPCA, LocallyLinearEmbedding
from mercer.kernels import RBF, Category, Date, Edit, Mismatch, Numeric, Spectrum, Subsequence, TableKernel
from mercer_old.engines.loop import Loop
from mercer_old.errors import BadData, NoRoom
from mercer_old.fits.kernel.certified import _find_nearly_all
from mercer_old.fits.kernel.opening import open_task
from mercer_old.plans import kernel as plans
from mercer_old.plans.plan import Plan
from mercer_old.plans.sizes import Problem, Spread
from mercer_old.plans.spread import gathered
from mercer_old.solvers.dense import Dense
from mercer_old.sources.collections import open_items_of
from mercer_old.sources.frames import as_columns
from support.together import check_each

pd = pytest.importorskip("pandas")
bag = pytest.importorskip("dask.bag", reason="the extra `dask` is not installed")
frames = pytest.importorskip("dask.dataframe", reason="the extra `dask` is not installed")


def sequences(n=240, seed=0):
    rng = np.random.default_rng(seed)
    return ["".join(rng.choice(list("ACGT"), size=rng.integers(5, 15))) for _ in range(n)]


def mixed(n=240, seed=0):
    """Columns of four kinds with gaps; the first chunk has no text at all."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "mass": rng.normal(size=n),
            "colour": rng.choice(["red", "green", "blue"], size=n),
            "day": pd.date_range("2020-01-01", periods=n),
            "name": sequences(n),
        }
    )
    table.loc[::7, "colour"] = None
    table.loc[::5, "mass"] = np.nan
    table.loc[:70, "name"] = None
    return table


def model(kernel, **others):
    return KernelPCA(3, kernel=kernel, n_landmarks=30, random_state=0, **others)


def in_frame(table, parts=5):
    return frames.from_pandas(table, npartitions=parts)


def with_empty_chunk(table):
    return frames.concat(
        [in_frame(table[:100], 2), in_frame(table[:20], 1)[lambda part: part.index < 0], in_frame(table[100:], 2)]
    )


def test_chunks_have_the_components_of_their_items():
    texts, table = sequences(), mixed()
    column = pd.DataFrame({"sequence": texts})
    weights = np.random.default_rng(1).integers(0, 3, size=240).astype(float)
    cases = {
        "a column": (Spectrum(3), texts, in_frame(column), None),
        "a series": (Spectrum(2), texts, in_frame(column)["sequence"], None),
        "a bag": (Spectrum(3), texts, bag.from_sequence(texts, npartitions=7), None),
        "an alphabet": (Mismatch(3, 1), texts, bag.from_sequence(texts, npartitions=2), None),
        "a table": (TableKernel(), table, in_frame(table), None),
        "an empty chunk": (TableKernel(), table, with_empty_chunk(table), None),
        "chunks of one": (TableKernel(), table[100:109], in_frame(table[100:109], 9), None),
        "two columns": (TableKernel({"mass": Numeric(), "colour": Category()}), table, in_frame(table), None),
        "weights": (Spectrum(3), texts, in_frame(column), weights),
        "weights of rows": (TableKernel({"mass": Numeric(), "name": Spectrum(2)}), table, in_frame(table), weights),
    }

    def check(case):
        kernel, items, chunks, w = cases[case]
        expected, found = model(kernel).fit(items, sample_weight=w), model(kernel).fit(chunks, sample_weight=w)
        assert_array_equal(found.landmark_indices_, expected.landmark_indices_)
        assert_allclose(found.eigenvalues_, expected.eigenvalues_, rtol=1e-9)
        assert "where they lie" in found.plan_.why
        assert_allclose(np.abs(found.transform(chunks).compute()), np.abs(expected.transform(items)), atol=1e-8)

    check_each(list(cases), check)


def test_without_a_client_and_for_an_embedding_they_are_brought_here():
    texts, table = sequences(), mixed()
    column = in_frame(pd.DataFrame({"sequence": texts}))
    assert_allclose(
        KernelPCA(3, kernel=TableKernel()).fit(in_frame(table)).eigenvalues_,
        KernelPCA(3, kernel=TableKernel()).fit(table).eigenvalues_,
        rtol=1e-9,
    )
    embedding = LocallyLinearEmbedding(n_components=2, n_neighbors=10, metric=Spectrum(2), random_state=0)
    assert_allclose(embedding.fit(column).embedding_, embedding.fit(texts).embedding_, atol=1e-9)
    with pytest.raises(NoRoom, match="n_landmarks looks at them where they lie"):
        KernelPCA(3, kernel=Spectrum(3), memory_limit="20kB").fit(column)


# ---------------------------------------------------------------------- all compared with all, by workers


def exact(kernel, items, weights=None, **others):
    return KernelPCA(3, kernel=kernel, n_jobs=1, random_state=0, **others).fit(items, sample_weight=weights)


@pytest.fixture
def elsewhere(monkeypatch):
    """A loop that says it is somewhere else: it goes the way of a cluster, also for a few items."""
    monkeypatch.setattr(Loop, "elsewhere", True)
    monkeypatch.setattr("mercer_old.plans.spread._WORTH_A_CLUSTER", 0.0)
    monkeypatch.setattr("mercer_old.operators.spread_gram._SIDE", 50)


@pytest.fixture
def anew(monkeypatch):
    """The matrix is evaluated anew in each pass, as that of many items is."""

    def plan(problem, limits):
        return plans._within(limits, plans._recomputed(problem, limits), problem)

    monkeypatch.setattr("mercer_old.models.kernel_model.choose_plan", plan)
    monkeypatch.setattr("mercer_old.operators.spread_gram._ROWS_A_TASK", 32)


DEAR = {
    "edits": (Edit(0.3), sequences(150), lambda texts: bag.from_sequence(texts, npartitions=4)),
    "a long way": (Subsequence(7, 0.5), sequences(60), lambda texts: in_frame(pd.DataFrame({"s": texts}))),
    "a table": (
        TableKernel({"mass": Numeric(RBF(0.5)), "name": Edit(0.2), "colour": Category()}, compose="product"),
        mixed(150),
        lambda table: in_frame(table),
    ),
    "an empty chunk": (TableKernel({"name": Edit(0.2), "day": Date()}), mixed(150), with_empty_chunk),
}


@pytest.mark.filterwarnings("ignore::mercer_old.errors.MercerWarning")  # of kernels that are not positive semi-definite
@pytest.mark.parametrize("held", ["gathered", "spread"])
def test_workers_compare_all_with_all(held, elsewhere, request):
    if held == "spread":
        request.getfixturevalue("anew")

    def check(case):
        kernel, items, chunked = DEAR[case]
        for weights in (None, np.arange(len(items)) % 3.0):
            here, there = exact(kernel, items, weights), exact(kernel, chunked(items), weights)
            assert there.plan_.held == held and here.plan_.held != held
            assert there.plan_.moved > 0 and "1 worker" in there.plan_.why
            assert_allclose(there.eigenvalues_, here.eigenvalues_, rtol=1e-8)
            assert np.all(there.certificate_.lower <= here.certificate_.upper)
            assert np.all(here.certificate_.lower <= there.certificate_.upper)
            assert_allclose(np.abs(there.transform(items)), np.abs(here.transform(items)), atol=1e-4)

    check_each(list(DEAR), check)


def test_texts_are_read_once_for_the_fit(elsewhere):
    read = []

    def noted(texts):
        read.append(len(texts))
        return texts

    model = exact(Edit(0.3), bag.from_sequence(sequences(80), npartitions=4).map_partitions(noted))
    assert model.plan_.held == "gathered" and read == [20] * 8  # once to look at, once to keep


def test_few_cheap_or_slow_workers_fill_nothing(elsewhere):
    """What decides: how dear an entry is beside its way here, how many threads are here, and the workers' memory."""
    dear = Problem(n=5000, k=3, width=10, loaded=10**6, entry_cost=800.0, psd=False, chunks=Spread(4, 1250, 2, 2**30))
    plan = Plan(Dense(), "gram", 10**8, "so.")
    filled = gathered(dear, plan, 1)
    assert filled.held == "gathered" and filled.memory > plan.memory and filled.moved > 4 * 5000**2
    cases = [
        (replace(dear, entry_cost=20.0), 2, "evaluated sooner than they would come"),
        (replace(dear, chunks=Spread(4, 1250, 2, 10**7)), 2, r"a worker would need [\d.]+ MB, and has 10 MB"),
        (replace(dear, chunks=Spread(4, 1250, 1, 2**30)), 2, "evaluated sooner"),
        (dear, 64, "evaluated sooner"),
    ]
    for problem, threads, words in cases:
        here = gathered(problem, plan, threads)
        assert here.held == "gram" and here.cut is None and re.search(words, here.why)


def test_a_share_that_takes_nearly_all_goes_on_with_what_is_here(elsewhere):
    """Items that no worker keeps in pieces by then are planned for as items of this process."""
    model = KernelPCA(0.99, kernel=Subsequence(7, 0.5), n_jobs=1)
    task = open_task(model, bag.from_sequence(sequences(60), npartitions=3), None, model._limits())
    found = _find_nearly_all(task)
    assert task.problem.workers and found.plan.held == "gram" and len(found.values) > 40


@pytest.mark.filterwarnings("ignore::mercer_old.errors.MercerWarning")  # of texts by chance, which have no directions
def test_exact_passes_after_landmarks_have_the_same_bits_for_any_chunks(elsewhere):
    texts = sequences(90)
    models = [
        model(Spectrum(3), refine=1).fit(bag.from_sequence(texts, npartitions=parts)).eigenvalues_
        for parts in (1, 3, 7)
    ]
    assert_array_equal(models[0], models[1])
    assert_array_equal(models[0], models[2])


def test_what_does_not_fit_is_refused_before_workers_read_it(elsewhere):
    read = []
    texts = bag.from_sequence(sequences(80), npartitions=4).map_partitions(lambda part: read.append(1) or part)
    with pytest.raises(NoRoom, match="n_landmarks looks at them where they lie"):
        exact(Edit(0.3), texts, memory_limit="5kB")
    assert len(read) == 4  # to look at


@pytest.mark.filterwarnings("ignore::mercer_old.errors.MercerWarning")
def test_the_scores_of_a_fit_are_those_that_are_promised(monkeypatch):
    texts = sequences(60)
    expected, weights = exact(Edit(0.3), texts), np.arange(60) % 2.0
    some = bag.from_sequence(texts, npartitions=3)
    few = KernelPCA(3, kernel=Edit(0.3)).fit_transform(some, sample_weight=weights)
    assert few.compute().shape == (60, 3)  # those without weight as well
    monkeypatch.setattr(KernelPCA, "transform", None)
    scores = KernelPCA(3, kernel=Edit(0.3)).fit_transform(some).compute()
    assert_allclose(scores, expected._training, atol=1e-9)


@pytest.mark.filterwarnings("ignore::mercer_old.errors.MercerWarning")
def test_workers_fill_a_matrix_with_the_bits_of_a_loop(own_client, in_a_loop, elsewhere):
    (kernel, table, _), killed = DEAR["a table"], []
    with in_a_loop():
        by_loop = exact(kernel, in_frame(table, 3))

    def kill(progress):
        if not killed:
            killed.append(next(iter(own_client.run(os.getpid).values())))
            os.kill(killed[0], signal.SIGKILL)

    for by_cluster in (exact(kernel, in_frame(table, 7), progress=kill), exact(kernel, in_frame(table, 3))):
        assert by_cluster.plan_.held == "gathered" and killed
        assert_array_equal(by_cluster.eigenvalues_, by_loop.eigenvalues_)
        assert_array_equal(by_cluster.eigenvectors_, by_loop.eigenvectors_)


def test_a_cluster_knows_what_columns_weigh():
    sizeof, table = pytest.importorskip("dask.sizeof").sizeof, as_columns(mixed(2000))
    assert table.nbytes <= sizeof(table) <= 1.1 * table.nbytes + 1000


# ---------------------------------------------------------------------- what cannot be had


def test_a_kernel_of_a_table_that_does_not_fit_learns_from_a_sample_and_says_so():
    rng, n = np.random.default_rng(0), 200_000
    table = pd.DataFrame({f"x{i}": rng.normal(size=n) for i in range(12)} | {"colour": rng.choice(["red", "blue"], n)})
    kernel = TableKernel({"x0": Numeric(), "x1": Numeric(), "colour": Category()})
    items = open_items_of(in_frame(table), "tables")
    with pytest.warns(UserWarning, match="is from a sample"):
        items.look_closer(1.9 * items.nbytes, rng)
    assert 0.1 < len(items.numbers) / n < 0.3
    assert list(items.at_hand.load()) == list(items[items.numbers])
    with pytest.warns(UserWarning, match="is from a sample of .* of 200,000 rows"):
        found = model(kernel, memory_limit=int(1.9 * items.nbytes)).fit(in_frame(table))
    assert_allclose(found.kernel_.variances["x0"], 1, rtol=0.05)
    assert_allclose(found.eigenvalues_, model(kernel).fit(table).eigenvalues_, rtol=0.05)


def test_what_chunks_do_not_agree_on_is_refused():
    texts = [["ab", "cd"], [b"ef"]]
    cases = [
        (bag.from_sequence([]), "texts", "0 sample"),
        (bag.from_delayed([_promised(part) for part in texts]), "texts", "bytes in chunk 1 and str in chunk 0"),
        (bag.from_delayed([_promised(part) for part in (["a"], ["b", 3.0])]), "texts", r"chunk 1 \(its items counted"),
        (in_frame(mixed()), "texts", "texts are a column"),
        (bag.from_sequence(["a", "b"]), "tables", "takes a frame"),
        (_frame_of([{"a": ["x", "y"]}, {"a": [1.0, 2.0]}]), "tables", "column 'a' holds numbers in chunk 1, and text"),
    ]

    def check(case):
        collection, kind, words = case
        with pytest.raises(BadData, match=words):
            open_items_of(collection, kind)

    check_each(cases, check)


def _promised(part):
    from dask import delayed

    return delayed(list, pure=False)(part)


def _frame_of(tables):
    from dask import config, delayed

    parts = [delayed(pd.DataFrame, pure=False)(table, dtype=object) for table in tables]
    with config.set({"dataframe.convert-string": False}):
        return frames.from_delayed(parts, meta=pd.DataFrame({"a": pd.Series([], dtype=object)}), verify_meta=False)


def test_a_column_of_gaps_alone_in_new_rows_counts_for_nothing():
    """Of whatever kind it was in the fit: gaps do not say what they are gaps of."""
    table = mixed()
    fitted = model(TableKernel()).fit(table)
    whole = fitted.transform(table)
    for name in ("day", "name", "colour", "mass"):
        some = table.copy()
        some.loc[:49, name] = None  # gaps among others
        gone = table[:50].assign(**{name: None})
        assert_allclose(fitted.transform(gone), fitted.transform(some)[:50], atol=1e-9)
        assert_allclose(fitted.transform(some)[50:], whole[50:], atol=1e-9)


def test_a_cluster_finds_the_same_bits_as_a_loop(cluster):
    from distributed import Client

    table = mixed(120)
    by_loop = model(TableKernel()).fit(in_frame(table, 3))
    with Client(cluster):
        by_cluster = model(TableKernel()).fit(in_frame(table, 3))
    assert_array_equal(by_cluster.landmark_indices_, by_loop.landmark_indices_)
    assert_array_equal(by_cluster.eigenvalues_, by_loop.eigenvalues_)
