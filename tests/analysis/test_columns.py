"""Columns whose unit decides."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_wine

from mercer.analysis.columns import dominating_columns, dominating_text

rng = np.random.default_rng(0)
X = rng.normal(size=(300, 12))


@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
def test_a_column_with_nearly_all_of_the_variance_is_found(convert):
    scale = np.ones(12)
    scale[7] = 100.0
    found = dominating_columns(convert(X * scale))
    assert found.columns.tolist() == [7]
    exact = (X[:, 7] * 100).var() / (X * scale).var(axis=0).sum()
    assert found.ratio == pytest.approx(exact, rel=1e-3)


def test_a_few_of_many_columns_can_dominate():
    scale = np.ones(40)
    scale[[3, 30]] = 300.0
    rows = rng.normal(size=(100, 40)) * scale
    assert sorted(dominating_columns(rows).columns.tolist()) == [3, 30]


def test_equal_columns_few_rows_and_constants_do_not_dominate():
    assert dominating_columns(X) is None
    assert dominating_columns(X[:19] * np.array([1e3] + 11 * [1.0])) is None
    assert dominating_columns(np.ones((50, 3))) is None
    assert dominating_columns(np.column_stack([X[:, 0], np.full(300, 1e9)])) is None
    assert dominating_columns(X[:, :1]) is None


def test_a_column_that_counts_the_rows_does_not_hide_another():
    scale = np.ones(12)
    scale[5] = 100.0
    rows = np.column_stack([np.arange(300.0) * 1000, X * scale])
    rows[:, 0] = np.arange(300) + 10.0**6
    assert dominating_columns(rows).columns.tolist() == [6]


def test_text():
    wine = load_wine(as_frame=True).data
    assert dominating_text(wine.to_numpy(), wine.columns).startswith(
        "Column 'proline' has 99.8% of the summed variance"
    )
    assert dominating_text(X, None) == ""
