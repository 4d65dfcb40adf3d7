"""By landmarks: some rows are embedded exactly, all others are placed between them, and everybody is told."""

import re
import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist
from scipy.stats import spearmanr

import mercer_old.plans.fill
import mercer_old.sources.items
from mercer import LocallyLinearEmbedding, textbook
from mercer.kernels import RBF
from mercer_old.certificates.placed import certify_placed
from mercer_old.errors import BadData, MercerWarning, NoRoom
from mercer_old.fits.local.landmarks import well_spread
from mercer_old.limits import Limits
from mercer_old.plans.local import LocalProblem, choose_local_plan
from mercer_old.solvers.among import AmongLandmarks
from mercer_old.spaces.points import Points
from support.local import apart, cloud, every_method, neighbours_of, roll
from support.peak import is_near
from support.silence import silently


def arc_length(t):
    """Of the spiral (t cos t, t sin t) from its centre."""
    return (t * np.sqrt(1 + t**2) + np.arcsinh(t)) / 2


def off(Y, Z):
    """How far coordinates are apart, up to their signs."""
    signs = np.sign(np.sum(Y * Z, axis=0))
    return np.abs(Y - Z * signs).max()


# ---------------------------------------------------------------------- what they are


@every_method
def test_landmarks_are_embedded_as_if_there_were_no_other_rows(method):
    X, _ = roll(900)
    model = LocallyLinearEmbedding(n_landmarks=400, **neighbours_of(method)).fit(X)
    chosen = model.landmark_indices_
    alone = LocallyLinearEmbedding(**neighbours_of(method)).fit(X[chosen])
    assert len(np.unique(chosen)) == 400 and model.embedding_.shape == (900, 2)
    scale = np.sqrt(400 / 900)  # all rows have about unit columns
    sure = 10 * (model.certificate_.landmarks.angles.max() + alone.certificate_.angles.max()) + 1e-9
    assert off(model.embedding_[chosen], scale * alone.embedding_) < sure
    assert off(model.embedding_, scale * alone.transform(X)) < sure
    np.testing.assert_allclose(np.linalg.norm(model.embedding_, axis=0), 1, rtol=0.15)
    assert model.reconstruction_error_ == pytest.approx(alone.reconstruction_error_, rel=1e-6)


@pytest.mark.parametrize(
    ("rows", "params"),
    [
        (cloud(200), {"metric": "cosine"}),
        (cloud(200), {"metric": RBF(0.05)}),
        (cloud(200), {"standardize": True}),
        (cloud(200).astype(np.float32), {}),
        (sparse.random_array((200, 30), density=0.3, format="csr", random_state=np.random.default_rng(0)), {}),
        (cdist(cloud(200), cloud(200)), {"metric": "precomputed"}),
        (apart((100, 81)), {"on_disconnected": "separate"}),
        (np.repeat(cloud(60), 4, axis=0), {}),
        (1e6 + cloud(200), {}),
        (1e150 * cloud(200), {}),
    ],
    ids=["cosine", "kernel", "standardize", "single", "sparse", "precomputed", "parts", "copies", "offset", "huge"],
)
def test_fit_and_transform_agree_wherever_neighbourhoods_live(rows, params):
    model = LocallyLinearEmbedding(n_neighbors=8, n_components=2, n_landmarks=60, **params)
    fitted = silently(lambda: model.fit_transform(rows))
    assert model.certificate_.n_landmarks == 60 and fitted.dtype == (np.float32 if fitted.itemsize == 4 else float)
    again = silently(lambda: model.transform(rows))
    np.testing.assert_allclose(again, fitted, atol=1e-7 if fitted.itemsize == 8 else 1e-4)
    assert len(model.part_labels_) == len(fitted) and model.part_labels_.max() + 1 == model.n_parts_


def test_a_roll_is_unrolled_by_some_of_its_rows():
    X, t = roll(8000)
    for method in ("standard", "modified"):
        model = LocallyLinearEmbedding(n_neighbors=12, n_landmarks=2000, method=method).fit(X)
        best = max(abs(spearmanr(column, arc_length(t))[0]) for column in model.embedding_.T)
        assert best >= 0.99


