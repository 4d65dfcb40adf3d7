"""ProbabilisticPCA of rows with gaps: against the textbook, brute force, conditional distributions and common sense."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.optimize import minimize
from scipy.stats import multivariate_normal
from sklearn.datasets import load_wine

from mercer import PCA, NoveltyDetector, ProbabilisticPCA, open_rows, suggest, textbook
from mercer_old.errors import BadData, MercerWarning, NoRoom
from support.silence import quiet

EXACT = {"prior": None, "held_out": 0.0, "tol": 1e-13, "max_iter": 5000}  # maximum likelihood, to the end


def table(n=60, d=5, k=2, noise=0.5, share=0.2, seed=0):
    """Rows of a model, and the same with gaps; no row and no column is empty."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, k)) @ (2 * rng.normal(size=(k, d))) + noise * rng.normal(size=(n, d)) + rng.normal(size=d)
    gaps = rng.random(X.shape) < share
    gaps[np.arange(n), rng.integers(0, d, n)] = False
    return X, np.where(gaps, np.nan, X)


FULL, GAPPED = table()


# ---------------------------------------------------------------------- maximum likelihood


def negative_likelihood(numbers, X, k):
    d = X.shape[1]
    mean, W, noise = numbers[:d], numbers[d : d + d * k].reshape(d, k), np.exp(numbers[-1])
    return -textbook.ppca_log_likelihood_of_observed(X, mean, W, noise).sum()


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_it_finds_what_a_general_optimiser_finds(seed):
    """BFGS on the marginal likelihood of all parameters at once, from the truth of the other model."""
    _, X = table(n=25, d=4, k=1, seed=seed)
    model = ProbabilisticPCA(1, **EXACT).fit(X)
    start = np.concatenate([model.mean_, model.loadings_.ravel(), [np.log(model.noise_variance_)]])
    rng = np.random.default_rng(seed)
    for away in (0.0, 0.5):
        best = minimize(
            negative_likelihood, start + away * rng.normal(size=len(start)), (X, 1), method="BFGS", tol=1e-7
        )
        assert_allclose(-best.fun, model.loglike_, rtol=1e-7)
    assert_allclose(best.x[:4], model.mean_, atol=1e-3)
    assert_allclose(np.exp(best.x[-1]), model.noise_variance_, rtol=1e-3)


def test_the_slow_twin_stays_where_it_ends_and_comes_near_it_by_itself():
    model = ProbabilisticPCA(2, **EXACT).fit(GAPPED)
    mean, W, noise = textbook.ppca_em(GAPPED, 2, 1, start=(model.mean_, model.loadings_, model.noise_variance_))
    assert_allclose(noise, model.noise_variance_, rtol=1e-6)
    assert_allclose(mean, model.mean_, atol=1e-6)
    assert_allclose(W @ W.T, model.loadings_ @ model.loadings_.T, atol=1e-5)
    found = textbook.ppca_log_likelihood_of_observed(GAPPED, *textbook.ppca_em(GAPPED, 2, 60)).sum()
    assert found <= model.loglike_ and abs(found - model.loglike_) < 0.1


def test_of_complete_rows_the_slow_twin_stays_at_the_closed_form():
    start = textbook.probabilistic_pca(FULL, 2)
    for before, after in zip(start, textbook.ppca_em(FULL, 2, 3, start=start), strict=True):
        assert_allclose(after, before, atol=1e-9)


def test_a_gap_in_a_row_that_says_nothing_else_changes_nothing():
    """Rows without any number leave the closed form of the others, by another way."""
    X = np.vstack([FULL, np.full((3, 5), np.nan)])
    with pytest.warns(MercerWarning, match="3 rows are without any number"):
        model = ProbabilisticPCA(2, **EXACT).fit(X)
    closed = ProbabilisticPCA(2).fit(FULL)
    for name in ("noise_variance_", "loglike_", "explained_variance_", "mean_"):
        assert_allclose(getattr(model, name), getattr(closed, name), rtol=1e-6, atol=1e-8)
    assert_allclose(np.abs(model.components_), np.abs(closed.components_), atol=1e-5)


