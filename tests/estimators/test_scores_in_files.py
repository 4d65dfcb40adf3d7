"""Rows that scores stand for, and rows without noise, in files: what the methods in memory say, or one sentence."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

import mercer
from mercer_old.errors import WrongUse

X = np.random.default_rng(0).normal(size=(30, 4))


@pytest.mark.parametrize(
    "model",
    [
        mercer.PCA(2),
        mercer.KernelPCA(2, kernel="rbf", preimage="auto"),
        mercer.FactorAnalysis(2),
        mercer.GPLVM(2),
        mercer.Autoencoder(2, hidden=(4,)),
    ],
)
def test_files_have_what_the_methods_in_memory_give(model, tmp_path):
    scores = model.fit(X).transform(X[:7])
    assert model.denoise_to(X[:7], tmp_path / "d.csv", with_error=True) == tmp_path / "d.csv"
    found = pd.read_csv(tmp_path / "d.csv")
    assert list(found) == ["x0", "x1", "x2", "x3", "error"]
    assert_allclose(found.to_numpy()[:, :4], model.denoise(X[:7]), rtol=1e-6, atol=1e-9)
    model.inverse_transform_to(scores, tmp_path / "i.npy")
    assert_allclose(np.load(tmp_path / "i.npy"), model.inverse_transform(scores), rtol=1e-6, atol=1e-9)
    if not isinstance(model, mercer.KernelPCA):
        assert_allclose(found["error"], np.linalg.norm(X[:7] - model.denoise(X[:7]), axis=1))


def test_what_no_file_can_say_is_refused_before_there_is_one(tmp_path):
    """An error of zero in every row would say nothing, and items of tables are no columns of numbers."""
    with pytest.raises(WrongUse, match="with_error is for kernel PCA"):
        mercer.PCA(2).fit(X).inverse_transform_to(np.ones((3, 2)), tmp_path / "a.csv", with_error=True)
    table = pd.DataFrame(X, columns=list("abcd")).assign(kind=["u", "v", "w"] * 10)
    model = mercer.KernelPCA(2, kernel="table", preimage="auto").fit(table)
    with pytest.raises(WrongUse, match="Tables have no columns of numbers to write: denoise gives the items"):
        model.denoise_to(table, tmp_path / "a.csv")
    with pytest.raises(WrongUse, match="inverse_transform gives the items"):
        model.inverse_transform_to(model.transform(table), tmp_path / "a.csv")
    assert list(tmp_path.iterdir()) == []
