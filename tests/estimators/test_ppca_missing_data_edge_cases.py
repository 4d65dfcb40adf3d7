"""Rows with gaps at the edges: no noise, no variance, one row beside another, units beyond squares, pictures."""

import tracemalloc
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.stats import multivariate_normal
from sklearn.utils import get_tags

import mercer
from mercer import NoveltyDetector, ProbabilisticPCA
from mercer_old.errors import BadData, MercerWarning
from mercer_old.fits.gaps.climbing import climb
from mercer_old.fits.gaps.em import first_state, improve
from mercer_old.fits.gaps.reading import Reading
from mercer_old.sweeps import gaps as sweeps
from mercer_old.sweeps.factors import Factors
from mercer_old.sweeps.gaps import GappedRows, sweep_factors
from support.silence import quiet

RNG = np.random.default_rng(0)
PLANE = RNG.normal(size=(40, 2)) @ RNG.normal(size=(2, 5)) + 1  # two dimensions of five
NOISY = PLANE + 0.2 * RNG.normal(size=PLANE.shape)


def gapped(X, share=0.2, seed=0):
    """The same with gaps, in the first half of the rows alone, of which every row has one at least."""
    rng, X = np.random.default_rng(seed), X.copy()
    half, d = len(X) // 2, X.shape[1]
    X[:half][rng.random((half, d)) < share] = np.nan
    X[np.arange(half), rng.integers(0, d, half)] = np.nan
    return X


# ---------------------------------------------------------------------- one row beside another


@quiet
@pytest.mark.parametrize("k", [2, None])
@pytest.mark.parametrize("X", [PLANE, NOISY], ids=["plane", "noisy"])
def test_what_is_said_of_a_complete_row_does_not_depend_on_gaps_of_others(X, k):
    model, some = ProbabilisticPCA(k).fit(X), gapped(X)
    half, d = len(X) // 2, X.shape[1]
    # The same product with fewer rows, which BLAS may sum in another order: off by γ of the moduli, in each of the two.
    moduli = (np.abs(X[half:]) + np.abs(model.mean_)) @ np.abs(model.components_.T)
    apart = np.abs(model.transform(some)[half:] - model.transform(X)[half:])
    assert (apart <= 2 * (d + 4) * np.finfo(float).eps * moduli).all()
    assert_allclose(model.score_samples(some)[half:], model.score_samples(X)[half:], rtol=1e-12)


@pytest.mark.filterwarnings("ignore:The covariance is singular")
@pytest.mark.parametrize("noise", [0.0, 1e-6, 3e-7])
def test_rows_with_gaps_have_the_density_of_their_plane(noise):
    """Without noise, by scipy's pseudo-inverse; with next to none, which that takes for none, by eigenvalues."""
    X = PLANE + noise * np.random.default_rng(1).normal(size=PLANE.shape)
    model, some = ProbabilisticPCA(2).fit(X), gapped(X)
    C = model.get_covariance()
    for x, density in zip(some, model.score_samples(some), strict=True):
        o = ~np.isnan(x)
        if not noise:
            normal = multivariate_normal(model.mean_[o], C[np.ix_(o, o)], allow_singular=True)
            assert_allclose(density, normal.logpdf(x[o]), rtol=1e-7)
        else:  # the eigenvalues of the twin are off by some roundings of the largest, of which σ² is 1e-13
            values, vectors = np.linalg.eigh(C[np.ix_(o, o)])
            squares = (vectors.T @ (x[o] - model.mean_[o])) ** 2 / values
            off = ((1 + squares) * 20 * np.finfo(float).eps * values[-1] / values).sum() / 2
            assert off < 3  # without the noise it would be another density by tens
            assert_allclose(density, -(np.log(2 * np.pi * values) + squares).sum() / 2, atol=off)


def test_without_noise_all_components_tell_the_density_of_what_is_there():
    model, some = ProbabilisticPCA(None).fit(NOISY), gapped(NOISY)
    C = np.cov(NOISY.T, bias=True)
    for x, density in zip(some, model.score_samples(some), strict=True):
        o = ~np.isnan(x)
        assert_allclose(density, multivariate_normal(model.mean_[o], C[np.ix_(o, o)]).logpdf(x[o]), rtol=1e-9)