@pytest.mark.parametrize("prior", ["normal", "ard", None])
@pytest.mark.parametrize("k", [1, 2, 4])
def test_the_objective_never_falls(k, prior):
    from mercer_old.fits.gaps.climbing import climb
    from mercer_old.fits.gaps.em import first_state
    from mercer_old.sweeps.gaps import GappedRows

    for seed in range(4):
        _, X = table(n=30, d=5, k=2, share=0.4, seed=seed)
        rows = GappedRows.of(X - np.nanmean(X, axis=0), np.random.default_rng(seed).integers(1, 4, 30))
        found = climb(rows, first_state(rows, k, prior), tol=1e-8, most=100, threads=1)
        heights = np.array(found.objectives)
        assert np.all(np.diff(heights) >= -1e-9 * np.abs(heights[1:])) and len(heights) > 3


def test_the_bound_on_the_evidence_is_one():
    """Of one column and one factor, against the integral over W by quadrature."""
    from scipy.special import logsumexp

    from mercer_old.fits.gaps.climbing import climb
    from mercer_old.fits.gaps.em import first_state
    from mercer_old.sweeps.gaps import GappedRows

    X = np.random.default_rng(0).normal(size=(12, 2)) * [2, 1]
    X[3, 1] = X[5, 0] = np.nan
    X -= np.nanmean(X, axis=0)
    rows = GappedRows.of(X)
    found = climb(rows, first_state(rows, 1, "normal"), tol=1e-12, most=2000, threads=1)
    state, grid = found.state, np.linspace(-6, 6, 49)
    W = np.stack(np.meshgrid(grid, grid), axis=-1).reshape(-1, 2)
    inside = [
        textbook.ppca_log_likelihood_of_observed(X, state.factors.mean, w[:, None], state.factors.noise).sum()
        - state.alpha[0] * w @ w / 2
        for w in W
    ]
    step = np.log(grid[1] - grid[0])
    evidence = logsumexp(inside) + 2 * step + np.log(state.alpha[0] / (2 * np.pi))
    assert evidence - 5 < found.objectives[-1] <= evidence


# ---------------------------------------------------------------------- what is said of rows


@pytest.mark.parametrize("standardize", [False, True])
def test_the_density_of_a_row_is_that_of_what_is_there(standardize):
    model = ProbabilisticPCA(2, standardize=standardize).fit(GAPPED)
    C = model.get_covariance()
    for x, density in zip(GAPPED, model.score_samples(GAPPED), strict=True):
        o = ~np.isnan(x)
        assert_allclose(density, multivariate_normal(model.mean_[o], C[np.ix_(o, o)]).logpdf(x[o]), rtol=1e-9)
    assert_allclose(model.score_samples(GAPPED).sum(), model.loglike_, rtol=1e-9)
    assert_allclose(model.score_samples(FULL), multivariate_normal(model.mean_, C).logpdf(FULL), rtol=1e-9)


@pytest.mark.parametrize("standardize", [False, True])
def test_gaps_are_filled_with_the_conditional_mean_and_its_deviation(standardize):
    model = ProbabilisticPCA(2, standardize=standardize).fit(GAPPED)
    filled, deviations = model.impute(GAPPED, return_std=True)
    C = model.get_covariance()
    for x, row, deviation in zip(GAPPED, filled, deviations, strict=True):
        m, o = np.isnan(x), ~np.isnan(x)
        weights = np.linalg.solve(C[np.ix_(o, o)], C[np.ix_(o, m)])
        assert_allclose(row[m], model.mean_[m] + (x[o] - model.mean_[o]) @ weights, rtol=1e-8, atol=1e-10)
        rest = C[np.ix_(m, m)] - C[np.ix_(m, o)] @ weights
        assert_allclose(deviation[m], np.sqrt(np.diag(rest)), rtol=1e-8)
        assert np.array_equal(row[o], x[o]) and not deviation[o].any()


