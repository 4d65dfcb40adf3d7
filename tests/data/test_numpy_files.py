"""Matrices of numpy and scipy in files, and folders of images."""

import io
import pickle
import random
import zipfile

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from PIL import Image
from scipy import sparse

from mercer.data.dataset import SMALL_INTEGERS
from mercer.data.images import read_images
from mercer.data.numpy_files import NpyDataset, read_npz
from mercer.data.opening import open_dataset
from mercer.data.read_options import ReadOptions
from mercer.errors import DataError, MemoryLimitError, MercerError, MercerWarning, MissingValuesError, ParameterError
from mercer.estimators.pca import PCA

A = np.random.default_rng(0).normal(size=(20, 3))
GB = 10**9


def npz(path, memory=GB, **options):
    return read_npz(path, ReadOptions.from_user(options), memory)


def images(path, memory=GB, **options):
    return read_images(path, ReadOptions.from_user(options), memory)


# ---------------------------------------------------------------------- .npy


@pytest.mark.parametrize(
    ("stored", "read"),
    [
        (np.float64, np.float64),
        (np.float32, np.float32),
        (np.float16, np.float32),
        (">f8", np.float64),
        (np.longdouble, np.float64),
        (np.int32, np.float64),
        (np.uint64, np.float64),
        (">i2", np.int16),
        (bool, np.uint8),
        *((dtype, dtype) for dtype in SMALL_INTEGERS),
    ],
    ids=str,
)
@pytest.mark.parametrize("order", ["C", "F"])
def test_types_and_orders(tmp_path, stored, read, order):
    rows = np.asarray(np.abs(10 * A), dtype=stored, order=order)
    np.save(tmp_path / "x.npy", rows)
    data = NpyDataset(tmp_path / "x.npy")
    assert data.dtype == read and data.shape == (20, 3) and data.nbytes == 60 * np.dtype(read).itemsize
    for size in (1, 7, 20, 50):
        blocks = list(data.blocks(size))
        assert all(block.dtype == read for block in blocks) and len(blocks[0]) == min(size, 20)
        assert_array_equal(np.concatenate(blocks), rows.astype(read))
    assert_array_equal(data.take(np.array([19, 0, 19])), rows.astype(read)[[19, 0, 19]])


def test_pca_of_integers_in_a_file_is_that_of_memory(tmp_path):
    rows = np.random.default_rng(0).integers(-100, 100, size=(500, 5)).astype(np.int8)
    np.save(tmp_path / "x.npy", rows)
    ours, theirs = PCA(2).fit(tmp_path / "x.npy"), PCA(2, svd_solver="covariance_eigh").fit(rows.astype(float))
    assert_allclose(ours.explained_variance_, theirs.explained_variance_, rtol=1e-12)
    assert_allclose(np.abs(ours.transform(tmp_path / "x.npy")), np.abs(theirs.transform(rows.astype(float))), atol=1e-8)


def header(shape, kind="<f8"):
    content = io.BytesIO()
    np.lib.format.write_array_header_1_0(content, {"descr": kind, "fortran_order": False, "shape": shape})
    return content.getvalue()


def saved(array):
    content = io.BytesIO()
    np.save(content, array, allow_pickle=True)
    return content.getvalue()


class Bomb:
    def __reduce__(self):
        return (pytest.fail, ("unpickled",))