# ---------------------------------------------------------------------- draws and deviations


def test_draws_within_a_row_are_correlated_as_they_should_be():
    model = ProbabilisticPCA(2, standardize=True).fit(NOISY)
    x = np.array([[np.nan, NOISY[0, 1], np.nan, np.nan, NOISY[0, 4]]])
    m, o, C = [0, 2, 3], [1, 4], model.get_covariance()
    drawn = model.impute(np.repeat(x, 2, axis=0), 10_000, random_state=0)[:, :, m]
    rest = C[np.ix_(m, m)] - C[np.ix_(m, o)] @ np.linalg.solve(C[np.ix_(o, o)], C[np.ix_(o, m)])
    size = np.sqrt(np.outer(np.diag(rest), np.diag(rest)))
    for row in (0, 1):
        assert np.abs((np.cov(drawn[:, row].T) - rest) / size).max() < 6 * np.sqrt(2 / 10_000)
    between = (drawn[:, 0] - drawn[:, 0].mean(axis=0)).T @ (drawn[:, 1] - drawn[:, 1].mean(axis=0)) / len(drawn)
    assert np.abs(between / size).max() < 6 / np.sqrt(10_000)


def test_draws_without_noise_are_no_accident():
    """Covariances of the factors are as small as rounding then, and were not positive definite."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 20)) @ np.diag(np.logspace(0, -5, 20)) @ rng.normal(size=(20, 20))
    model = ProbabilisticPCA(15).fit(X @ np.diag([1.0] * 15 + [0.0] * 5))
    drawn = model.impute(np.where(rng.random(X.shape) < 0.4, np.nan, X), 3)
    assert np.isfinite(drawn).all()


@pytest.mark.parametrize("with_gaps", [False, True])
def test_of_rows_that_do_not_vary_nothing_does(with_gaps):
    """Neither deviations nor draws have a unit that nobody gave."""
    X = np.full((10, 3), 7.0)
    some = X.copy()
    some[0, 0] = np.nan
    with pytest.warns(MercerWarning, match="All rows are the same"):
        model = ProbabilisticPCA(1).fit(some if with_gaps else X)
    filled, deviations = model.impute(some, return_std=True)
    assert_allclose(filled, 7.0)
    assert not deviations.any()
    assert_allclose(model.impute(some, 5), 7.0)
    with pytest.warns(MercerWarning, match="The covariance is singular"):
        assert not model.score_samples(some).any()


# ---------------------------------------------------------------------- the climb


@pytest.mark.parametrize("prior", ["normal", "ard", None])
def test_a_climb_that_is_cut_short_ends_where_it_was_highest(prior):
    """Also if the last pass tried a long step that led nowhere."""
    X = gapped(NOISY, 0.4, seed=1)
    rows = GappedRows.of(X - np.nanmean(X, axis=0))
    for most in range(3, 24):
        found = climb(rows, first_state(rows, 3, prior), tol=-np.inf, most=most, threads=1)
        _, height = improve(rows, found.state, 1)
        assert height >= max(found.objectives) - 1e-9 * abs(height), most


@quiet
def test_a_climb_of_one_pass_does_not_say_what_it_gained():
    model = ProbabilisticPCA(1, max_iter=1, held_out=0).fit(gapped(NOISY))
    assert "inf" not in str(model.certificate_) and not model.certificate_.certified


def test_of_numbers_of_components_that_tell_as_well_the_fewest_are_taken(monkeypatch):
    ways = dict.fromkeys((1, 2, 3, 4), 0.5) | {2: 0.25, 3: 0.25}

    def one_pass(trial, k, tol):
        found = climb(trial.rows, first_state(trial.rows, k, None), tol=tol, most=1, threads=1)
        return replace(found, error=ways[k], stopped=True)

    monkeypatch.setattr("mercer_old.fits.gaps.holding_out.Trial.climb", one_pass)
    model = ProbabilisticPCA().fit(gapped(NOISY))
    assert model.n_components_ == 2 and model.certificate_.errors == (0.5, 0.25, 0.25, 0.5)


# ---------------------------------------------------------------------- memory


def peak(work):
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def many_patterns(n=1500, d=40, k=30):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    return np.where(rng.random(X.shape) < 0.2, np.nan, X), Factors(rng.normal(size=(d, k)), 1.0, np.zeros(d))


@pytest.mark.parametrize("what", ["scores", "log_density", "told", "deviations", "drawn"])
def test_a_matrix_for_every_row_is_never_held_for_all(what, monkeypatch):
    monkeypatch.setattr(sweeps, "_ENTRIES", 100_000)
    X, factors = many_patterns()
    reading = Reading.of(factors, X)
    more = {"deviations": (1.0,), "drawn": (1, 1.0, np.random.default_rng(0))}.get(what, ())
    for_all = 8 * len(X) * factors.k**2
    assert peak(lambda: list(getattr(reading, what)(*more))) < for_all / 2


def test_sums_of_a_pass_are_not_held_for_all_pieces(monkeypatch):
    monkeypatch.setattr(sweeps, "_ENTRIES", 20_000)
    X, factors = many_patterns()
    rows = GappedRows.of(X)
    one = 8 * X.shape[1] * factors.k * (factors.k + 1) // 2
    assert len(rows.pieces(factors.k)) > 100
    assert peak(lambda: sweep_factors(rows, factors, 1)) < 30 * one


def test_pieces_of_a_pass_change_nothing_but_rounding(monkeypatch):
    X, factors = many_patterns(300)
    X[:100] = np.where(np.isnan(X[0]), np.nan, np.nan_to_num(X[:100]))  # one pattern with many rows
    whole = sweep_factors(GappedRows.of(X), factors, 1)
    monkeypatch.setattr(sweeps, "_ENTRIES", 1)
    pieces = sweep_factors(GappedRows.of(X), factors, 2)
    for name in ("likelihood", "seconds", "firsts", "crosses", "latent"):
        assert_allclose(getattr(pieces, name), getattr(whole, name), rtol=1e-9, atol=1e-9)


def test_the_plan_is_for_as_many_components_as_are_tried():
    """And not for as many as there are columns: 108 GB, of a fit that takes a hundredth of it."""
    X = np.zeros((2000, 1500))
    X[0, 0] = np.nan
    assert ProbabilisticPCA(memory_limit="4GB").plan(X).memory < 2e9


def test_wide_rows_start_from_the_axes_of_the_rows():
    """No matrix of columns by columns is made, and the axes are its eigenvectors."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(12, 3000))
    X[0, 0] = np.nan
    rows = GappedRows.of(X - np.nanmean(X, axis=0))
    assert peak(lambda: first_state(rows, 2, None)) < 8 * 3000**2 / 10
    few = GappedRows.of(rows.values[:, :30], np.arange(1.0, 13.0))
    W, moved = first_state(few, 2, None).factors.W, few.values * np.sqrt(few.weights / few.weight)[:, None]
    values = np.linalg.eigvalsh(moved.T @ moved)[::-1]
    assert_allclose(np.linalg.eigvalsh(W.T @ W)[::-1], values[:2], rtol=1e-9)
    assert_allclose(moved.T @ moved @ W, W * values[:2], rtol=1e-7, atol=1e-7)


