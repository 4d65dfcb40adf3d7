"""Weights that a pipeline hands on, or past a model that does not ask for them."""

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from mercer import PCA, IncrementalPCA, KernelPCA
from support.editions import new_classes

WITH_WEIGHTS = [PCA(2), IncrementalPCA(2), KernelPCA(2, kernel="rbf")]
WITH_WEIGHTS += [new(2) for new in new_classes("PCA", "IncrementalPCA", "ProbabilisticPCA").values()]


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


@pytest.mark.parametrize(
    "model", WITH_WEIGHTS, ids=lambda m: f"{type(m).__module__.partition('.')[0]}-{type(m).__name__}"
)
def test_weights_of_a_pipeline_go_past_a_model_that_does_not_ask_for_them(model, routing):
    X, y, w = *load_iris(return_X_y=True), np.arange(150.0)
    last = LogisticRegression().set_fit_request(sample_weight=True)
    fitted = make_pipeline(clone(model), last).fit(X, y, sample_weight=w)
    alone = clone(model).fit(X)
    np.testing.assert_array_equal(fitted[0].transform(X), alone.transform(X))
    np.testing.assert_allclose(fitted[1].coef_, clone(last).fit(alone.transform(X), y, sample_weight=w).coef_)


@pytest.mark.parametrize(
    "model", WITH_WEIGHTS, ids=lambda m: f"{type(m).__module__.partition('.')[0]}-{type(m).__name__}"
)
def test_weights_of_a_pipeline_come_where_they_are_asked_for(model, routing):
    X, y, w = *load_iris(return_X_y=True), np.arange(150.0)
    asking = clone(model).set_fit_request(sample_weight=True)
    fitted = make_pipeline(asking, LogisticRegression().set_fit_request(sample_weight=False)).fit(X, y, sample_weight=w)
    np.testing.assert_array_equal(fitted[0].transform(X), clone(model).fit(X, sample_weight=w).transform(X))


@pytest.mark.parametrize("kind", [IncrementalPCA, *new_classes("IncrementalPCA").values()])
def test_batches_take_weights_on_request(kind, routing):
    assert not kind().get_metadata_routing().partial_fit.requests["sample_weight"]
    asking = kind().set_partial_fit_request(sample_weight=True)
    assert asking.get_metadata_routing().partial_fit.requests["sample_weight"]
