"""Models of texts where scikit-learn's models are used: clones, pipelines, columns of frames, searches, outputs."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.fixes import parse_version

from mercer import KernelPCA, LocallyLinearEmbedding
from mercer.datasets import OOV, VOC
from mercer.kernels import Spectrum

MODEL = KernelPCA(3, kernel=Spectrum(2))
SCORES = clone(MODEL).fit_transform(VOC)
FRAME = pd.DataFrame({"name": VOC, "size": np.arange(len(VOC)) ** 2})
KEEPS_SERIES = parse_version(sklearn.__version__) >= parse_version("1.7.1")  # before, set_output knew frames alone
HAVE_AN_INDEX = (pd.DataFrame, pd.Series) if KEEPS_SERIES else pd.DataFrame


def test_a_clone_has_the_same_kernel_and_a_grid_reaches_its_parameters():
    model = clone(KernelPCA(2, kernel=Spectrum(2)).set_params(kernel__n=3))
    assert model.kernel == Spectrum(3) and model.get_params()["kernel"] == Spectrum(3)


@pytest.mark.parametrize("column", ["name", ["name"], [0], 0])
@pytest.mark.parametrize("frame", [FRAME, pl.DataFrame(FRAME.to_dict("list"))], ids=["pandas", "polars"])
def test_a_column_of_a_frame_is_transformed_beside_others(column, frame):
    both = ColumnTransformer([("names", clone(MODEL), column), ("number", StandardScaler(), ["size"])])
    assert_allclose(both.fit_transform(frame)[:, :3], SCORES, atol=1e-12)
    assert both.get_feature_names_out().tolist()[:2] == ["names__kernelpca0", "names__kernelpca1"]
    new = pd.DataFrame({"name": OOV, "size": [1, 2, 3]})
    new = new if isinstance(frame, pd.DataFrame) else pl.DataFrame(new.to_dict("list"))
    assert_allclose(both.transform(new)[:, :3], clone(MODEL).fit(VOC).transform(OOV), atol=1e-12)


def test_scores_come_out_as_a_frame_if_that_is_asked_for():
    series = pd.Series(VOC, index=[f"row {i}" for i in range(len(VOC))])
    for X in (series, series.to_frame("name")):
        scores = clone(MODEL).set_output(transform="pandas").fit_transform(X)
        assert list(scores.columns) == ["kernelpca0", "kernelpca1", "kernelpca2"]
        assert list(scores.index) == (list(X.index) if isinstance(X, HAVE_AN_INDEX) else list(range(len(VOC))))
        assert_allclose(scores, SCORES, atol=1e-12)
    columns = make_column_transformer((clone(MODEL), "name"), remainder="passthrough").set_output(transform="pandas")
    assert "kernelpca__kernelpca0" in columns.fit_transform(FRAME).columns


def test_a_pipeline_is_searched_and_validated():
    labels = np.array([name.split()[0] in ("simpson", "flanders", "bouvier") for name in VOC])
    pipe = make_pipeline(KernelPCA(5, kernel=Spectrum(2)), LogisticRegression())
    for X in (VOC, np.array(VOC), pd.Series(VOC), FRAME["name"]):
        assert cross_val_score(pipe, X, labels, cv=3).mean() > 0.6
    search = GridSearchCV(pipe, {"kernelpca__kernel__n": [1, 2, 3]}, cv=3).fit(VOC, labels)
    assert search.best_params_["kernelpca__kernel__n"] in (1, 2, 3) and search.predict(OOV).shape == (3,)


def test_weights_go_through_a_pipeline_that_asks_for_them():
    weights = np.where(np.arange(len(VOC)) % 3 == 0, 0.0, 1.0)
    kept = [name for name, weight in zip(VOC, weights, strict=True) if weight]
    model = clone(MODEL).fit(VOC, sample_weight=weights)
    assert_allclose(model.eigenvalues_, clone(MODEL).fit(kept).eigenvalues_, rtol=1e-9)
    assert model.fit_transform(VOC, sample_weight=weights).shape == (len(VOC), 3)
    pipe = make_pipeline(clone(MODEL), StandardScaler()).fit(VOC, kernelpca__sample_weight=weights)
    assert_allclose(pipe[0].eigenvalues_, model.eigenvalues_, rtol=1e-9)


def test_landmarks_are_numbers_of_texts_or_texts():
    by_number = KernelPCA(2, kernel=Spectrum(1), landmarks=np.arange(25)).fit(VOC)
    by_text = KernelPCA(2, kernel=Spectrum(1), landmarks=VOC[:25]).fit(VOC)
    for landmarks in (tuple(VOC[:25]), np.array(VOC[:25]), pd.Series(VOC[:25])):
        other = KernelPCA(2, kernel=Spectrum(1), landmarks=landmarks).fit(VOC)
        assert_allclose(other.transform(OOV), by_text.transform(OOV), atol=1e-12)
    assert_allclose(by_text.transform(OOV), by_number.transform(OOV), atol=1e-12)
    assert set(by_text.landmarks_) <= set(VOC[:25]) and not hasattr(by_text, "landmark_indices_")
    for landmarks, words in (
        (["a", None], "landmarks: item 1 is missing"),
        ([1.5], "landmarks: item 0 is 1.5"),
        ([0, 99], "landmarks are numbers of rows from 0 to 34; 99 is none of them"),
        ("abc", "The 'landmarks' parameter of KernelPCA must be an array-like.*Got 'abc'"),
    ):
        with pytest.raises(ValueError, match=words):
            KernelPCA(2, kernel=Spectrum(1), landmarks=landmarks).fit(VOC)


def test_a_small_memory_limit_is_kept_to_or_told():
    with pytest.raises(MemoryError, match="over the limit of 20 kB"):
        KernelPCA(2, kernel=Spectrum(2), memory_limit="20kB").fit(VOC)
    assert KernelPCA(2, kernel=Spectrum(2), memory_limit="50MB").fit(VOC).plan_.memory < 5e7


def test_a_fitted_model_is_pickled_with_its_texts():
    model = clone(MODEL).fit(VOC)
    again = pickle.loads(pickle.dumps(model))  # noqa: S301
    assert_allclose(again.transform(OOV), model.transform(OOV))
    assert list(again.similar("flanders", 3).items) == list(model.similar("flanders", 3).items)


def test_texts_are_placed_in_a_locally_linear_embedding():
    """A text that was there is placed where it is, and new ones as the textbook places rows: by their neighbours."""
    model = LocallyLinearEmbedding(n_neighbors=8, metric=Spectrum(1)).fit(VOC)
    assert_allclose(model.transform(VOC), model.embedding_, atol=1e-7)
    distances = np.sqrt(np.maximum(2 - 2 * Spectrum(1).block(OOV, VOC), 0.0))
    known = np.sqrt(np.maximum(2 - 2 * Spectrum(1).block(VOC, VOC), 0.0))
    np.fill_diagonal(known, 0.0)
    for new, place in zip(distances, model.transform(OOV), strict=True):
        near = np.argsort(new, kind="stable")[:8]
        assert np.sort(new)[8] > np.sort(new)[7] + 1e-9  # who is the last is no matter of chance
        G = (new[near][:, None] ** 2 + new[near] ** 2 - known[np.ix_(near, near)] ** 2) / 2
        weights = np.linalg.solve(G + 1e-3 * np.trace(G) * np.eye(8), np.ones(8))
        assert_allclose(place, weights / weights.sum() @ model.embedding_[near], atol=1e-7)
