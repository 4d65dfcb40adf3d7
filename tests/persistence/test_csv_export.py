"""CSV and npz: what is read back is what the model has."""

import csv

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import mercer
from mercer import PCA, KernelPCA, LocallyLinearEmbedding
from mercer.kernels import RBF, Spectrum
from mercer_old.errors import CannotWrite, WrongUse

NAMES = ["plain", "with, comma", 'with "quotes"', "two\nlines", "=1+1"]


@pytest.fixture
def frame():
    return pd.DataFrame(np.random.default_rng(0).normal(3.0, 2.0, size=(40, 5)), columns=NAMES)


def read_csv(path):
    with path.open(newline="", encoding="utf-8") as file:
        heading, *lines = csv.reader(file)
    return heading, [line[0] for line in lines], np.array([line[1:] for line in lines], dtype=float)


@pytest.mark.parametrize("standardize", [False, True])
def test_axes_of_pca_are_a_table_of_columns(standardize, frame, tmp_path):
    model = PCA(2, standardize=standardize).fit(frame)
    done = mercer.convert(model, tmp_path / "m.csv")
    assert [path.name for path in done.paths] == ["m.components.csv", "m.eigenvalues.csv"]
    heading, names, numbers = read_csv(tmp_path / "m.components.csv")
    assert heading == ["feature", "mean", "scale", "pca0", "pca1"] and names == NAMES
    scores = (frame.to_numpy() - numbers[:, 0]) / numbers[:, 1] @ numbers[:, 2:]
    np.testing.assert_allclose(scores, model.transform(frame), atol=1e-12)
    heading, names, numbers = read_csv(tmp_path / "m.eigenvalues.csv")
    assert heading == ["component", "eigenvalue", "explained_variance", "explained_variance_ratio"]
    assert names == ["pca0", "pca1"]
    np.testing.assert_allclose(numbers[:, 0], (scores**2).sum(axis=0))
    np.testing.assert_array_equal(numbers[:, 1:].T, [model.explained_variance_, model.explained_variance_ratio_])


def test_kernel_pca_and_lle_have_tables_of_rows(frame, tmp_path):
    model = KernelPCA(2, kernel=RBF(gamma=0.1)).fit(frame)
    done = mercer.convert(model, tmp_path / "k", "csv")
    assert [path.name for path in done.paths] == ["k.eigenvalues.csv", "k.eigenvectors.csv"]
    np.testing.assert_array_equal(read_csv(done.paths[1])[2], model.eigenvectors_)
    embedded = LocallyLinearEmbedding(n_neighbors=12).fit(frame)
    done = mercer.convert(embedded, tmp_path / "l.csv")
    np.testing.assert_array_equal(read_csv(done.paths[0])[2], embedded.embedding_)


def test_arrays_are_read_without_trust(frame, tmp_path):
    model = PCA(2, standardize=True).fit(frame)
    with np.load(mercer.convert(model, tmp_path / "m.npz").paths[0], allow_pickle=False) as arrays:
        assert arrays["feature_names"].tolist() == NAMES
        for name in ("components", "mean", "scale", "singular_values", "explained_variance"):
            np.testing.assert_array_equal(arrays[name], getattr(model, f"{name}_"))


def test_landmarks_are_arrays_if_they_are_numbers(frame, tmp_path):
    X = sparse.csr_array(np.maximum(frame.to_numpy(), 0))
    model = KernelPCA(2, kernel=RBF(gamma=0.1), eigen_solver="landmark", n_landmarks=9).fit(X)
    with np.load(mercer.convert(model, tmp_path / "m.npz").paths[0], allow_pickle=False) as arrays:
        np.testing.assert_array_equal(arrays["landmarks"], model.landmarks_.toarray())
    words = ["anna", "hanna", "otto", "ottilie", "anton", "antonia", "maria", "marie"]
    texts = KernelPCA(2, kernel=Spectrum(2), eigen_solver="landmark", n_landmarks=5).fit(words)
    done = mercer.convert(texts, tmp_path / "t.npz")
    with np.load(done.paths[0], allow_pickle=False) as arrays:
        assert "landmarks" not in arrays and "Without landmarks" in done.words


# ---------------------------------------------------------------------- the door


def test_the_words_name_the_files(frame, tmp_path):
    done = mercer.convert(PCA(2).fit(frame), tmp_path / "m.npz")
    assert str(done).startswith("Wrote ") and "m.npz" in str(done)


@pytest.mark.parametrize(
    ("path", "options", "words"),
    [
        ("m.xyz", {}, "does not say which format"),
        ("m", {}, "onnx, plink, flashpca, csv or npz"),
        ("m", {"to": "matlab"}, "no format 'matlab'"),
        ("m.csv", {"scores": True}, "csv takes no scores"),
        ("m.onnx", {"ids": ["a"]}, "onnx takes no ids"),
        ("m.npz", {"dtype": "float32"}, "npz takes no dtype"),
        ("m.npz", {"X": np.eye(5)}, "npz takes no rows"),
        ("..", {"to": "csv"}, "is a folder"),
        ("m.onnx", {"dtype": "float16"}, '"float32" or "float64"'),
    ],
)
def test_what_means_nothing_is_told(path, options, words, frame, tmp_path):
    with pytest.raises(WrongUse, match=words):
        mercer.convert(PCA(2).fit(frame), tmp_path / path, **options)
    assert not list(tmp_path.iterdir())


def test_other_objects_and_models_without_anything_are_refused(frame, tmp_path):
    from sklearn.decomposition import PCA as Theirs
    from sklearn.exceptions import NotFittedError

    with pytest.raises(WrongUse, match="can be converted"):
        mercer.convert(Theirs().fit(frame.to_numpy()), tmp_path / "m.npz")
    with pytest.raises(WrongUse, match="no components"):
        mercer.convert(PCA(0).fit(frame), tmp_path / "m.onnx")
    with pytest.raises(NotFittedError):
        mercer.convert(PCA(), tmp_path / "m.npz")


def test_of_several_files_all_are_written_or_none(frame, tmp_path):
    (tmp_path / "m.components.csv").write_text("older")
    (tmp_path / "m.eigenvalues.csv").mkdir()
    with pytest.raises(CannotWrite, match="eigenvalues"):
        mercer.convert(PCA(2).fit(frame), tmp_path / "m.csv")
    assert (tmp_path / "m.components.csv").read_text() == "older"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m.components.csv", "m.eigenvalues.csv"]