def test_as_many_landmarks_as_rows_are_all_rows():
    X, _ = roll(300)
    plain, all_rows = (LocallyLinearEmbedding(n_neighbors=12, n_landmarks=m).fit(X) for m in (None, 300))
    np.testing.assert_array_equal(plain.embedding_, all_rows.embedding_)
    assert not hasattr(all_rows, "landmark_indices_")
    some = LocallyLinearEmbedding(n_neighbors=12, n_landmarks=200).fit(X)
    assert len(some.landmark_indices_) == 200
    assert not hasattr(some.set_params(n_landmarks=None).fit(X), "landmark_indices_")


def test_rows_of_a_file_are_read_in_blocks_and_give_the_same(tmp_path, monkeypatch):
    X, _ = roll(1500)
    np.save(tmp_path / "rows.npy", X)
    how = dict(n_neighbors=10, n_landmarks=150)
    expected = LocallyLinearEmbedding(**how).fit(X)
    whole = mercer_old.sources.items.Rows.load

    def watched(rows, kept=None):
        assert kept is not None, "all rows were read at once"
        return whole(rows, kept)

    monkeypatch.setattr("mercer_old.sources.items.Rows.load", watched)
    found = LocallyLinearEmbedding(**how).fit(tmp_path / "rows.npy")
    np.testing.assert_array_equal(found.landmark_indices_, expected.landmark_indices_)
    np.testing.assert_allclose(found.embedding_, expected.embedding_, atol=1e-12)


# ---------------------------------------------------------------------- which rows


def test_landmarks_lie_apart_and_none_of_them_twice():
    rows = np.repeat(cloud(40), 5, axis=0)
    order = well_spread(Points.of(rows), 60, np.random.default_rng(0), 1)
    assert len(np.unique(order)) == 60
    assert len(np.unique(rows[order[:40]], axis=0)) == 40  # copies come after all others


def test_the_first_landmarks_already_see_what_lies_apart():
    crowd, few = 0.1 * cloud(2000), 0.1 * cloud(5, seed=1) + 100
    order = well_spread(Points.of(np.concatenate([crowd, few])), 200, np.random.default_rng(0), 1)
    assert np.isin(order[:5], np.arange(2000, 2005)).any()


def test_whichever_number_of_them_is_taken_the_first_landmarks_are_from_everywhere():
    line = np.linspace(0, 1, 5000)[:, None]  # in order, as many files are
    order = well_spread(Points.of(line), 1000, np.random.default_rng(0), 1)
    for count in (600, 700, 800, 900):  # draws by lot have a mean of 0.5 ± 0.29/√count
        assert line[order[:count]].mean() == pytest.approx(0.5, abs=5 * 0.29 / np.sqrt(count))


def test_landmarks_leave_smaller_gaps_than_a_uniform_sample():
    X, _ = roll(4000)
    drawn = np.random.default_rng(0)

    def gaps(chosen):
        return np.sort(cdist(X, X[chosen]).min(axis=1))

    ours = np.mean([gaps(well_spread(Points.of(X), 300, drawn, 1))[-40:] for _ in range(3)])
    others = np.mean([gaps(drawn.choice(len(X), 300, replace=False))[-40:] for _ in range(3)])
    assert ours < others


def test_rows_that_are_all_the_same_are_told():
    with pytest.warns(MercerWarning, match="are the same"):
        model = LocallyLinearEmbedding(n_neighbors=3, n_landmarks=20).fit(np.ones((50, 3)))
    np.testing.assert_array_equal(model.embedding_, 0)


@pytest.mark.parametrize("columns", [3, 30])
def test_distances_that_overflow_are_told_before_landmarks_are_drawn_by_them(columns):
    X = cloud(100, columns)
    with pytest.raises(BadData, match="not finite: an overflow"):
        LocallyLinearEmbedding(n_neighbors=5, n_landmarks=40).fit(X / np.abs(X).max() * 1.7e308)


# ---------------------------------------------------------------------- the plan


def test_where_all_rows_do_not_fit_landmarks_are_taken_and_everybody_is_told():
    X, t = roll(6000)
    model = LocallyLinearEmbedding(n_neighbors=12, method="modified", memory_limit="30MB", n_jobs=1)
    foreseen = model.plan(X)
    with pytest.warns(
        MercerWarning, match=r"would take .* over the limit of 30 MB. \d,\d+ landmarks are embedded instead"
    ):
        model.fit(X)
    assert model.plan_.approximate and foreseen.approximate and foreseen.memory <= 30e6
    assert model.plan_.solver.count == len(model.landmark_indices_) == model.certificate_.n_landmarks
    assert "landmarks" in str(model.plan_) and "nothing is proven about the other" in str(model.certificate_)
    assert max(abs(spearmanr(column, t)[0]) for column in model.embedding_.T) > 0.99


