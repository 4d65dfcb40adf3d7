"""The share of held-out variance: against explicit features, the textbook's formula, and scikit-learn's grid search."""

import numpy as np
import pytest
from sklearn.decomposition import PCA as SklearnPCA
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mercer import KernelPCA
from mercer.datasets import VOC, rings
from mercer.kernels import RBF, Laplacian, Linear, Polynomial, Spectrum
from mercer_old.errors import BadData, MercerWarning

RNG = np.random.default_rng(0)
X, NEW = RNG.standard_normal((60, 4)) @ RNG.standard_normal((4, 4)), RNG.standard_normal((25, 4)) + 0.3
WEIGHTS = RNG.integers(1, 4, 60).astype(float)


def by_definition(model, rows, new, weights=None):
    """Σ scores²/Σ(k(x, x) − 2 mean k(x, ·) + mean k(·, ·)), from whole matrices."""
    w = np.full(len(rows), 1 / len(rows)) if weights is None else weights / weights.sum()
    kernel = model.kernel_
    own = np.diag(kernel.block(new, new))
    lengths = own - 2 * kernel.block(new, rows) @ w + w @ kernel.block(rows, rows) @ w
    return np.sum(model.transform(new) ** 2) / lengths.sum()


@pytest.mark.parametrize("kernel", [Linear(), RBF(0.1), Laplacian(0.3), Polynomial(2), RBF(0.2) + Linear()], ids=repr)
@pytest.mark.parametrize("solver", ["dense", "krylov", "auto"])
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
def test_it_is_its_definition(kernel, solver, weights):
    model = KernelPCA(3, kernel=kernel, eigen_solver=solver).fit(X, sample_weight=weights)
    assert model.score(NEW) == pytest.approx(by_definition(model, X, NEW, weights), rel=1e-10)


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
def test_on_the_rows_of_the_fit_it_is_the_explained_share(weights):
    repeated = X if weights is None else np.repeat(X, weights.astype(int), axis=0)
    for kernel in (RBF(0.1), Linear(), Polynomial(2)):
        model = KernelPCA(3, kernel=kernel).fit(X, sample_weight=weights)
        assert model.score(repeated) == pytest.approx(model.explained_variance_ratio_.sum(), rel=1e-9)


def test_of_the_linear_kernel_it_is_one_less_the_error_of_pca():
    pca = SklearnPCA(2).fit(X)
    left = np.sum((NEW - pca.inverse_transform(pca.transform(NEW))) ** 2)
    expected = 1 - left / np.sum((NEW - X.mean(axis=0)) ** 2)
    for offset in (0.0, 1e6):
        model = KernelPCA(2).fit(X + offset)
        assert model.score(NEW + offset) == pytest.approx(expected, rel=1e-7)


def test_tiny_gamma_keeps_its_digits():
    """exp(−γd²) − 1 is −γd² to first order: centred, the kernel is 2γ times the linear one, whose share it has."""
    linear = KernelPCA(2).fit(X).score(NEW)
    with pytest.warns(MercerWarning, match="nearly the same"):
        model = KernelPCA(2, kernel="rbf", gamma=1e-12).fit(X)
    assert model.score(NEW) == pytest.approx(linear, rel=1e-6)


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
def test_by_all_landmarks_it_is_the_exact_one(weights):
    exact = KernelPCA(3, kernel=RBF(0.1)).fit(X, sample_weight=weights)
    seen = KernelPCA(3, kernel=RBF(0.1), landmarks=np.arange(60)).fit(X, sample_weight=weights)
    assert seen.score(NEW) == pytest.approx(exact.score(NEW), rel=1e-7)


def test_by_few_landmarks_lengths_are_whole_and_only_the_mean_is_as_the_landmarks_see_it():
    model = KernelPCA(3, kernel=RBF(0.1), n_landmarks=10).fit(X)
    kernel, S = model.kernel_, model.landmarks_
    mean = np.linalg.solve(kernel.block(S, S), kernel.block(S, X).mean(axis=1))
    for new in (NEW, NEW + 1e3):
        lengths = 1 - 2 * kernel.block(new, S) @ mean + mean @ kernel.block(S, S) @ mean
        assert model.score(new) == pytest.approx(np.sum(model.transform(new) ** 2) / lengths.sum(), rel=1e-6)
    assert len(S) == 10
    assert 0 < model.score(NEW) < KernelPCA(3, kernel=RBF(0.1)).fit(X).score(NEW) + 0.02