# ---------------------------------------------------------------------- refusals


@pytest.mark.parametrize("gaps", [False, True])
def test_squares_that_are_no_numbers_are_refused(gaps):
    X = gapped(NOISY) if gaps else NOISY
    with pytest.raises(BadData, match=r"too small for a number.*another unit, or standardize=True"):
        ProbabilisticPCA(2).fit(X * 1e-170)
    with pytest.raises(BadData, match="far too large"):
        ProbabilisticPCA(2).fit(X * 1e160)
    tiny, plain = (ProbabilisticPCA(2, standardize=True).fit(X * unit) for unit in (1e-170, 1.0))
    assert_allclose(tiny.noise_variance_, plain.noise_variance_, rtol=1e-6)
    assert_allclose(tiny.impute(gapped(NOISY) * 1e-170) * 1e170, plain.impute(gapped(NOISY)), rtol=1e-6)


def test_sparse_rows_are_not_filled():
    thin = sparse.csr_array(np.nan_to_num(gapped(NOISY)))
    model = ProbabilisticPCA(2).fit(NOISY)
    assert_allclose(model.impute(thin), thin.toarray())
    thin.data[3] = np.nan
    for ask in (model.impute, model.transform, model.posterior, model.score_samples):
        with pytest.raises(BadData, match=r"sparse and has 1 number missing.*toarray"):
            ask(thin)


