"""Archives of numpy, and folders of images."""

import io
import zipfile

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from PIL import Image

import mercer
from mercer_old.errors import BadData, MercerWarning, NoRoom

A = np.random.default_rng(0).normal(size=(20, 3))


def test_the_only_table_of_an_archive_is_read_and_others_by_name(tmp_path):
    np.savez(tmp_path / "one.npz", x=A, labels=np.arange(20), texts=np.array(["x"]))
    assert_array_equal(mercer.open_rows(tmp_path / "one.npz").load(), A)
    np.savez_compressed(tmp_path / "two.npz", x=A, y=A[:, :2].astype(np.float32))
    rows = mercer.open_rows(tmp_path / "two.npz", array="y")
    assert rows.dtype == np.float32 and rows.shape == (20, 2)
    with pytest.raises(BadData, match=r"several tables of numbers: 'x', 'y'. Name one"):
        mercer.open_rows(tmp_path / "two.npz")
    with pytest.raises(BadData, match=r"no array 'z'; it has 'x', 'y'"):
        mercer.open_rows(tmp_path / "two.npz", array="z")


def archive(**members):
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as file:
        for name, content in members.items():
            file.writestr(f"{name}.npy", content)
    return held.getvalue()


def header(shape, kind="<f8"):
    held = io.BytesIO()
    np.lib.format.write_array_header_1_0(held, {"descr": kind, "fortran_order": False, "shape": shape})
    return held.getvalue()


def saved(*arrays, **named):
    held = io.BytesIO()
    np.savez(held, *arrays, **named)
    return held.getvalue()


def spoiled(*places):
    """An archive with other bytes: at these places, counted from its beginning or (below 0) from its list of files."""
    content = bytearray(saved(x=A))
    listed = content.find(b"PK\x01\x02")
    for place, byte in places:
        content[place if place >= 0 else listed - place] = byte
    return bytes(content)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "cannot be read"),
        (spoiled((30, ord("y"))), "cannot be read: File name in directory"),
        (spoiled((6, 1), (-8, 1)), "cannot be read: .* is encrypted"),
        (spoiled((8, 99), (-10, 99)), "cannot be read: That compression method"),
        (b"PK\x03\x04 and no more", "cannot be read"),
        (saved(x=A)[:-100], "cannot be read"),
        (saved(x=np.arange(3.0)), "no table of numbers"),
        (saved(x=np.array([["x", "y"]])), "no table of numbers"),
        (saved(x=np.array([[{}]], dtype=object)), "no table of numbers"),
        (saved(x=np.where(A > 1, np.nan, A)), r"a missing value \(NaN\): row"),
        (saved(x=A[:0]), "0 rows and 3 columns"),
        (archive(x=header((1000, 1000))), "claims 8,000,000 bytes and has fewer"),
        (archive(x=b"no header"), "header of 'x.npy' is damaged"),
        (archive(), "no table of numbers"),
    ],
)
def test_a_damaged_archive_is_one_sentence(tmp_path, content, words):
    (tmp_path / "x.npz").write_bytes(content)
    with pytest.raises(BadData, match=words):
        mercer.open_rows(tmp_path / "x.npz")


def test_an_archive_that_claims_terabytes_is_refused_before_it_is_read(tmp_path):
    (tmp_path / "x.npz").write_bytes(archive(x=header((10**6, 10**6))))
    with pytest.raises(NoRoom, match=r"takes 16 TB, over the limit"):
        mercer.open_rows(tmp_path / "x.npz")


def test_objects_are_never_unpickled(tmp_path):
    (tmp_path / "x.npz").write_bytes(saved(x=np.array([[{}]], dtype=object)))
    with pytest.raises(BadData, match=r"\(a pickle\), which are never read"):
        mercer.open_rows(tmp_path / "x.npz", array="x")


# ---------------------------------------------------------------------- images