def test_texts_have_one_too():
    model = KernelPCA(5, kernel=Spectrum(2)).fit(VOC[::2])
    new = VOC[1::2]
    K = {(a, b): model.kernel_.block(model._new_items(s).load(), model._new_items(t).load())
         for a, s in (("x", VOC[::2]), ("n", new)) for b, t in (("x", VOC[::2]), ("n", new))}  # fmt: skip
    lengths = np.diag(K["n", "n"]) - 2 * K["n", "x"].mean(axis=1) + K["x", "x"].mean()
    assert model.score(new) == pytest.approx(np.sum(model.transform(new) ** 2) / lengths.sum(), rel=1e-9)


def test_more_components_capture_more_up_to_all():
    shares = [KernelPCA(k, kernel="rbf", gamma=0.05).fit(X).score(NEW) for k in range(1, 20)]
    assert np.all(np.diff(shares) > 0)
    assert shares[-1] < 1
    assert KernelPCA(4).fit(X).score(NEW) == pytest.approx(1.0, abs=1e-12)


def test_components_that_were_taken_away_no_longer_count():
    model = KernelPCA(4, kernel="rbf", gamma=0.1).fit(X)
    model.eigenvalues_, model.eigenvectors_ = model.eigenvalues_[:2], model.eigenvectors_[:, :2]
    assert model.score(NEW) == pytest.approx(KernelPCA(2, kernel="rbf", gamma=0.1).fit(X).score(NEW), rel=1e-9)


def test_files_are_scored_block_by_block(tmp_path):
    np.save(tmp_path / "new.npy", NEW)
    model = KernelPCA(2, kernel="rbf", gamma=0.1).fit(X)
    assert model.score(tmp_path / "new.npy") == pytest.approx(model.score(NEW), rel=1e-12)


def test_grid_search_finds_the_number_of_components_and_reaches_kernels_in_pipelines():
    folds = KFold(4, shuffle=True, random_state=0)
    data, _ = rings(60)
    grid = {"kernelpca__n_components": [1, 3], "kernelpca__gamma": [0.1, 1.0]}
    search = GridSearchCV(make_pipeline(StandardScaler(), KernelPCA(kernel="rbf")), grid, cv=folds).fit(data)
    assert search.best_params_["kernelpca__n_components"] == 3
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    by_hand = []
    for train, test in folds.split(data):
        scaler = StandardScaler().fit(data[train])
        model = KernelPCA(3, kernel="rbf", gamma=0.1).fit(scaler.transform(data[train]))
        by_hand.append(by_definition(model, scaler.transform(data[train]), scaler.transform(data[test])))
    place = search.cv_results_["params"].index({"kernelpca__gamma": 0.1, "kernelpca__n_components": 3})
    assert search.cv_results_["mean_test_score"][place] == pytest.approx(np.mean(by_hand), rel=1e-10)


def test_where_nothing_varies_it_is_zero():
    with pytest.warns(MercerWarning):
        model = KernelPCA(1, kernel="rbf", gamma=1.0).fit(np.ones((5, 2)))
    assert model.score(np.ones((3, 2))) == 0.0


def test_without_a_mercer_kernel_it_is_nan():
    rows = RNG.standard_normal((30, 2))
    with pytest.warns(MercerWarning, match="positive semi-definite"):
        model = KernelPCA(2, kernel="sigmoid", gamma=2.0, coef0=-1.0).fit(rows)
    assert np.isnan(model.score(rows))


def test_a_precomputed_matrix_has_no_lengths():
    K = X @ X.T
    model = KernelPCA(2, kernel="precomputed").fit(K)
    with pytest.raises(BadData, match=r"k\(x, x\)"):
        model.score(K)
