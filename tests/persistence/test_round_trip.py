"""A model that was saved and loaded is the model that it was: the same bits from the same rows, whatever it is."""

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.linalg import aslinearoperator
from sklearn.base import BaseEstimator, clone

import mercer
from mercer import PCA, IncrementalPCA, KernelPCA
from mercer.kernels import RBF, Linear, Pairwise
from mercer_old.errors import MercerWarning, WrongUse
from mercer_old.sources.frames import Columns
from support.kept import MODELS, NEW, X, fitted, kept_fit
from support.registry import minimum
from support.silence import quiet, silently

pytestmark = quiet
every_model = pytest.mark.parametrize("name", MODELS)


def again(model, folder):
    return mercer.load(model.save(folder / "model.mercer"))


def same(one, other):
    """To the last bit, and of the same kind; of things, by what they are told as."""
    if sparse.issparse(one):
        return type(one) is type(other) and same(one.toarray(), other.toarray())
    if isinstance(one, list):
        return len(one) == len(other) and all(same(mine, theirs) for mine, theirs in zip(one, other, strict=True))
    if isinstance(one, (int, float)):
        return float(one).hex() == float(other).hex()
    if not isinstance(one, np.ndarray) or one.dtype == object:
        return type(one) is type(other) and [*map(repr, np.ravel(one))] == [*map(repr, np.ravel(other))]
    return one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()


@every_model
def test_scores_are_the_same_bits(name, tmp_path):
    model, new = kept_fit(name)
    loaded = again(model, tmp_path)
    method = "p_values" if hasattr(model, "p_values") else "transform"
    assert same(getattr(model, method)(new), getattr(loaded, method)(new))


@every_model
def test_what_a_model_says_of_itself_is_the_same(name, tmp_path):
    model, _ = kept_fit(name)
    loaded = again(model, tmp_path)
    assert repr(loaded) == repr(model)
    assert repr(clone(loaded)) == repr(clone(model))
    for fact in ("plan_", "certificate_"):
        assert str(getattr(loaded, fact, None)) == str(getattr(model, fact, None))
        assert getattr(loaded, fact, None) == getattr(model, fact, None)
    ours, theirs = (
        {key for key in vars(one) if key.endswith("_") and not key.startswith("_")} for one in (model, loaded)
    )
    assert ours == theirs
    for key in ours - {"plan_", "certificate_", "estimator_"}:
        one, other = getattr(model, key), getattr(loaded, key)
        table = isinstance(one, Columns)
        assert list(one) == list(other) if table else same(one, other), key


@every_model
def test_the_same_fit_is_the_same_file(name, tmp_path):
    first, second = kept_fit(name)[0], fitted(name)[0]
    one = first.save(tmp_path / "one.mercer").read_bytes()
    assert second.save(tmp_path / "two.mercer").read_bytes() == one
    assert mercer.load(tmp_path / "one.mercer").save(tmp_path / "three.mercer").read_bytes() == one
    assert str(tmp_path).encode() not in one


@every_model
def test_a_file_is_whole_and_tells_what_it_is(name, tmp_path):
    model, _ = kept_fit(name)
    path = model.save(tmp_path / "model.mercer", notes={"id": "row", "dropped": ["a", None]})
    verdict, header = mercer.verify(path), mercer.inspect(path)
    assert verdict.ok and not verdict.wrong and "is whole" in str(verdict), verdict
    assert header["class"] == type(model).__name__ and header["class"] in str(header)
    assert header["notes"] == {"id": "row", "dropped": ["a", None]}
    assert header["data"]["columns"] == model.n_features_in_


# ---------------------------------------------------------------------- all that a model can do


def ways_of(name):
    return [key for key in MODELS if key.startswith(name)]


@pytest.mark.parametrize("name", [*ways_of("preimage"), "kernel, inverse", "landmarks, standardize", "pca, whiten"])
def test_the_way_back_is_the_same(name, tmp_path):
    model, new = fitted(name)
    loaded = again(model, tmp_path)
    scores = model.transform(new)
    assert same(model.inverse_transform(scores), loaded.inverse_transform(scores))
    assert same(model.denoise(new), loaded.denoise(new))


@pytest.mark.parametrize("name", ["kernel", "kernel, standardize", "landmarks", "tables", "kernel Spectrum(n=3)"])
def test_similar_items_are_the_same(name, tmp_path):
    name = next(key for key in MODELS if key.startswith(name.rstrip(")")))
    model, new = fitted(name)
    loaded = again(model, tmp_path)
    for by in ("components", "kernel"):
        one, other = model.similar(new, 3, by=by), loaded.similar(new, 3, by=by)
        assert same(one.numbers, other.numbers) and same(one.distances, other.distances)