def test_a_solver_that_was_asked_for_by_name_is_refused_rather_than_changed():
    for solver in ("arpack", "dense"):
        with pytest.raises(NoRoom, match="give n_landmarks="):
            LocallyLinearEmbedding(n_neighbors=12, memory_limit="30MB", n_jobs=1, eigen_solver=solver).fit(
                roll(6000)[0]
            )


def test_landmarks_that_were_asked_for_and_do_not_fit_are_refused():
    with pytest.raises(NoRoom, match="Give fewer n_landmarks"):
        LocallyLinearEmbedding(n_neighbors=12, memory_limit="30MB", n_jobs=1, n_landmarks=5900).fit(roll(6000)[0])


def test_sparse_rows_are_planned_by_what_they_hold_and_not_by_what_they_would_hold_if_dense():
    rows = sparse.random_array((400, 200_000), density=1e-4, format="csr", random_state=np.random.default_rng(0))
    model = silently(lambda: LocallyLinearEmbedding(n_neighbors=5, memory_limit="100MB").fit(rows))
    assert not model.plan_.approximate and rows.shape[0] * rows.shape[1] * 8 > 100e6
    assert LocallyLinearEmbedding(n_neighbors=5, n_landmarks=100, memory_limit="100MB").plan(rows).approximate


def test_given_distances_are_not_copied_to_choose_landmarks_among_them():
    X, _ = roll(2000)
    D = cdist(X, X)
    model = LocallyLinearEmbedding(n_neighbors=8, n_landmarks=300, metric="precomputed", n_jobs=1)
    tracemalloc.start()
    try:
        silently(lambda: model.fit(D))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 0.7 * D.nbytes and is_near(peak, model.plan_.memory)


def test_a_plan_by_landmarks_knows_how_entangled_they_are():
    X = np.random.default_rng(0).normal(size=(2400, 12))  # far from a surface, so that the factor is full
    model = LocallyLinearEmbedding(n_neighbors=10, n_landmarks=1600, n_jobs=1)
    foreseen = model.plan(X)
    silently(lambda: model.fit(X))
    alone = LocallyLinearEmbedding(n_neighbors=10, n_jobs=1).plan(X[model.landmark_indices_])
    assert model.plan_.memory >= alone.memory and type(foreseen.solver.inner) is type(alone.solver)
    assert foreseen.memory == pytest.approx(model.plan_.memory, rel=0.25)


def test_all_rows_as_landmarks_are_never_fewer_of_them():
    entangled = LocalProblem(
        n=100_000, d=50, k=2, neighbors=10, fill=mercer_old.plans.fill.Fill(1e10, 1e15 / 3, 2.0, 60.0)
    )
    plenty = Limits(memory=2**40, threads=2)
    assert choose_local_plan(entangled, plenty).approximate
    assert not choose_local_plan(replace(entangled, n_landmarks=100_000), plenty).approximate
    with pytest.raises(NoRoom):
        choose_local_plan(replace(entangled, n_landmarks=100_000), Limits(memory=10**9, threads=2))


@pytest.mark.parametrize("n", [10**6, 10**8])
@pytest.mark.parametrize("solver", ["auto", "arpack"])
def test_a_refusal_advises_landmarks_only_where_they_fit(n, solver):
    problem = LocalProblem(n=n, d=10, k=2, neighbors=12, kept=80 * n, eigen_solver=solver)
    for limit in (10**8, 10**9):
        limits = Limits(memory=limit, threads=2)
        try:
            assert choose_local_plan(problem, limits).memory <= limit
        except NoRoom as refused:
            advice = re.search(r"n_landmarks=(\d+)", str(refused))
            if advice:
                again = replace(problem, n_landmarks=int(advice[1]))
                assert choose_local_plan(again, limits).memory <= limit
            else:
                assert 40 * n > limit / 2 and "larger memory_limit" in str(refused)  # places of all rows are too much


