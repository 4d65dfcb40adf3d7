"""What cannot be embedded is refused in one clear sentence, before any work is done."""

import numpy as np
import pytest
from scipy import sparse

from mercer import LocallyLinearEmbedding
from mercer_old.errors import NoRoom
from support.local import apart, cloud, roll

# ---------------------------------------------------------------------- new rows


def test_a_file_that_does_not_fit_is_refused_before_it_is_read(tmp_path, monkeypatch):
    np.save(tmp_path / "rows.npy", np.zeros((3000, 1000)))
    monkeypatch.setattr("mercer_old.sources.items.Rows.load", lambda *_: pytest.fail("it was read"))
    with pytest.raises(NoRoom, match="over the limit of 20 MB"):
        LocallyLinearEmbedding(memory_limit="20MB").fit(tmp_path / "rows.npy")


# ---------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("params", "X", "message"),
    [
        (dict(n_neighbors=20), cloud(20), "Expected n_neighbors < n_samples, but n_samples = 20, n_neighbors = 20"),
        (dict(n_neighbors=3, n_components=5), cloud(5, 6), "n_components=5 must be less than n_samples=5"),
        (dict(n_components=4), cloud(20), "output dimension must be less than or equal to input dimension"),
        (
            dict(method="hessian", n_neighbors=5),
            cloud(20),
            r"n_neighbors must be greater than .*: n_neighbors=5, and 5",
        ),
        (dict(method="modified", n_neighbors=1), cloud(20), "modified LLE requires n_neighbors >= n_components"),
        (dict(method="ltsa", n_neighbors=2), cloud(20), "for method='ltsa', n_neighbors=2 must be greater than"),
        (dict(method="ltsa", n_neighbors=3), cloud(20), "for method='ltsa', n_neighbors=3 must be greater than"),
        ({}, np.full((20, 3), np.nan), "NaN"),
        ({}, np.where(np.eye(20, 3) > 0, np.inf, 1.0), "infinity"),
        ({}, np.array([["a"] * 3] * 20), "holds text"),
        ({}, cloud(20) * 1j, "Complex data not supported"),
        ({}, np.empty((0, 3)), "0 sample"),
        ({}, np.empty((20, 0)), "0 feature"),
        ({}, np.ones(20), "1D array|Expected 2D"),
        ({}, "rows.npy", "X is a text"),
        (dict(metric="precomputed"), cloud(20), "must be a square matrix. Input is a 20x3 matrix"),
        (dict(metric="precomputed"), -np.ones((20, 20)), "Negative values in data"),
        (dict(metric="precomputed"), sparse.eye_array(20, format="csr"), "Sparse distances are not supported"),
        (dict(metric="manhattan"), cloud(20), "metric"),
        (dict(method="isomap"), cloud(20), "method"),
        (dict(n_neighbors=0), cloud(20), "n_neighbors"),
        (dict(n_components=0), cloud(20), "n_components"),
        (dict(reg=-1.0), cloud(20), "reg"),
        (dict(on_disconnected="ignore"), cloud(20), "on_disconnected"),
        (dict(memory_limit="much"), cloud(20), "is not a size"),
    ],
    ids=lambda value: str(value)[:40] if isinstance(value, dict) else "",
)
def test_what_cannot_be_is_refused_in_one_clear_sentence(params, X, message):
    with pytest.raises(ValueError, match=message):
        LocallyLinearEmbedding(**params).fit(X)


def test_a_fit_that_does_not_fit_is_refused_at_once_with_a_number_of_rows_that_does(monkeypatch):
    def never(*_):
        raise AssertionError("work was done")

    X, _ = roll(6000)
    for limit in ("35MB", "30MB", "20MB"):
        model = LocallyLinearEmbedding(n_neighbors=12, memory_limit=limit, eigen_solver="arpack")
        with monkeypatch.context() as patch:
            patch.setattr("mercer_old.models.local_model.find_neighborhoods", never)
            with pytest.raises(NoRoom, match=r"over the limit of .* rows would fit") as refused:
                model.fit(X)
        rows = int(str(refused.value).split("About ")[1].split()[0].replace(",", ""))
        assert rows < 6000
        assert (
            model.plan(X[np.sort(np.random.default_rng(0).permutation(6000)[:rows])]).memory <= model._limits().memory
        )


def test_a_limit_below_what_any_fit_takes_promises_no_number_of_rows():
    model = LocallyLinearEmbedding(memory_limit="10MB")
    with pytest.raises(NoRoom) as refused:
        model.fit(cloud(5000))
    with pytest.raises(NoRoom, match="10 MB"):
        model.plan(cloud(40))  # not even so few
    assert "rows would fit" not in str(refused.value)


def test_weights_of_rows_are_refused(tmp_path):
    with pytest.raises(ValueError, match="no weights of rows; leave out sample_weight"):
        LocallyLinearEmbedding().fit_transform_to(cloud(20), tmp_path / "y.npy", sample_weight=np.ones(20))


def test_a_fit_that_failed_leaves_a_fitted_model_as_it_was_or_unfitted():
    model = LocallyLinearEmbedding(n_neighbors=7)
    X = cloud(40)
    expected = model.fit(X).transform(X)
    model.set_params(on_disconnected="raise")
    with pytest.raises(ValueError, match="falls apart"):
        model.fit(apart().astype(np.float32))
    again = model.transform(X)
    assert again.dtype == expected.dtype and np.array_equal(again, expected)