@pytest.fixture
def folder(tmp_path):
    for i in range(6):
        pixels = np.full((4, 5), 40 * i, dtype=np.uint8)
        pixels[0, 0] = 255
        Image.fromarray(pixels).save(tmp_path / f"face{i}.png")
    return tmp_path


def test_images_are_rows_of_grey_named_by_their_files(folder):
    rows = mercer.open_rows(folder)
    assert rows.shape == (6, 20) and list(rows.row_names) == [f"face{i}.png" for i in range(6)]
    assert_array_equal(rows.load()[:, 1], 40 * np.arange(6))
    assert (rows.load()[:, 0] == 255).all()
    assert mercer.open_rows(folder, resize="2x3").shape == (6, 6)


@pytest.mark.parametrize(
    ("kind", "ending"), [("uint16", "png"), ("uint16", "tif"), ("int32", "tif"), ("float32", "tif")]
)
def test_deep_images_keep_their_values(tmp_path, kind, ending):
    pixels = np.array([[0, 300], [40_000, 65_535]], dtype=kind)
    pixels = pixels / 65_536 if kind == "float32" else pixels
    Image.fromarray(pixels.astype(kind)).save(tmp_path / f"deep.{ending}")
    assert_array_equal(mercer.open_rows(tmp_path).load(), pixels.reshape(1, 4).astype(np.float32))


def test_images_of_several_depths_and_of_several_pictures_are_told(folder):
    Image.fromarray(np.full((4, 5), 1000, dtype=np.uint16)).save(folder / "deep.png")
    with pytest.warns(MercerWarning, match=r"1 of the images of .* deeper than the others.*: 'deep.png'\."):
        mercer.open_rows(folder)
    (folder / "deep.png").unlink()
    page = Image.fromarray(np.zeros((4, 5), dtype=np.uint8))
    page.save(folder / "film.tif", save_all=True, append_images=[page])
    with pytest.warns(MercerWarning, match=r"more than one picture, and the first is read: 'film.tif'"):
        assert len(mercer.open_rows(folder)) == 7


def test_a_folder_may_have_a_dot_in_its_name(folder):
    assert mercer.open_rows(folder.rename(folder.with_name("scans.2024"))).shape == (6, 20)


def test_images_of_several_sizes_need_one(folder):
    Image.fromarray(np.zeros((8, 8, 3), dtype=np.uint8)).save(folder / "big.jpg")
    with pytest.raises(BadData, match=r"different sizes: big.jpg 8×8, face0.png 5×4. Bring them to one"):
        mercer.open_rows(folder)
    assert mercer.open_rows(folder, resize="3x3").shape == (7, 9)


def test_other_files_are_left_out_and_told(folder):
    (folder / "notes.txt").write_text("x")
    with pytest.warns(MercerWarning, match="1 other files or folders|1 other"):
        assert len(mercer.open_rows(folder)) == 6


@pytest.mark.parametrize("resize", ["64", "0x5", "x", "5x", "-1x2", "99999999x9"])
def test_sizes_that_are_none_are_told(folder, resize):
    with pytest.raises(BadData, match="is no size: give width and height"):
        mercer.open_rows(folder, resize=resize)


def test_images_that_do_not_fit_or_cannot_be_read_are_told(folder):
    with pytest.raises(NoRoom, match=r"6 images of 9999×9999 take .*--resize"):
        mercer.open_rows(folder, resize="9999x9999", memory_limit="1MB")
    (folder / "face6.png").write_bytes(b"no image")
    with pytest.raises(BadData, match=r"face6.png is no image that can be read"):
        mercer.open_rows(folder)
    (folder / "face6.png").write_bytes((folder / "face5.png").read_bytes()[:50])
    with pytest.raises(BadData, match=r"face6.png (is no image|cannot be read)"):
        mercer.open_rows(folder)


def test_a_folder_without_images_is_told(tmp_path):
    with pytest.raises(BadData, match="is a folder without images"):
        mercer.open_rows(tmp_path)