def test_more_rows_than_there_is_time_for_are_placed_between_landmarks():
    entangled = LocalProblem(n=100_000, d=50, k=2, neighbors=10)
    plenty = Limits(memory=2**40, threads=2)
    fill = replace(entangled, fill=mercer_old.plans.fill.Fill(1e10, 1e15 / 3, 2.0, 60.0))
    assert not choose_local_plan(entangled, plenty).approximate  # on a surface, they take some seconds
    plan = choose_local_plan(fill, plenty)
    assert isinstance(plan.solver, AmongLandmarks) and 'Give eigen_solver="dense" to embed all rows' in plan.warning
    assert not choose_local_plan(replace(fill, eigen_solver="dense"), plenty).approximate


def test_a_plan_keeps_within_any_limit_that_it_does_not_refuse():
    for d in (3, 60):
        for limit in np.geomspace(15e6, 4e9, 12):
            problem = LocalProblem(n=300_000, d=d, k=2, neighbors=12, kept=8 * d * 300_000)
            try:
                assert choose_local_plan(problem, Limits(memory=int(limit), threads=2)).memory <= limit
            except NoRoom as refused:
                assert limit < 150e6 and "over the limit" in str(refused)


# ---------------------------------------------------------------------- the certificate


def test_what_is_measured_of_placed_rows_is_what_their_formulas_say():
    X, _ = roll(700)
    model = LocallyLinearEmbedding(n_neighbors=10, n_landmarks=300).fit(X)
    chosen, said = model.landmark_indices_, model.certificate_
    others = np.setdiff1d(np.arange(700), chosen)
    D = cdist(X[chosen], X[chosen])
    radius = np.median(np.sort(D, axis=1)[:, 10])  # the first of all is the landmark itself
    placed = model.place(X[others])
    np.testing.assert_allclose(said.residuals, np.quantile(placed.residuals / radius, [0.5, 0.95, 1]), rtol=1e-6)
    W = textbook.lle_weight_matrix(X[chosen], 10)
    Y = model.embedding_[chosen]
    returned = np.sqrt(np.mean((W @ Y - Y) ** 2, axis=0)) / Y.std(axis=0)
    np.testing.assert_allclose(said.returned, returned, rtol=1e-4)
    assert said.n_placed == 400 and said.n_far == placed.far.sum() and said.certified and said.converged


def test_what_is_measured_of_landmarks_is_what_the_fit_made_small():
    model = LocallyLinearEmbedding(n_neighbors=10, n_landmarks=300).fit(roll(700)[0])
    said = model.certificate_
    np.testing.assert_allclose(said.returned, np.sqrt(said.landmarks.values), rtol=1e-4)  # ‖y − Wy‖² = yᵀMy = λ
    assert "placed by the others, which were fitted with it, is off by" in str(said)


def test_residuals_of_many_rows_are_not_copied():
    landmarks = LocallyLinearEmbedding(n_neighbors=8).fit(cloud(60)).certificate_
    residuals, radii, returned = np.random.default_rng(0).random(400_000), np.ones(60), np.zeros(2)
    expected = np.quantile(residuals, [0.5, 0.95, 1])
    tracemalloc.start()
    try:
        said = certify_placed(landmarks, radii, residuals, returned, 0)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    np.testing.assert_allclose(said.residuals, expected)
    assert said.n_placed == 400_000 and peak < residuals.nbytes / 4


def test_rows_far_from_all_landmarks_are_warned_of(monkeypatch):
    X = np.concatenate([roll(2000)[0], [[300.0, 0, 0], [0, 0, 400.0]]])
    monkeypatch.setattr("mercer_old.fits.local.landmarks.well_spread", lambda space, count, *_: np.arange(count))
    with pytest.warns(MercerWarning, match="2 of 1,502 placed rows are farther from the landmarks"):
        model = LocallyLinearEmbedding(n_neighbors=12, n_landmarks=500).fit(X)
    assert model.certificate_.n_far == 2 and "a guess" in str(model.certificate_)


def test_scikit_learn_has_no_such_model():
    model = LocallyLinearEmbedding(n_neighbors=8, n_landmarks=50).fit(cloud(90))
    with pytest.raises(ValueError, match="no model by landmarks"):
        model.to_sklearn()
