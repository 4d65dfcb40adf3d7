"""What GPLVM and Autoencoder have in common: rows in memory, if there is room, and what they are not."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from mercer import GPLVM, Autoencoder, FactorAnalysis
from mercer_old.errors import BadData, NoRoom, WrongUse
from mercer_old.models import in_memory

rng = np.random.default_rng(0)
X = rng.normal(size=(30, 4)) * [4, 3, 1, 1]
FITTED = [FactorAnalysis(2).fit(X), GPLVM(2, max_iter=3, tol=1e3).fit(X), Autoencoder(2, max_iter=3, tol=1e3).fit(X)]


@pytest.mark.parametrize("model", [GPLVM(1, memory_limit="1MB"), Autoencoder(1, memory_limit="1MB")])
def test_sparse_rows_that_would_not_fit_are_refused_before_they_are_dense(monkeypatch, model):
    monkeypatch.setattr(in_memory, "dense", lambda *_: pytest.fail("they were made dense"))
    rows = sparse.random(1000, 1000, density=1e-3, format="csr", random_state=0)
    with pytest.raises(NoRoom, match="The fit needs 24 MB, over the limit of 1 MB"):
        model.fit(rows)


@pytest.mark.parametrize("model", FITTED, ids=lambda model: type(model).__name__)
def test_a_fitted_model_keeps_its_coordinates_when_parameters_change(model):
    scores = model.transform(X)
    try:
        model.set_params(n_components=3)
        assert model.inverse_transform(scores).shape == X.shape
        assert len(model.get_feature_names_out()) == 2
    finally:
        model.set_params(n_components=2)


@pytest.mark.parametrize("model", FITTED, ids=lambda model: type(model).__name__)
def test_scores_go_to_files_as_they_are_in_memory(model, tmp_path):
    np.save(tmp_path / "rows.npy", X)
    assert model.transform_to(tmp_path / "rows.npy", tmp_path / "scores.npy") == tmp_path / "scores.npy"
    np.testing.assert_allclose(np.load(tmp_path / "scores.npy"), model.transform(X), rtol=1e-12)
    clone(model).fit_transform_to(X, tmp_path / "again.npy")
    np.testing.assert_allclose(np.load(tmp_path / "again.npy"), model.transform(X), rtol=1e-12)
    with pytest.raises(ValueError, match="no weights of rows"):
        clone(model).fit_transform_to(X, tmp_path / "weighted.npy", np.ones(30))


def test_a_row_so_far_away_that_its_place_is_an_overflow_is_refused():
    far = np.vstack([X[:2], np.full((1, 4), 1e200)])
    with pytest.raises(BadData, match=r"The scores of 1 row are not finite, first of row index 2"):
        FITTED[1].transform(far)


@pytest.mark.parametrize("model", FITTED, ids=lambda model: type(model).__name__)
def test_scores_of_chunks_are_those_of_all_rows(model):
    chunks = pytest.importorskip("dask.array").from_array(X, chunks=(10, 4))
    np.testing.assert_allclose(model.transform(chunks).compute(), model.transform(X), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("model", FITTED, ids=lambda model: type(model).__name__)
def test_a_page_that_does_not_exist_is_refused_in_a_sentence(model, tmp_path):
    with pytest.raises(WrongUse, match=f"There is no page about {type(model).__name__}: its certificate_ is"):
        model.report(path=tmp_path / "page.html")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("share", [0.9, 0.99])
def test_however_many_rows_are_held_out_some_are_left_to_train_with(share):
    model = Autoencoder(1, hidden=(3,), validation_fraction=share, alpha=0, n_init=1, max_iter=5, tol=1e3).fit(X[:20])
    assert model.loss_curve_[0] > 0.01  # of no rows at all it is zero
    assert np.isfinite(model.validation_error_)
