"""Every method keeps to the contract: words about itself, a fit, new rows, the way back; or what to install."""

import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose

import mercer
import mercer_old
from mercer.relatives import ICA, METHODS, TSNE, UMAP, Method, Ours, method
from mercer_old.errors import BadData
from mercer_old.relatives.base import first_installed
from mercer_old.relatives.front import cleaned, start

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 6)) * [5, 4, 3, 1, 1, 1]
LIGHT = [each for each in METHODS.values() if each.name not in ("t-sne", "umap") and each.missing() is None]


def without(monkeypatch, *packages):
    """As where they are not installed."""
    for package in packages:
        monkeypatch.setitem(sys.modules, package, None)


@pytest.mark.parametrize("each", METHODS.values(), ids=METHODS)
def test_every_method_says_what_it_is(each):
    assert isinstance(each, Method) and METHODS[each.name] == each == method(each.name)
    for phrase in (each.keeps, each.assumes):
        assert len(phrase) > 20 and not phrase.endswith(".") and phrase[0].islower()
    assert each.title == each.label and each.settings == {}
    assert (
        isinstance(each.seeds_matter, bool) and isinstance(each.places_new, bool) and isinstance(each.goes_back, bool)
    )
    lacking = each.missing()
    assert lacking is None or ("pip install" in lacking and lacking.count("\n") == 0)


@pytest.mark.parametrize("each", LIGHT, ids=lambda each: each.name)
def test_a_fit_has_coordinates_places_rows_where_it_has_them_and_goes_back(each):
    fitted = each.fit(X, 2)
    assert fitted.coordinates.shape == (60, 2) and np.isfinite(fitted.coordinates).all() and fitted.by
    assert (fitted.transform is not None) == each.places_new
    assert (fitted.inverse is not None) == each.goes_back
    if each.name != "gplvm":  # whose places of rows are found anew
        assert_allclose(fitted.transform(X), fitted.coordinates, atol=1e-6 * np.abs(fitted.coordinates).max())
    if each.goes_back:
        assert fitted.inverse(fitted.coordinates).shape == X.shape


def test_ours_are_the_models_themselves():
    fitted = method("pca").fit(X, 3)
    model = mercer.PCA(3).fit(X)
    assert_allclose(fitted.coordinates, model.transform(X), atol=1e-12)
    assert_allclose(fitted.inverse(fitted.coordinates), model.inverse_transform(model.transform(X)), atol=1e-12)
    assert_allclose(
        method("correlation PCA").fit(X).coordinates, mercer.PCA(2, standardize=True).fit_transform(X), atol=1e-12
    )
    kernel = method("kernel-pca", kernel="laplacian", gamma=0.1)
    assert_allclose(
        np.abs(kernel.fit(X).coordinates),
        np.abs(mercer.KernelPCA(2, kernel="laplacian", gamma=0.1).fit_transform(X)),
        atol=1e-8,
    )
    assert kernel.title == "kernel PCA (gamma=0.1, kernel='laplacian')"


def test_kernel_pca_of_many_rows_is_by_landmarks_unless_told_otherwise():
    assert method("kernel-pca")._model((20_000, 3), 2, 0, None).n_landmarks is None
    assert method("kernel-pca")._model((20_001, 3), 2, 0, None).n_landmarks == 1000
    assert method("kernel-pca", eigen_solver="krylov")._model((20_001, 3), 2, 0, None).n_landmarks is None


def test_a_model_that_is_not_there_is_missing(monkeypatch):
    monkeypatch.setattr(mercer_old, "__all__", [name for name in mercer_old.__all__ if name != "PCA"])
    assert Ours("pca").missing() == "This version of mercer has no PCA. Try: pip install --upgrade mercer"
    assert Ours("pca").takes_gaps is False


def test_umap_that_is_not_installed_says_what_to_install(monkeypatch):
    without(monkeypatch, "umap")
    assert UMAP().missing() == 'UMAP needs umap-learn, which is not installed. Try: pip install "mercer[relatives]"'
    assert first_installed("umap", "numpy") == "numpy"


