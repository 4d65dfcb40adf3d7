"""What the detector measures: against explicit features and the first edition, for all models and kinds of input."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

import mercer_old
from mercer.data.dataset import ArrayDataset, Metadata
from mercer.errors import DataError, MemoryLimitError, MercerWarning, ParameterError
from mercer.estimators import PCA, IncrementalPCA, KernelPCA, NoveltyDetector, ProbabilisticPCA
from mercer.kernels.distance import RBF, Laplacian
from mercer.kernels.dot import Polynomial

rng = np.random.default_rng(0)
X, NEW = rng.normal(size=(40, 3)) @ np.diag([3.0, 1.0, 0.3]), 2 * rng.normal(size=(11, 3))
quiet = pytest.mark.filterwarnings("ignore::mercer.errors.MercerWarning", "ignore::mercer_old.errors.MercerWarning")


def fitted(model, statistic="reconstruction", train=X, calibration=X[:20], **options):
    return NoveltyDetector(model.fit(train), statistic=statistic, prefit=True, **options).fit(calibration)


def of_features(features, new, k):
    """Q and T² by the singular vectors of explicit features."""
    centered, new = features - features.mean(axis=0), new - features.mean(axis=0)
    _, sigma, Vt = np.linalg.svd(centered, full_matrices=False)
    scores = new @ Vt[:k].T
    left = new - scores @ Vt[:k]
    return np.sum(left**2, axis=1), np.sum(scores**2 / (sigma[:k] ** 2 / (len(features) - 1)), axis=1)


def quadratic(X):
    """Features of (xᵀy + 1)²."""
    products = [X[:, i] * X[:, j] for i in range(3) for j in range(3)]
    return np.column_stack([*products, np.sqrt(2) * X, np.ones(len(X))])


@quiet
@pytest.mark.parametrize("solver", ["auto", "dense", "krylov"])
def test_q_and_t2_are_those_of_the_explicit_features(solver):
    model = KernelPCA(4, kernel=Polynomial(degree=2, gamma=1.0, coef0=1.0), eigen_solver=solver)
    q, t2 = of_features(quadratic(X), quadratic(NEW), 4)
    assert_allclose(-fitted(model).score_samples(NEW), q, rtol=1e-7, atol=1e-9 * q.max())
    assert_allclose(-fitted(model, "t2").score_samples(NEW), t2, rtol=1e-6)


@quiet
@pytest.mark.parametrize("kernel", [RBF(0.2), Laplacian(0.3)], ids=repr)
def test_q_and_t2_follow_from_the_kernel_matrix_of_old_and_new_rows(kernel):
    """Rows of the root of K have its inner products."""
    both = np.concatenate([X, NEW])
    values, vectors = np.linalg.eigh(kernel(both, both))
    features = vectors * np.sqrt(np.maximum(values, 0))
    q, t2 = of_features(features[: len(X)], features[len(X) :], 5)
    assert_allclose(fitted(KernelPCA(5, kernel=kernel)).statistics(NEW), np.column_stack([t2, q]), rtol=1e-6)


@pytest.mark.parametrize("model", [PCA(2), IncrementalPCA(2), PCA(2, whiten=True), KernelPCA(2)], ids=repr)
@quiet
def test_linear_models_agree(model):
    q, t2 = of_features(X, NEW, 2)
    detector = fitted(model)
    assert_allclose(detector.statistics(NEW), np.column_stack([t2, q]), rtol=1e-7)
    left = model.total_variance_ - model.explained_variance_.sum()
    assert_allclose(fitted(model, "t2q").score_samples(NEW), -(t2 / 2 + q / left), rtol=1e-7)
    scale = X.std(axis=0, ddof=1)
    q, t2 = of_features(X / scale, NEW / scale, 2)
    if isinstance(model, PCA):
        scaled = fitted(model.set_params(standardize=True)).statistics(NEW)
        assert_allclose(scaled, np.column_stack([t2, q]), rtol=1e-8)


def hostile():
    r = np.random.default_rng(1)
    heavy = r.standard_t(2.5, size=(300, 4)) + 6 * r.integers(0, 2, size=(300, 1))
    missing = heavy.copy()
    missing[r.uniform(size=heavy.shape) < 0.05] = np.nan
    duplicates = np.repeat(heavy[:60], 4, axis=0)
    return {"heavy": heavy, "missing": missing, "duplicates": duplicates, "offset": heavy + 1e6, "tiny": 1e-100 * heavy}


def old(model):
    """The same model of the first edition."""
    return getattr(mercer_old, type(model).__name__)(**{k: v for k, v in model.get_params().items() if k in OPTIONS})


OPTIONS = {"n_components", "kernel", "gamma", "standardize", "eigen_solver"}
TWINS = {
    "pca": PCA(2),
    "standardized": PCA(2, standardize=True),
    "rbf": KernelPCA(3, kernel="rbf", gamma="median"),
    "standardized rbf": KernelPCA(3, kernel="rbf", gamma="median", standardize=True),
    "ppca": ProbabilisticPCA(2),
}


@quiet
@pytest.mark.parametrize("data", ["heavy", "missing", "duplicates", "offset", "tiny"])
@pytest.mark.parametrize("model", TWINS)
def test_scores_p_values_and_decisions_are_those_of_the_first_edition(model, data):
    table, model = hostile()[data], TWINS[model]
    if data == "missing" and not isinstance(model, ProbabilisticPCA):
        pytest.skip("The model does not accept missing values.")
    new = np.vstack([table[:60], 3 * table[60:80]])
    for statistic in ("reconstruction", "t2", "t2q"):
        ours = NoveltyDetector(model, statistic=statistic, random_state=3).fit(table)
        theirs = mercer_old.NoveltyDetector(old(model), statistic=statistic, random_state=3).fit(table)
        scale = np.median(theirs.calibration_scores_)
        assert_allclose(ours.score_samples(new), theirs.score_samples(new), rtol=1e-6, atol=1e-6 * scale)
        assert_allclose(ours.p_values(new), theirs.p_values(new), atol=1e-12)
        assert np.array_equal(ours.predict(new), theirs.predict(new))
        if not model.get_params().get("standardize") or isinstance(model, PCA):  # it compared scaled rows with others
            theirs_too = theirs.contributions(new)
            assert_allclose(ours.contributions(new), theirs_too, rtol=1e-5, atol=1e-6 * np.abs(theirs_too).max())


@quiet
def test_the_sum_of_projections_is_that_of_the_first_edition_and_low_away_from_the_data():
    detector = fitted(KernelPCA(6, kernel=RBF(0.5)), "projection")
    theirs = mercer_old.NoveltyDetector(
        mercer_old.KernelPCA(6, kernel=mercer_old.kernels.RBF(0.5)).fit(X), statistic="lecture", prefit=True
    ).fit(X[:20])
    assert_allclose(detector.score_samples(NEW), theirs.score_samples(NEW), rtol=1e-8, atol=1e-12)
    assert_allclose(detector.score_samples([[30.0, 30.0, 30.0]]), 0, atol=1e-12)
    assert detector.predict([[30.0, 30.0, 30.0]])[0] == -1
    map = PCA(2).fit(X).linear_map()
    assert_allclose(fitted(PCA(2), "projection").score_samples(NEW), np.abs(NEW @ map.axes.T).sum(axis=1), rtol=1e-12)


@quiet
@pytest.mark.parametrize("statistic", ["reconstruction", "t2", "t2q"])
def test_contributions_to_linear_models_add_up_to_the_score(statistic):
    detector = fitted(PCA(2, standardize=True), statistic)
    assert_allclose(detector.contributions(NEW).sum(axis=1), -detector.score_samples(NEW), rtol=1e-9)


@quiet
@pytest.mark.parametrize("model", [PCA(1), KernelPCA(2, kernel=RBF(0.1)), KernelPCA(2, kernel="rbf", standardize=True)])
def test_the_column_that_is_off_contributes_most(model):
    table = np.random.default_rng(3).normal(size=(200, 5))
    table[:, 1:] = table[:, :1] + 0.1 * table[:, 1:]
    table *= [1, 10, 1, 0.1, 1] if getattr(model, "standardize", False) else 1
    detector, off = NoveltyDetector(model).fit(table), table[:10].copy()
    off[np.arange(10), np.arange(10) % 5] += 4.0 * table.std(axis=0)[np.arange(10) % 5]
    assert list(detector.predict(off)) == [-1] * 10
    assert list(detector.contributions(off).argmax(axis=1)) == list(np.arange(10) % 5)


@quiet
def test_limits_are_where_decisions_change():
    rows = np.vstack([X, NEW])
    for statistic in ("reconstruction", "t2", "t2q"):
        detector = fitted(PCA(2), statistic, calibration=X)
        (t2, q), limits = detector.statistics(rows).T, detector.limits()
        (value,) = (value for value in limits.values() if value is not None)
        a, b, c = {"reconstruction": (0, 1, value), "t2": (1, 0, value), "t2q": value}[statistic]
        novel = a * t2 + b * q > c
        assert np.array_equal(novel, detector.predict(rows) == -1) and 0 < novel.sum() < len(rows)


# ---------------------------------------------------------------------- input


@quiet
def test_sparse_rows_files_and_frames_are_scored_as_arrays(tmp_path):
    full = np.where(rng.uniform(size=(90, 8)) < 0.3, rng.normal(size=(90, 8)), 0.0)
    np.save(tmp_path / "rows.npy", full)
    frame = pd.DataFrame(full, columns=list("abcdefgh"))
    for model in (PCA(3), KernelPCA(3, kernel=RBF(0.2))):
        dense = NoveltyDetector(model).fit(full)
        for made in (sparse.csr_array(full), tmp_path / "rows.npy", frame):
            other = NoveltyDetector(model).fit(made)
            assert_allclose(other.score_samples(made), dense.score_samples(full), rtol=1e-7, atol=1e-10)
        assert_allclose(other.contributions(frame[:5]), dense.contributions(full[:5]), rtol=1e-6, atol=1e-8)
        assert list(other.feature_names_in_) == list("abcdefgh") == other.estimator_.feature_names
        with pytest.raises(ValueError, match="feature names should match"):
            other.predict(frame.rename(columns={"a": "z"}))


def test_files_larger_than_the_limit_are_not_read(tmp_path):
    np.save(tmp_path / "rows.npy", rng.normal(size=(3000, 10)))
    with pytest.raises(MemoryLimitError, match="training and calibration rows in memory"):
        NoveltyDetector(PCA(2, memory_limit=100_000)).fit(tmp_path / "rows.npy")


@quiet
def test_decisions_are_a_table_with_the_names_of_the_rows(tmp_path):
    frame = pd.DataFrame(rng.normal(size=(50, 3)), columns=list("abc"))
    detector = NoveltyDetector(PCA(2)).fit(frame)
    found = detector.decisions(frame)
    assert list(found.columns()) == ["novelty", "p_value", "novel"] and len(found.to_frame()) == 50
    assert_allclose(found.p_values, detector.p_values(frame))
    assert_allclose(found.scores, -detector.score_samples(frame))
    assert found.summary.endswith("of 50 rows are novel (p ≤ alpha = 0.1).")
    selected = detector.decisions(frame, fdr=0.2)
    assert selected.summary.endswith("(false discovery rate 0.2).")
    assert np.array_equal(selected.is_novel, detector.select(frame, fdr=0.2))
    assert_allclose(pd.read_csv(found.write(tmp_path / "decisions.csv"))["p_value"], found.p_values)
    data = ArrayDataset(frame.to_numpy())
    data.metadata = Metadata({"sample": [f"r{i}" for i in range(50)]}, id_name="sample")
    assert detector.decisions(data).columns()["id"][:2] == ["r0", "r1"]


@quiet
def test_a_precomputed_kernel_has_t2_only():
    K, K_new = RBF(0.2)(X, X), RBF(0.2)(NEW, X)
    model = KernelPCA(3, kernel="precomputed").fit(K)
    by_kernel = fitted(KernelPCA(3, kernel=RBF(0.2)), "t2").score_samples(NEW)
    by_matrix = NoveltyDetector(model, statistic="t2", prefit=True).fit(K)
    assert_allclose(by_matrix.score_samples(K_new), by_kernel, rtol=1e-8)
    for statistic in ("reconstruction", "projection"):
        with pytest.raises(ParameterError, match="which a precomputed kernel"):
            NoveltyDetector(model, statistic=statistic, prefit=True).fit(K)
    with pytest.raises(DataError, match="compares a kernel matrix"):
        by_matrix.contributions(K_new)


# ---------------------------------------------------------------------- degenerate data and large numbers

LARGE = {
    "pca": PCA(2),
    "all components": PCA(),
    "rbf": KernelPCA(3, kernel="rbf", gamma="median"),
    "linear": KernelPCA(2),
}


@quiet
@pytest.mark.parametrize("model", LARGE.values(), ids=LARGE)
@pytest.mark.parametrize("statistic", ["reconstruction", "t2", "t2q"])
def test_units_and_offsets_do_not_change_decisions(model, statistic):
    table = np.random.default_rng(0).normal(size=(120, 4))
    detector = NoveltyDetector(model, statistic=statistic)
    expected = detector.fit(table).p_values(table)
    for factor in (1e-100, 1e100):
        if not isinstance(model, KernelPCA) or model.kernel != "linear":  # whose squares overflow
            assert_allclose(detector.fit(factor * table).p_values(factor * table), expected, atol=1e-12)
    if statistic != "t2" or model.n_components is not None:
        far = detector.fit(table + 1e6).p_values(table + 1e6)
        assert_allclose(far, expected, atol=1e-12 if model.n_components is not None else 1.0)


@quiet
@pytest.mark.parametrize("model", LARGE.values(), ids=LARGE)
def test_rows_far_away_are_novel_with_finite_scores(model):
    table = np.random.default_rng(0).normal(size=(120, 4))
    for statistic in ("t2q",) if model.n_components is None else ("reconstruction", "t2q"):
        detector = NoveltyDetector(model, statistic=statistic).fit(table)
        for far in (1e3, 1e8, 1e80, 1e160):
            if isinstance(model, PCA) or far < 1e160:
                assert (detector.predict(far * table[:5]) == -1).all()
                assert np.isfinite(detector.score_samples(far * table[:5])).all()
        if isinstance(model, PCA):
            assert np.isfinite(detector.contributions(1e200 * table[:3])).all()


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("kernel", "far"), [("linear", 1e160), ("poly", 1e100)])
@pytest.mark.parametrize("statistic", ["reconstruction", "t2", "t2q"])
def test_rows_whose_squares_overflow_in_feature_space_are_novel(kernel, far, statistic):
    table = np.random.default_rng(0).normal(size=(120, 4))
    detector = NoveltyDetector(KernelPCA(2, kernel=kernel), statistic=statistic).fit(table)
    assert (detector.predict(far * table[:5]) == -1).all()
    assert np.isfinite(detector.score_samples(far * table[:5])).all()


@quiet
def test_a_row_that_leaves_the_subspace_of_all_others_is_novel():
    table = np.random.default_rng(0).normal(size=(120, 4))
    table = np.column_stack([table, table[:, 0] - table[:, 1]])
    detector = NoveltyDetector(PCA(), statistic="t2q").fit(table)
    assert (detector.predict(table[:20] + np.array([0, 0, 0, 0, 1e-3])) == -1).all()
    assert np.mean(detector.predict(table) == 1) > 0.8


@quiet
def test_equal_rows_are_inliers_and_any_other_is_novel():
    for model in (PCA(2), PCA(), KernelPCA(3, kernel=RBF(0.2))):
        detector = NoveltyDetector(model).fit(np.ones((40, 3)))
        assert (detector.p_values(np.ones((5, 3))) == 1).all()
        assert detector.predict([[1.0, 1.0, 2.0]])[0] == -1


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_components_that_leave_nothing_are_reported_as_meaningless(dtype):
    table = np.random.default_rng(0).normal(size=(120, 4))
    with pytest.warns(MercerWarning, match="explain all of the variance"):
        detector = NoveltyDetector(PCA()).fit(table.astype(dtype))
    assert any(found.severity == "meaningless" for found in detector.fit_warnings_)


@pytest.mark.filterwarnings("ignore::mercer.errors.MercerWarning")
def test_statistics_that_mean_nothing_are_reported():
    table = np.random.default_rng(0).normal(size=(120, 4))
    cases = {
        ("reconstruction", "not positive semi-definite"): KernelPCA(2, kernel="sigmoid"),
        ("projection", "low values of the sum of projections"): KernelPCA(2, kernel="poly"),
        ("projection", "of a linear model grows"): PCA(2),
    }
    for (statistic, message), model in cases.items():
        found = NoveltyDetector(model, statistic=statistic).fit(table).fit_warnings_
        assert any(message in str(warning) for warning in found)
    for kernel in ("rbf", "laplacian", "cosine"):
        found = NoveltyDetector(KernelPCA(2, kernel=kernel), statistic="projection").fit(table).fit_warnings_
        assert not any("projections" in str(warning) for warning in found)


@quiet
def test_single_precision_gives_nearly_the_same_scores():
    table = np.random.default_rng(0).normal(size=(120, 4))
    for model in (PCA(2), KernelPCA(3, kernel=RBF(0.2))):
        double = NoveltyDetector(model).fit(table).score_samples(table)
        single = NoveltyDetector(model).fit(table.astype(np.float32)).score_samples(table.astype(np.float32))
        assert_allclose(single, double, rtol=1e-4, atol=1e-5)


@quiet
def test_the_default_model_is_kernel_pca_on_landmarks():
    pytest.importorskip("mercer.estimators._kernel_landmarks")
    table = np.random.default_rng(0).normal(size=(400, 3))
    detector = NoveltyDetector().fit(table)
    assert detector.estimator_.plan_.route == "landmarks"
    assert detector.predict([[0.1, 0.2, -0.3], [9.0, 9.0, 9.0]]).tolist() == [1, -1]
    theirs = mercer_old.NoveltyDetector().fit(table)
    assert_allclose(detector.p_values(table), theirs.p_values(table), atol=0.1)