@pytest.mark.parametrize("name", ["pca", "pca, standardize", "incremental", "kernel", "landmarks", "kernel, weights"])
def test_scores_of_a_fit_and_suggestions_are_the_same(name, tmp_path):
    model, new = fitted(name)
    loaded = again(model, tmp_path)
    assert model.score(new) == loaded.score(new)
    if not name.startswith(("incremental", "landmarks")):
        assert str(mercer.suggest(model, X)) == str(mercer.suggest(loaded, X))


def test_places_of_new_rows_are_the_same_with_all_that_is_known_of_them(tmp_path):
    for name in ways_of("lle"):
        model, new = fitted(name)
        loaded = again(model, tmp_path)
        one, other = model.place(new), loaded.place(new)
        parts = ("embedding", "residuals", "nearest", "far")
        assert all(same(getattr(one, part), getattr(other, part)) for part in parts)
        assert same(model.residuals_, loaded.residuals_)


@pytest.mark.parametrize("name", [*ways_of("factors"), *ways_of("gplvm"), *ways_of("autoencoder")])
def test_the_relatives_do_all_that_they_did(name, tmp_path):
    """The way back, scores of the rows of the fit, and densities of those that have some."""
    model, new = fitted(name)
    loaded = again(model, tmp_path)
    scores = model.transform(MODELS[name][1])
    assert same(scores, loaded.transform(MODELS[name][1]))
    assert same(model.inverse_transform(scores), loaded.inverse_transform(scores))
    if hasattr(model, "score_samples"):
        assert same(model.score_samples(new), loaded.score_samples(new))
        assert same(model.get_precision(), loaded.get_precision())
    silently(lambda: loaded.set_params(max_iter=2).fit(X))  # it is a model like any other


def test_a_detector_goes_on_in_all_it_does(tmp_path):
    model, new = fitted("novelty, pca")
    loaded = again(model, tmp_path)
    for method in ("score_samples", "predict", "select", "statistics", "contributions"):
        assert same(getattr(model, method)(new), getattr(loaded, method)(new))
    prefit = again(fitted("novelty, prefit")[0], tmp_path)
    assert prefit.estimator is prefit.estimator_


@pytest.mark.parametrize("batches", [1, 3, 70])
@pytest.mark.parametrize("forget", [1.0, 0.9])
def test_batches_go_on_to_the_same_bits(batches, forget, tmp_path):
    """Also within rows that are yet to be squared, and in other units than those of the rows."""
    rng = np.random.default_rng(0)
    first, then = (rng.normal(size=(140, 5)) * 1e-200 for _ in range(2))
    model = IncrementalPCA(2, forget=forget)
    for batch in np.array_split(first, batches):
        silently(lambda batch=batch: model.partial_fit(batch))
    loaded = again(model, tmp_path)
    for batch in np.array_split(then, 5):
        model.partial_fit(batch)
        loaded.partial_fit(batch)
    assert same(model.components_, loaded.components_) and same(model.var_, loaded.var_)
    assert model.certificate_ == loaded.certificate_


def test_saving_changes_nothing(tmp_path):
    """Not even what is computed when somebody asks."""
    model = IncrementalPCA(2).partial_fit(X)
    before = dict(vars(model))
    again(model, tmp_path)
    assert vars(model).keys() == before.keys() and "components_" not in vars(model)


def test_names_that_were_set_since_the_fit_are_kept(tmp_path):
    model = KernelPCA(3, kernel="rbf").fit(X)
    for name in ("eigenvalues_", "explained_variance_", "explained_variance_ratio_"):
        setattr(model, name, getattr(model, name)[:2])
    model.eigenvectors_ = model.eigenvectors_[:, :2]
    model.gamma_ = 0.1
    assert same(model.transform(NEW), again(model, tmp_path).transform(NEW))


def test_a_fit_from_a_file_needs_the_file_no_more(tmp_path):
    path = tmp_path / "rows.npy"
    np.save(path, X)
    model = KernelPCA(2, kernel="rbf").fit(path)
    scores = model.transform(NEW)
    saved = model.save(tmp_path / "model.mercer")
    path.unlink()
    assert same(scores, mercer.load(saved).transform(NEW))