def test_the_extra_that_is_named_has_these_libraries():
    import tomllib
    from pathlib import Path

    text = (Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8")
    extra = " ".join(tomllib.loads(text)["project"]["optional-dependencies"]["relatives"])
    assert all(name in extra for name in ("openTSNE", "umap-learn", "python-picard"))


def test_without_opentsne_scikit_learns_is_taken_and_places_no_rows(monkeypatch):
    without(monkeypatch, "openTSNE")
    each = TSNE(n_iter=0)
    assert each.missing() is None and not each.places_new
    fitted = each.fit(X[:15], 2)
    assert fitted.by == "scikit-learn" and fitted.transform is None and fitted.coordinates.shape == (15, 2)


# ---------------------------------------------------------------------- independent components


def sources(n=2000):
    """Two that are not normally distributed, and their mixture."""
    S = np.column_stack([rng.uniform(-1, 1, n), rng.laplace(size=n)])
    S = (S - S.mean(axis=0)) / S.std(axis=0)
    return S, S @ np.array([[2.0, 1.0, 0.5], [1.0, 2.0, 1.0]])


@pytest.mark.parametrize("library", ["picard", "sklearn"])
def test_ica_finds_independent_sources_where_pca_mixes_them(monkeypatch, library):
    if library == "picard":
        pytest.importorskip("picard", reason="python-picard is not installed")
    else:
        without(monkeypatch, "picard")
    S, mixed = sources()
    fitted = ICA().fit(mixed, 2)
    assert fitted.by == ("python-picard" if library == "picard" else "scikit-learn")
    found = np.abs(np.corrcoef(S.T, fitted.coordinates.T)[:2, 2:])
    assert found.max(axis=1).min() > 0.99
    by_pca = np.abs(np.corrcoef(S.T, mercer.PCA(2).fit_transform(mixed).T)[:2, 2:])
    assert by_pca.max(axis=1).min() < 0.95
    assert_allclose(fitted.inverse(fitted.coordinates), mixed, atol=1e-9)  # of rank two
    assert_allclose(np.cov(fitted.coordinates.T), np.eye(2), atol=1e-6)


# ---------------------------------------------------------------------- our models in front


def test_a_start_is_the_scores_scaled_down():
    first = start(X, "pca", 2, small=True)
    scores = mercer.PCA(2).fit_transform(X)
    assert np.std(first[:, 0]) == pytest.approx(1e-4)
    assert_allclose(first * (np.std(scores[:, 0]) / 1e-4), scores, rtol=1e-9)
    kernel = mercer.KernelPCA(2, kernel="rbf", gamma="median").fit_transform(X)
    assert_allclose(start(X, "kernel-pca", 2), kernel, atol=1e-12)
    assert start(X, "spectral", 2) == "spectral"
    with pytest.raises(ValueError, match="gives 1 coordinates of 1 columns, and 2 are needed"):
        start(X[:, :1], "pca", 2)


def test_denoising_takes_scores_and_new_rows_go_the_same_way():
    assert cleaned(X, None).rows is X
    for denoise, shape in ((4, (60, 4)), ("pca", (60, 6)), ("kernel-pca", (60, 50)), (mercer.PCA(3), (60, 3))):
        clean = cleaned(X, denoise)
        assert clean.rows.shape == shape
        assert_allclose(clean(X), clean.rows, atol=1e-8)
    assert_allclose(cleaned(X, 4).rows, mercer.PCA(4).fit_transform(X), atol=1e-12)


def test_tsne_sees_the_scores_of_the_model_in_front(monkeypatch):
    without(monkeypatch, "openTSNE")
    model = mercer.PCA(3, standardize=True)
    direct = TSNE(n_iter=0, denoise=model).fit(X[:15], 2).coordinates
    by_hand = TSNE(n_iter=0).fit(model.fit_transform(X[:15]), 2).coordinates
    assert_allclose(direct, by_hand, rtol=1e-6, atol=1e-6)


@pytest.mark.skipif(first_installed("openTSNE") is None, reason="openTSNE is not installed")
def test_tsne_places_rows_on_its_own_picture_however_often_it_is_asked():
    groups = np.repeat(np.eye(4) * 20, 20, axis=0) + rng.normal(size=(80, 4))
    fitted = TSNE(n_iter=250).fit(groups, 2, n_jobs=1)  # threads on so few rows wait for each other
    first, second = fitted.transform(groups[::5]), fitted.transform(groups[::5])
    assert_allclose(first, second, atol=1e-6)
    spread = np.ptp(fitted.coordinates, axis=0).max()
    assert np.linalg.norm(first - fitted.coordinates[::5], axis=1).max() < 0.2 * spread


@pytest.mark.slow
@pytest.mark.skipif(first_installed("umap") is None, reason="umap-learn is not installed")
@pytest.mark.filterwarnings("ignore")  # of the libraries below it
def test_umap_fits_places_and_repeats():
    groups = np.repeat(np.eye(4) * 20, 20, axis=0) + rng.normal(size=(80, 4))
    for each in (UMAP(), UMAP(init="pca", denoise=3), UMAP(init="kernel-pca")):
        fitted = each.fit(groups, 2, random_state=1)
        assert fitted.transform(groups[:5]).shape == (5, 2)
        assert_allclose(each.fit(groups, 2, random_state=1).coordinates, fitted.coordinates, rtol=1e-5)


# ---------------------------------------------------------------------- what cannot be


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: method("tsnee"), "There is no method 'tsnee'; there are pca, correlation-pca, kernel-pca"),
        (lambda: method("t-sne", perplexty=3), "t-SNE has no setting 'perplexty'; its settings are perplexity, init"),
        (lambda: TSNE(init="spectral"), "init must be 'pca', 'kernel-pca' or 'random'"),
        (lambda: TSNE(perplexity=0), "perplexity must be positive"),
        (lambda: TSNE(denoise=0), "denoise must be a number of components"),
        (lambda: TSNE(denoise=True), "denoise must be a number of components"),
        (lambda: UMAP(denoise="ica"), "denoise must be a number of components"),
        (lambda: UMAP(init="best"), "init must be 'spectral', 'pca'"),
        (lambda: UMAP(n_neighbors=1), "n_neighbors must be at least 2"),
        (lambda: method("pca", components=3).fit(X), "PCA has no parameter 'components'"),
        (lambda: TSNE().fit(X[:3]), "X has 3 rows, and at least 4 are needed"),
        (lambda: ICA().fit(np.full((9, 2), np.nan)), "contains NaN"),
    ],
)
def test_what_cannot_be_is_one_sentence(make, words):
    with pytest.raises((ValueError, BadData), match=words):
        make()


def test_names_are_known_as_people_write_them():
    for said, name in {
        "TSNE": "t-sne",
        "kpca": "kernel-pca",
        "Factor Analysis": "factor-analysis",
        "ICA": "ica",
    }.items():
        assert method(said).name == name