DAMAGED = {
    "empty": b"",
    "text": b"a,b\n1,2\n",
    "Parquet": b"PAR1....",
    "no header": b"\x93NUMPY",
    "another version": b"\x93NUMPY\x09\x00" + saved(A)[8:],
    "a header that is code": b"\x93NUMPY\x01\x00\x10\x00" + b"__import__('os')",
    "truncated": saved(A)[:-100],
    "longer": saved(A) + b"\0" * 8,
    "two arrays": saved(A) + saved(A),
    "more rows than there are": header((10**6, 3)) + A.tobytes(),
    "more bytes than there can be": header((2**62, 2**10)) + A.tobytes(),
    "negative sizes": header((-1, 3)),
    "one dimension": saved(A[0]),
    "three dimensions": saved(A[None]),
    "strings": saved(A.astype(str)),
    "dates": saved(A.astype("datetime64[s]")),
    "complex": saved(A + 1j),
    "structured": saved(np.zeros((3, 2), dtype=[("a", float)])),
    "objects": saved(np.array([[Bomb(), 1]], dtype=object)),
    "a pickle": pickle.dumps(Bomb()),
    "a wrong pickle": header((3, 2), "|O") + pickle.dumps(Bomb()),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_damaged_npy_files_are_one_error(tmp_path, name):
    (tmp_path / "x.npy").write_bytes(DAMAGED[name])
    with pytest.raises(DataError) as caught:
        NpyDataset(tmp_path / "x.npy").load()
    assert "x.npy" in caught.value.source and "\n" not in str(caught.value)


def test_missing_files_folders_and_changes(tmp_path):
    for path in (tmp_path / "nothing.npy", tmp_path):
        with pytest.raises(DataError):
            NpyDataset(path)
    np.save(tmp_path / "x.npy", A)
    data = NpyDataset(tmp_path / "x.npy")
    blocks = data.blocks(5)
    next(blocks)
    np.save(tmp_path / "x.npy", A[:10])
    with pytest.raises(DataError):
        list(blocks)
    with pytest.raises(DataError):
        data.load()


def test_values_that_are_not_finite_have_their_location(tmp_path):
    for value, error in ((np.nan, MissingValuesError), (np.inf, DataError)):
        rows = A.copy()
        rows[13, 2] = value
        np.save(tmp_path / "x.npy", rows)
        data = NpyDataset(tmp_path / "x.npy")
        for use in (
            data.load,
            lambda path=tmp_path / "x.npy": PCA(1).fit(path),
            lambda data=data: list(data.blocks(7)),
        ):
            with pytest.raises(error) as caught:
                use()
            assert (caught.value.row, caught.value.column) == (13, "2")
        data.allow_nan = True
        if error is MissingValuesError:
            assert_array_equal(data.load(), rows)
        else:
            with pytest.raises(DataError):
                data.load()


# ---------------------------------------------------------------------- .npz


def test_the_only_matrix_of_an_archive_is_read_and_others_by_name(tmp_path):
    np.savez(tmp_path / "one.npz", x=A, labels=np.arange(20), strings=np.array(["x"]))
    assert_array_equal(npz(tmp_path / "one.npz").load(), A)
    np.savez_compressed(tmp_path / "two.npz", x=A, y=(10 * A).astype(np.int8)[:, :2])
    data = npz(tmp_path / "two.npz", array="y")
    assert data.dtype == np.int8 and data.shape == (20, 2) and data.source.notes[0].remedies[0].value == "y"
    with pytest.raises(DataError) as caught:
        npz(tmp_path / "two.npz")
    assert [remedy.value for remedy in caught.value.remedies] == ["x", "y"]
    for name in ("z", "labels"):
        with pytest.raises(DataError):
            npz(tmp_path / "one.npz", array=name)
    with pytest.raises(DataError):
        open_dataset(tmp_path / "one.npz", kind="strings")


def test_names_that_scores_are_written_with(tmp_path):
    ids = [f"r{i}" for i in range(20)]
    np.savez(tmp_path / "x.npz", scores=A, columns=["a", "b", "c"], ids=ids, heading=["name"])
    data = npz(tmp_path / "x.npz")
    assert data.feature_names == ("a", "b", "c") and data.metadata.ids == ids and data.metadata.id_name == "name"


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int8, np.int64, bool])
def test_sparse_matrices_of_scipy(tmp_path, form, dtype):
    rows = np.where(A > 0.5, 10 * A, 0).astype(dtype)
    for kind in (sparse.csr_matrix, sparse.csr_array):
        sparse.save_npz(tmp_path / "x.npz", kind(rows).asformat(form))
        data = npz(tmp_path / "x.npz")
        assert data.is_sparse and data.samples.has_canonical_format
        assert_array_equal(data.load().toarray(), rows.astype(float))