def test_coordinates_of_what_is_missing_are_refused():
    with pytest.raises(BadData, match="NaN"):
        ProbabilisticPCA(None).fit(NOISY).decorrelate(gapped(NOISY))


def test_an_infinite_value_among_gaps_is_found_at_its_place():
    X = NOISY.copy()
    X[0, 0], X[3, 2] = np.nan, np.inf
    for given in (X, pd.DataFrame(X), X.astype(object)):
        with pytest.raises(BadData, match="One value is not finite, first at row index 3, column 2"):
            ProbabilisticPCA(1).fit(given)


def test_what_pandas_calls_missing_is_missing_among_objects_too():
    X = gapped(NOISY)
    objects = X.astype(object)
    objects[np.isnan(X)] = pd.NA
    plain = ProbabilisticPCA(2).fit(X)
    for given in (objects, pd.DataFrame(objects), objects.tolist()):
        model = ProbabilisticPCA(2).fit(given)
        assert_allclose(model.impute(given), plain.impute(X), rtol=1e-9)


def test_a_detector_takes_what_its_model_takes():
    assert get_tags(NoveltyDetector(ProbabilisticPCA(1))).input_tags.allow_nan
    assert not get_tags(NoveltyDetector(mercer.PCA(1))).input_tags.allow_nan


def test_blank_cells_of_a_file_are_empty(tmp_path):
    X, path = gapped(NOISY), tmp_path / "rows.csv"
    for blank in ("", " ", "   "):
        pd.DataFrame(X, columns=list("abcde")).astype(str).replace("nan", blank).to_csv(path, index=False)
        assert ProbabilisticPCA(1).fit(path).n_missing_.sum() == np.isnan(X).sum()
        with pytest.raises(BadData, match=r"missing value.*line 2"):
            mercer.PCA(1).fit(path)


# ---------------------------------------------------------------------- what others make of them


def test_contributions_and_influence_are_of_filled_rows():
    X = gapped(NOISY)
    model = ProbabilisticPCA(2).fit(X)
    filled = model.impute(X)
    found, expected = mercer.contributions(model, X), mercer.contributions(model, filled)
    for name in ("rows", "cos2", "columns", "correlations"):
        assert_allclose(getattr(found, name), getattr(expected, name), rtol=1e-12)
        assert np.isfinite(getattr(found, name)).all()
    assert str(mercer.influence(model, X)) == str(mercer.influence(model, filled))


@quiet
def test_clusters_are_of_filled_rows():
    X = gapped(NOISY)
    model = ProbabilisticPCA(2).fit(X)
    filled = model.impute(X)
    assert np.array_equal(mercer.clusters(model, 2, X=X).labels, mercer.clusters(model, 2, X=filled).labels)


def test_stability_says_that_it_draws_complete_rows():
    with pytest.raises(BadData, match=r"numbers are missing.*impute"):
        mercer.stability(ProbabilisticPCA(2), gapped(NOISY))


@pytest.mark.parametrize("kind", [None, "scree", "spectrum", "field"])
def test_pictures_of_rows_with_gaps_are_drawn(kind):
    X = gapped(NOISY)
    model = ProbabilisticPCA(2).fit(X)
    assert model.plot(None if kind is None else X, kind=kind).figure_ is not None


def test_a_report_tells_of_rows_with_gaps(tmp_path):
    X = gapped(NOISY)
    page = ProbabilisticPCA(2).fit(X).report(X)
    assert f"{np.isnan(X).sum()} of 200 numbers are missing" in page


def test_rows_without_noise_are_written_with_their_errors(tmp_path):
    X = gapped(NOISY)
    model = ProbabilisticPCA(2).fit(X)
    model.denoise_to(X, tmp_path / "rows.npy", with_error=True)
    written = np.load(tmp_path / "rows.npy")
    assert_allclose(written[:, :-1], model.denoise(X))
    assert_allclose(written[:, -1], np.sqrt(np.nansum((X - model.denoise(X)) ** 2, axis=1)))