def test_names_of_columns_are_kept_few_or_many(tmp_path):
    for d in (3, 2000):
        frame = pytest.importorskip("pandas").DataFrame(np.random.default_rng(0).normal(size=(9, d)))
        frame.columns = [f"gene <{i}> \x1b é" for i in range(d)]
        model = PCA(2).fit(frame)
        loaded = again(model, tmp_path)
        assert list(loaded.feature_names_in_) == list(frame.columns)
        assert same(model.transform(frame), loaded.transform(frame))


def test_a_matrix_that_is_known_by_products_alone_is_left_behind(tmp_path):
    model = KernelPCA(2, kernel="precomputed", eigen_solver="krylov").fit(aslinearoperator(X @ X.T))
    loaded = again(model, tmp_path)
    assert not hasattr(loaded, "X_fit_") and same(model.transform(NEW @ X.T), loaded.transform(NEW @ X.T))


def test_categories_by_the_thousand_are_no_matter_of_the_header(tmp_path):
    table = {"code": [f"value {i % 5000}" for i in range(10_000)], "x": np.arange(10_000.0)}
    kernel = mercer.kernels.TableKernel({"code": mercer.kernels.Category(), "x": mercer.kernels.Numeric()})
    model = KernelPCA(2, kernel=kernel, eigen_solver="landmark", n_landmarks=5).fit(table)
    new = {"code": ["value 3", "other"], "x": np.array([1.0, np.nan])}
    assert same(model.transform(new), again(model, tmp_path).transform(new))


# ---------------------------------------------------------------------- what has no place in a file


@pytest.mark.parametrize("kernel", [minimum, Pairwise(minimum), RBF(0.1) + Pairwise(minimum), lambda x, y: x @ y])
def test_functions_of_users_are_refused_in_one_sentence(kernel, tmp_path):
    model = KernelPCA(2, kernel=kernel).fit(X)
    with pytest.raises(WrongUse, match=r"cannot be saved.*mercer\.kernels.*precomputed"):
        model.save(tmp_path / "model.mercer")
    assert not list(tmp_path.iterdir())


def test_a_kernel_that_calls_itself_by_one_of_our_names_is_none_of_them(tmp_path):
    class RBF(Linear):
        """Not ours."""

    with pytest.raises(WrongUse, match="cannot be saved"):
        KernelPCA(2, kernel=RBF()).fit(X).save(tmp_path / "model.mercer")


def test_listeners_are_left_out_and_generators_with_a_word(tmp_path):
    loaded = again(PCA(2, progress=lambda state: None).fit(X), tmp_path)
    assert loaded.progress is False
    model = PCA(2, random_state=np.random.RandomState(0)).fit(X)
    with pytest.warns(MercerWarning, match="random_state=.* is left out"):
        loaded = again(model, tmp_path)
    assert loaded.random_state is None and same(model.transform(NEW), loaded.transform(NEW))


def test_what_is_not_fitted_or_no_model_is_refused(tmp_path):
    from sklearn.decomposition import PCA as Other
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        PCA().save(tmp_path / "model.mercer")
    for stranger in (Other().fit(X), None, 3, RBF()):
        with pytest.raises(WrongUse, match="has no place in a model file"):
            mercer.save(stranger, tmp_path / "model.mercer")
    model = PCA(3).fit(X)
    model.components_ = model.components_[:2]
    with pytest.raises(WrongUse, match="explained_variance has the shape"):
        model.save(tmp_path / "model.mercer")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("notes", [{"a": object()}, {"a": float("nan")}, [1], {1: 2}, {"a": b"x"}, "text"])
def test_notes_are_what_json_can_say(notes, tmp_path):
    with pytest.raises(WrongUse, match="notes are what JSON can say"):
        PCA(2).fit(X).save(tmp_path / "model.mercer", notes=notes)


def test_a_header_that_is_too_long_is_refused_before_it_is_written(tmp_path):
    with pytest.raises(WrongUse, match="its header takes"):
        PCA(2).fit(X).save(tmp_path / "model.mercer", notes={"long": "x" * 3_000_000})
    assert not list(tmp_path.iterdir())


def test_kinds_of_models_in_the_list_are_all_there_are():
    public = [getattr(mercer, name) for name in mercer.__all__]
    models = {each.__name__ for each in public if isinstance(each, type) and issubclass(each, BaseEstimator)}
    assert {type(model).__name__ for model, *_ in MODELS.values()} == models