def test_sparse_duplicates_are_summed(tmp_path):
    rows = sparse.coo_array((np.array([100, 100], np.int8), ([0, 0], [1, 1])), shape=(2, 2))
    sparse.save_npz(tmp_path / "x.npz", rows)
    assert npz(tmp_path / "x.npz").load().toarray().tolist() == [[0, 200], [0, 0]]


def archive(**members):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as file:
        for name, member in members.items():
            file.writestr(f"{name}.npy", member)
    return content.getvalue()


def savez(**arrays):
    content = io.BytesIO()
    np.savez(content, **arrays)
    return content.getvalue()


def changed(*places):
    """An archive with other bytes: at these places, counted from its start or (negative) from its directory."""
    content = bytearray(savez(x=A))
    directory = content.find(b"PK\x01\x02")
    for place, byte in places:
        content[place if place >= 0 else directory - place] = byte
    return bytes(content)


def scipy_parts(**other):
    rows = sparse.csr_array(np.where(A > 0, A, 0))
    parts = {"data": rows.data, "indices": rows.indices, "indptr": rows.indptr, "shape": np.array(rows.shape)}
    return savez(**parts | {"format": np.array(b"csr")} | other)


DAMAGED_ARCHIVES = {
    "empty": b"",
    "another name inside": changed((30, ord("y"))),
    "encrypted": changed((6, 1), (-8, 1)),
    "another compression": changed((8, 99), (-10, 99)),
    "half a header": b"PK\x03\x04 and no more",
    "truncated": savez(x=A)[:-100],
    "no matrix": savez(x=np.arange(3.0)),
    "strings": savez(x=np.array([["x", "y"]])),
    "objects": savez(x=np.array([[{}]], dtype=object)),
    "claims more than it has": archive(x=header((1000, 1000))),
    "no header": archive(x=b"no header"),
    "nothing": archive(),
    "row ends that decrease": scipy_parts(indptr=np.arange(21)[::-1]),
    "too few row ends": scipy_parts(indptr=np.arange(3)),
    "indices outside": scipy_parts(indices=np.full(int((A > 0).sum()), 10**6)),
    "negative indices": scipy_parts(indices=np.full(int((A > 0).sum()), -1)),
    "indices that are floats": scipy_parts(indices=np.zeros(int((A > 0).sum()))),
    "three sides": scipy_parts(shape=np.array([20, 3, 1])),
    "another format": scipy_parts(format=np.array(b"bsr")),
    "a format that is a pickle": scipy_parts(format=np.array({}, dtype=object)),
    "no data": archive(format=saved(np.array(b"csr"))),
}


@pytest.mark.parametrize("name", DAMAGED_ARCHIVES)
def test_damaged_archives_are_one_error(tmp_path, name):
    (tmp_path / "x.npz").write_bytes(DAMAGED_ARCHIVES[name])
    with pytest.raises(DataError) as caught:
        npz(tmp_path / "x.npz")
    assert "x.npz" in caught.value.source and "\n" not in str(caught.value)


def test_archives_that_claim_terabytes_are_refused_before_they_are_read(tmp_path):
    (tmp_path / "x.npz").write_bytes(archive(x=header((10**6, 10**6))))
    with pytest.raises(MemoryLimitError) as caught:
        npz(tmp_path / "x.npz")
    assert caught.value.needed == 16 * 10**12 and caught.value.limit == GB


def test_objects_are_never_unpickled(tmp_path):
    (tmp_path / "x.npz").write_bytes(savez(x=np.array([[Bomb()]], dtype=object), y=A))
    assert_array_equal(npz(tmp_path / "x.npz").load(), A)
    with pytest.raises(DataError):
        npz(tmp_path / "x.npz", array="x")