def test_the_slow_twin_fills_gaps_alike():
    model = ProbabilisticPCA(2).fit(GAPPED)
    expected = textbook.ppca_fill(GAPPED, model.mean_, model.loadings_, model.noise_variance_)
    assert_allclose(model.impute(GAPPED), expected, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("whiten", [False, True])
def test_posteriors_are_those_of_the_joint_distribution(whiten):
    model = ProbabilisticPCA(2, whiten=whiten).fit(GAPPED)
    means, covariances = model.posterior(GAPPED)
    assert_allclose(model.transform(GAPPED), means, atol=1e-10)
    W, noise = model.loadings_, model.noise_variance_
    size = np.ones(2) if whiten else np.linalg.norm(W, axis=0)
    for x, mean, covariance in zip(GAPPED, means, covariances, strict=True):
        o = ~np.isnan(x)
        C = W[o] @ W[o].T + noise * np.eye(o.sum())
        expected = W[o].T @ np.linalg.solve(C, x[o] - model.mean_[o])
        assert_allclose(mean, expected * size, atol=1e-9)
        rest = np.eye(2) - W[o].T @ np.linalg.solve(C, W[o])
        assert_allclose(covariance, rest * np.outer(size, size), atol=1e-9)


@quiet
def test_of_a_row_without_any_number_nothing_is_known():
    model, nothing = ProbabilisticPCA(2, whiten=True).fit(GAPPED), np.full((2, 5), np.nan)
    mean, covariance = model.posterior(nothing)
    assert not mean.any() and np.array_equal(covariance, np.broadcast_to(np.eye(2), (2, 2, 2)))
    assert not model.score_samples(nothing).any()
    with pytest.warns(MercerWarning, match="2 rows are without any number: filled with the mean"):
        assert_allclose(model.impute(nothing), np.broadcast_to(model.mean_, (2, 5)))


def test_draws_have_the_mean_and_the_deviations_that_are_told():
    model = ProbabilisticPCA(2, standardize=True).fit(GAPPED)
    filled, deviations = model.impute(GAPPED, return_std=True)
    drawn = model.impute(GAPPED, 1000, random_state=0)
    gaps = np.isnan(GAPPED)
    assert drawn.shape == (1000, *GAPPED.shape) and np.array_equal(drawn[7][~gaps], GAPPED[~gaps])
    off = (drawn.mean(axis=0) - filled)[gaps] / deviations[gaps]
    assert np.abs(off).max() < 5 / np.sqrt(1000)
    assert_allclose(drawn.std(axis=0)[gaps] / deviations[gaps], 1, atol=5 / np.sqrt(2 * 1000))
    assert np.array_equal(model.impute(GAPPED, 2, random_state=3), model.impute(GAPPED, 2, random_state=3))


def test_intervals_around_filled_gaps_cover_as_often_as_they_say():
    full, gapped = table(n=2000, d=8, k=3, seed=5)
    filled, deviations = ProbabilisticPCA(3).fit(gapped).impute(gapped, return_std=True)
    gaps = np.isnan(gapped)
    covered = np.mean(np.abs(filled - full)[gaps] <= 1.96 * deviations[gaps])
    assert abs(covered - 0.95) < 4 * np.sqrt(0.05 * 0.95 / gaps.sum()) + 0.01


# ---------------------------------------------------------------------- invariance


SAME = ("noise_variance_", "loglike_", "explained_variance_", "mean_", "total_variance_")


def same(one, other, rtol=1e-6):
    for name in SAME:
        assert_allclose(getattr(one, name), getattr(other, name), rtol=rtol, atol=rtol, err_msg=name)


@pytest.mark.parametrize("prior", ["normal", "ard", None])
def test_the_order_of_rows_does_not_matter(prior):
    order = np.random.default_rng(0).permutation(len(GAPPED))
    params = EXACT | {"prior": prior, "tol": 1e-10}
    same(ProbabilisticPCA(2, **params).fit(GAPPED), ProbabilisticPCA(2, **params).fit(GAPPED[order]))


@pytest.mark.parametrize("prior", ["normal", None])
def test_copies_are_weights(prior):
    weights = np.random.default_rng(0).integers(0, 4, len(GAPPED))
    params = EXACT | {"prior": prior, "tol": 1e-10}
    weighted = ProbabilisticPCA(2, **params).fit(GAPPED, sample_weight=weights)
    same(weighted, ProbabilisticPCA(2, **params).fit(np.repeat(GAPPED, weights, axis=0)))


@pytest.mark.parametrize(("scale", "offset"), [(1.0, 1e6), (1e-150, 0.0), (1e150, 0.0), (1e3, -1e5)])
def test_units_and_offsets_change_what_they_should(scale, offset):
    plain, other = ProbabilisticPCA(2).fit(GAPPED), ProbabilisticPCA(2).fit(GAPPED * scale + offset)
    assert_allclose(other.impute(GAPPED * scale + offset), plain.impute(GAPPED) * scale + offset, rtol=1e-5)
    assert_allclose((other.mean_ - offset) / scale, plain.mean_, rtol=1e-4, atol=1e-4)
    known = np.sum(~np.isnan(GAPPED))
    assert_allclose(other.loglike_, plain.loglike_ - known * np.log(scale), rtol=1e-5)


def test_units_of_columns_do_not_matter_if_standardized():
    units = np.array([1e-3, 1, 1e3, 1e6, 10.0])
    plain, other = (ProbabilisticPCA(2, standardize=True).fit(X) for X in (GAPPED, GAPPED * units))
    assert_allclose(other.impute(GAPPED * units), plain.impute(GAPPED) * units, rtol=1e-6)


def test_columns_of_very_different_size_are_told_of():
    with pytest.warns(MercerWarning, match=r"largest standard deviation.*standardize=True"):
        ProbabilisticPCA(2).fit(GAPPED * [1, 1, 1, 1, 1e4])


def test_threads_do_not_change_a_bit():
    _, X = table(n=3000, d=12, k=4, seed=3)
    one, two = (ProbabilisticPCA(4, n_jobs=n).fit(X) for n in (1, 2))
    assert np.array_equal(one.components_, two.components_) and one.loglike_ == two.loglike_


def test_rows_of_one_pattern_share_it_whatever_their_number():
    """More rows of one pattern than are looked at together, and patterns of one row: as one by one."""
    _, X = table(n=1500, d=4, k=1, share=0.0, seed=1)
    X[:1400, 2] = np.nan
    X[1400:1450, 0] = np.nan
    model = ProbabilisticPCA(1, **EXACT).fit(X)
    expected = textbook.ppca_log_likelihood_of_observed(X, model.mean_, model.loadings_, model.noise_variance_)
    assert_allclose(model.score_samples(X), expected, rtol=1e-9)
    assert model.certificate_.patterns == 3
    start = model.mean_, model.loadings_, model.noise_variance_
    for before, after in zip(start, textbook.ppca_em(X, 1, 1, start=start), strict=True):
        assert_allclose(after, before, rtol=1e-5, atol=1e-5)


# ---------------------------------------------------------------------- ways in


def ways(X):
    yield "masked", np.ma.MaskedArray(np.nan_to_num(X, nan=1e9), np.isnan(X))
    yield "pandas", pd.DataFrame(X)
    yield "pandas with nulls", pd.DataFrame(X).astype("Float64").mask(np.isnan(X))
    yield "polars", pl.DataFrame({f"c{j}": [None if np.isnan(x) else x for x in X[:, j]] for j in range(X.shape[1])})
    yield "lists", [[None if np.isnan(x) else x for x in row] for row in X.tolist()]
    yield "single", X.astype(np.float32)


@pytest.mark.parametrize("kind", [name for name, _ in ways(GAPPED)])
def test_a_gap_is_a_gap_whatever_it_is_called(kind):
    given, plain = dict(ways(GAPPED))[kind], ProbabilisticPCA(2).fit(GAPPED)
    model = ProbabilisticPCA(2).fit(given)
    near = 1e-3 if kind == "single" else 1e-8
    assert_allclose(model.mean_, plain.mean_, rtol=near, atol=near)
    assert_allclose(model.impute(given), plain.impute(GAPPED), rtol=near, atol=near)
    assert_allclose(model.transform(given), plain.transform(GAPPED), rtol=near, atol=10 * near)
    assert np.array_equal(model.n_missing_, np.isnan(GAPPED).sum(axis=0))


@pytest.mark.parametrize("kind", [".npy", ".csv", ".parquet"])
def test_files_may_have_empty_cells(kind, tmp_path):
    path, frame = tmp_path / f"rows{kind}", pd.DataFrame(GAPPED, columns=list("abcde"))
    if kind == ".npy":
        np.save(path, GAPPED)
    elif kind == ".csv":
        frame.to_csv(path, index=False, float_format="%.17g")
    else:
        frame.to_parquet(path)
    model, plain = ProbabilisticPCA(2).fit(path), ProbabilisticPCA(2).fit(GAPPED)
    assert_allclose(model.noise_variance_, plain.noise_variance_, rtol=1e-10)
    assert_allclose(model.impute(open_rows(path)), plain.impute(GAPPED), rtol=1e-9)
    assert_allclose(model.score_samples(path), plain.score_samples(GAPPED), rtol=1e-9)
    assert ProbabilisticPCA().fit(path).n_components_ == ProbabilisticPCA().fit(GAPPED).n_components_


@quiet
def test_rows_of_weight_zero_may_have_any_gaps():
    """They are left out; those that are left are complete, and so the closed form is there."""
    X, weights = FULL.copy(), np.ones(len(FULL))
    X[:3] = np.nan
    weights[:3] = 0
    model, closed = ProbabilisticPCA(2).fit(X, sample_weight=weights), ProbabilisticPCA(2).fit(FULL[3:])
    assert_allclose(model.noise_variance_, closed.noise_variance_, rtol=1e-12)
    assert hasattr(model.certificate_, "residuals")


# ---------------------------------------------------------------------- how many, and how well


def test_held_out_numbers_find_the_number_of_factors():
    _, X = table(n=400, d=12, k=3, seed=2)
    model = ProbabilisticPCA().fit(X)
    assert 3 <= model.n_components_ <= 4
    known = model.certificate_
    assert known.held_out >= 300 and known.tried[:3] == (1, 2, 3) and known.error == min(known.errors)


def test_the_error_that_is_told_is_that_of_filled_gaps():
    full, X = table(n=1000, d=10, k=3, seed=4)
    model, gaps = ProbabilisticPCA(3).fit(X), np.isnan(X)
    error = np.sqrt(np.mean((model.impute(X) - full)[gaps] ** 2))
    usual = np.sqrt(np.mean((np.nanmean(X, axis=0) - full)[gaps] ** 2))
    assert_allclose(model.certificate_.error, error / usual, rtol=0.15)


@quiet
def test_a_prior_fills_gaps_better_than_maximum_likelihood_where_numbers_are_few():
    X = load_wine().data[::4]
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    k, errors = X.shape[1] - 1, {"normal": 0.0, None: 0.0}
    for seed in range(3):
        gaps = np.random.default_rng(seed).random(X.shape) < 0.3
        rows = np.where(gaps, np.nan, X)
        for prior in errors:
            model = ProbabilisticPCA(k, prior=prior, held_out=0, max_iter=60).fit(rows)
            errors[prior] += np.mean((model.impute(rows) - X)[gaps] ** 2)
    assert errors["normal"] < errors[None]


def test_the_certificate_counts_gaps_and_says_how_it_ended():
    model = ProbabilisticPCA(2).fit(GAPPED)
    known, words = model.certificate_, str(model.certificate_)
    assert known.missing == np.isnan(GAPPED).sum() == model.n_missing_.sum()
    assert known.rows_with_gaps == np.isnan(GAPPED).any(axis=1).sum() and known.certified
    for part in (f"{known.missing} of 300 numbers are missing", "converged", "held out to see", "missing at random"):
        assert part in words
    with pytest.warns(MercerWarning, match="Not converged after 2 passes"):
        short = ProbabilisticPCA(2, max_iter=2, tol=1e-12, held_out=0).fit(GAPPED)
    assert not short.certificate_.certified and "not converged" in str(short.certificate_)


# ---------------------------------------------------------------------- refusals and edges


def test_what_cannot_be_filled_is_refused_in_a_sentence():
    X = GAPPED.copy()
    X[:, 3] = np.nan
    with pytest.raises(BadData, match=r"1 column of 5 is missing in every row \(3\): leave it out"):
        ProbabilisticPCA(2).fit(X)
    with pytest.raises(BadData, match=r"missing in every row \('d'\)"):
        ProbabilisticPCA(2).fit(pd.DataFrame(X, columns=list("abcde")))
    with pytest.raises(BadData, match=r"sparse and has numbers missing.*toarray"):
        ProbabilisticPCA(2).fit(sparse.csr_array(GAPPED))
    for asked in (0.9, "bic", "mle"):
        with pytest.raises(BadData, match=r'numbers are missing.*"cv"'):
            ProbabilisticPCA(asked).fit(GAPPED)
    for asked in (0, 6):
        with pytest.raises(ValueError, match="n_components="):
            ProbabilisticPCA(asked).fit(GAPPED)
    with pytest.raises(NoRoom, match=r"needs .*numbers are missing"):
        ProbabilisticPCA(2, memory_limit="20MB").fit(GAPPED)
    infinite = GAPPED.copy()
    infinite[0, 0] = np.inf
    with pytest.raises(BadData, match="infinity"):
        ProbabilisticPCA(2).fit(infinite)
    for wrong in (0, -1, 2.5, True, "all"):
        with pytest.raises(ValueError, match="n_draws"):
            ProbabilisticPCA(2).fit(GAPPED).impute(GAPPED, wrong)
        with pytest.raises(ValueError, match="n_samples"):
            ProbabilisticPCA(2).fit(GAPPED).sample(wrong)


def test_a_refused_fit_leaves_the_model_as_it_was():
    model = ProbabilisticPCA(2).fit(GAPPED)
    before = model.transform(GAPPED)
    with pytest.raises(BadData):
        model.fit(np.full((4, 5), np.nan))
    assert np.array_equal(model.transform(GAPPED), before)


@quiet
@pytest.mark.parametrize("k", [1, 3, 5])
def test_strange_tables_are_no_accident(k):
    """Constant columns, copies, one-hot, as many components as columns, two rows, one column."""
    rng = np.random.default_rng(0)
    hot = np.eye(5)[rng.integers(0, 5, 40)]
    tables = {
        "constant": np.where(np.arange(5) == 2, 7.0, rng.normal(size=(40, 5))),
        "all constant": np.full((40, 5), 3.0),
        "copies": np.repeat(rng.normal(size=(4, 5)), 10, axis=0),
        "one-hot": hot,
        "one factor": rng.normal(size=(40, 1)) * np.ones(5),
        "few rows": rng.normal(size=(6, 5)),
    }
    for name, full in tables.items():
        gaps = rng.random(full.shape) < 0.2
        gaps[0] = False
        X = np.where(gaps, np.nan, full)
        for prior in ("normal", "ard", None):
            filled, deviations = ProbabilisticPCA(k, prior=prior).fit(X).impute(X, return_std=True)
            assert np.isfinite(filled).all() and np.isfinite(deviations).all(), name
            if name == "all constant":
                assert_allclose(filled, 3.0)
            if name == "one factor":
                assert_allclose(filled, full, atol=0.1)


@quiet
def test_one_column_is_filled_with_its_mean():
    X = np.array([[1.0], [np.nan], [3.0], [5.0]])
    assert_allclose(ProbabilisticPCA(1).fit(X).impute(X)[1], 3.0, atol=1e-6)


# ---------------------------------------------------------------------- novelty, suggestions


def test_novel_rows_are_found_among_rows_with_gaps():
    """And usual ones raise no more false alarms than they may."""
    _, X = table(n=1200, d=8, k=2, seed=7)
    detector = NoveltyDetector(ProbabilisticPCA(2), alpha=0.1).fit(X[:800])
    usual, novel = X[800:], X[800:] + np.random.default_rng(0).normal(size=(400, 8)) * 6
    assert np.mean(detector.predict(usual) == -1) < 0.1 + 4 * np.sqrt(0.09 / 400) + 0.05
    assert np.mean(detector.predict(novel) == -1) > 0.9
    assert np.isfinite(detector.statistics(usual)).all() and np.isfinite(detector.contributions(usual)).all()


def test_of_complete_rows_novelty_is_that_of_pca():
    ours, theirs = (NoveltyDetector(kind(2)).fit(FULL) for kind in (ProbabilisticPCA, PCA))
    assert_allclose(ours.p_values(FULL), theirs.p_values(FULL))


def test_suggestions_are_for_complete_rows():
    with pytest.raises(ValueError, match=r'complete rows.*"cv"'):
        suggest(ProbabilisticPCA(2).fit(GAPPED))
    assert suggest(ProbabilisticPCA(None).fit(FULL))["bic"].k == suggest(PCA().fit(FULL))["bic"].k