@pytest.mark.parametrize("name", ["x.npy", "x.npz", "sparse.npz"])
def test_mutants_are_read_or_refused_in_words(tmp_path, name):
    content = {"x.npy": saved(A), "x.npz": savez(x=A, ids=np.arange(20)), "sparse.npz": scipy_parts()}[name]
    rng, path, refused = random.Random(0), tmp_path / name, 0
    for i in range(300):
        mutant = bytearray(content)
        if i % 3 == 0:
            del mutant[rng.randrange(len(mutant)) :]
        else:
            for _ in range(rng.randint(1, 5)):
                mutant[rng.randrange(min(len(mutant), 300 if i % 2 else len(mutant)))] ^= 1 << rng.randrange(8)
        path.write_bytes(mutant)
        try:
            (NpyDataset(path) if name == "x.npy" else npz(path)).load()
        except MercerError:
            refused += 1
    assert 50 < refused < 300


# ---------------------------------------------------------------------- images


@pytest.fixture
def folder(tmp_path):
    for i in range(6):
        pixels = np.full((4, 5), 40 * i, dtype=np.uint8)
        pixels[0, 0] = 255
        Image.fromarray(pixels).save(tmp_path / f"face{i}.png")
    return tmp_path


def test_images_are_rows_named_by_their_files(folder):
    data = images(folder)
    assert data.shape == (6, 20) and data.metadata.ids == [f"face{i}.png" for i in range(6)]
    assert_array_equal(data.load()[:, 1], 40 * np.arange(6))
    assert (data.load()[:, 0] == 255).all() and data.metadata.id_name == "file"
    assert images(folder, resize="2x3").shape == (6, 6)


@pytest.mark.parametrize(("kind", "suffix"), [("uint16", "png"), ("int32", "tif"), ("float32", "tif")])
def test_deep_images_keep_their_values(tmp_path, kind, suffix):
    pixels = np.array([[0, 300], [40_000, 65_535]], dtype=kind)
    pixels = pixels / 65_536 if kind == "float32" else pixels
    Image.fromarray(pixels.astype(kind)).save(tmp_path / f"deep.{suffix}")
    assert_array_equal(images(tmp_path).load(), pixels.reshape(1, 4).astype(np.float32))


def test_images_of_several_depths_frames_and_other_files_are_warned_of(folder):
    Image.fromarray(np.full((4, 5), 1000, dtype=np.uint16)).save(folder / "deep.png")
    with pytest.warns(MercerWarning, match="'deep.png'"):
        images(folder)
    (folder / "deep.png").unlink()
    page = Image.fromarray(np.zeros((4, 5), dtype=np.uint8))
    page.save(folder / "film.tif", save_all=True, append_images=[page])
    with pytest.warns(MercerWarning, match="'film.tif'"):
        assert len(images(folder)) == 7
    (folder / "film.tif").unlink()
    (folder / "notes.txt").write_text("x")
    with pytest.warns(MercerWarning, match="not images"):
        assert len(images(folder)) == 6


def test_images_of_several_sizes_need_one(folder):
    Image.fromarray(np.zeros((8, 8, 3), dtype=np.uint8)).save(folder / "big.jpg")
    with pytest.raises(DataError) as caught:
        images(folder)
    assert caught.value.remedies[0].parameter == "resize"
    assert images(folder, resize="3x3").shape == (7, 9)


@pytest.mark.parametrize("resize", ["64", "0x5", "x", "5x", "-1x2", "99999999x9"])
def test_sizes_that_cannot_be_parsed(folder, resize):
    with pytest.raises(ParameterError):
        images(folder, resize=resize)


def test_images_that_do_not_fit_or_cannot_be_read(folder, tmp_path):
    with pytest.raises(MemoryLimitError):
        images(folder, resize="9999x9999", memory=10**6)
    good = (folder / "face5.png").read_bytes()
    for content in (b"not an image", good[:50]):
        (folder / "face6.png").write_bytes(content)
        with pytest.raises(DataError) as caught:
            images(folder)
        assert "face6.png" in str(caught.value)


def test_a_folder_without_images(tmp_path):
    with pytest.raises(DataError):
        images(tmp_path)
