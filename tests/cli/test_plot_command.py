"""`mercer plot`: pictures of saved models, and one sentence where there is none."""

import numpy as np
import pytest
from typer.testing import CliRunner

import mercer
from mercer import PCA, KernelPCA
from mercer_old.cli import app
from mercer_old.errors import MercerError, WrongUse
from plotting.conftest import COLUMNS, GROUPS, ROWS

pd = pytest.importorskip("pandas")
FRAME = pd.DataFrame(ROWS, columns=COLUMNS)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("plot")
    FRAME.assign(tree=GROUPS, name=[f"$row {i}$" for i in range(40)]).to_csv(folder / "rows.csv", index=False)
    PCA(3, standardize=True).fit(FRAME).save(folder / "pca.mercer")
    KernelPCA(3, kernel="rbf", gamma=0.1).fit(FRAME).save(folder / "kpca.mercer")
    return folder


def run(*words):
    done = CliRunner().invoke(app, ["plot", *map(str, words)])
    if isinstance(done.exception, MercerError):
        raise done.exception
    assert done.exit_code == 0, done.output
    return done


@pytest.mark.parametrize(
    "options",
    [
        ["--label", "tree", "--ellipse", "confidence", "--id", "name", "--marginals"],
        ["--kind", "scree", "--theme", "dark"],
        ["--kind", "biplot", "--label", "tree", "--components", "1,3", "--scaling", "correlation", "--n", "2"],
        ["--kind", "metadata", "--keep", "tree", "--size", "5x3"],
        pytest.param(["--kind", "cos2", "--of", "rows", "--id", "name"], marks=pytest.mark.slow),
        pytest.param(["--kind", "loadings", "--features", "age,width", "--cutoff", "0.1"], marks=pytest.mark.slow),
    ],
)
def test_pictures_are_written_and_the_same_every_time(files, tmp_path, options):
    for name in ("a.svg", "b.svg"):
        run(files / "pca.mercer", files / "rows.csv", "-o", tmp_path / name, *options)
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


@pytest.mark.parametrize("verb, out", [("plot", "a.svg"), ("report", "a.html")])
def test_how_data_is_read_is_no_option_without_data(files, tmp_path, verb, out):
    """It would be lost without a word."""
    done = CliRunner().invoke(app, [verb, str(files / "kpca.mercer"), "--label", "tree", "-o", str(tmp_path / out)])
    assert isinstance(done.exception, WrongUse) and "--label says how DATA is read, and there is none" in str(
        done.exception
    )
    assert list(tmp_path.iterdir()) == []


def test_names_of_many_rows_are_drawn_when_asked_for(files, tmp_path):
    names = [f"row {i}" for i in range(80)]
    pd.concat([FRAME, FRAME]).assign(name=names).to_csv(tmp_path / "many.csv", index=False)
    for options, drawn in (([], False), (["--names"], True)):
        said = run(files / "pca.mercer", tmp_path / "many.csv", "-o", tmp_path / "a.svg", "--id", "name", *options)
        assert ("80 rows are too many to name each" in said.output) is not drawn
        assert (
            b">row 7<" in (tmp_path / "a.svg").read_bytes() or b"row 7" in (tmp_path / "a.svg").read_bytes()
        ) is drawn
    run(files / "pca.mercer", files / "rows.csv", "-o", tmp_path / "b.svg", "--id", "name", "--no-names")
    assert b"row 7" not in (tmp_path / "b.svg").read_bytes()


def test_models_that_keep_their_rows_need_no_file(files, tmp_path):
    said = run(files / "kpca.mercer", "-o", tmp_path / "a.png", "--dpi", "30")
    assert "ScoresDisplay" in said.output
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    assert "ScreeDisplay" in run(files / "pca.mercer", "-o", tmp_path / "b.pdf").output


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ([], "Where should the picture go"),
        (["-o", "a.bmp"], r"known are \.png, \.svg and \.pdf"),
        (["--kind", "pie"], "There is no display 'pie'"),
        (["--kind", "scree", "--ellipse", "hull"], "--ellipse is not for --kind scree"),
        (["--kind", "neighborhood"], "that is of a fitted LocallyLinearEmbedding"),
        (["--components", "0,1"], "no numbers from 1 on"),
        (["--components", "1,9"], "there is no component 9; 3 were fitted"),
        (["--theme", "blue"], "known are light, dark"),
        (["--ellipse", "round"], "known are concentration, confidence, hull"),
        (["--size", "8"], "not two numbers"),
        (["--dpi", "1"], "not from 10 to 1200"),
    ],
)
def test_what_cannot_be_drawn_is_one_sentence(files, tmp_path, options, sentence):
    where = [] if not options or "-o" in options else ["-o", tmp_path / "a.png"]
    with pytest.raises(WrongUse, match=sentence):
        run(files / "pca.mercer", files / "rows.csv", *where, *options)
    assert not (tmp_path / "a.png").exists()


def test_a_picture_takes_no_place_of_a_model_or_of_rows(files):
    before = (files / "rows.csv").read_bytes()
    with pytest.raises(WrongUse):
        run(files / "pca.mercer", files / "rows.csv", "-o", files / "rows.csv")
    assert (files / "rows.csv").read_bytes() == before


def test_rows_of_a_file_bring_labels_and_names_to_their_picture(tmp_path):
    """Whole numbers are classes with whole names; what is given goes before what is beside the rows."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(30, 3)), columns=list("abc"))
    table.assign(who=[f"r{i}" for i in range(30)], kind=[0, 1, 2] * 10).to_csv(tmp_path / "x.csv", index=False)
    rows = mercer.open_rows(tmp_path / "x.csv", label="kind")
    model = mercer.PCA(2).fit(rows)
    display = model.plot(rows)
    assert [text.get_text() for text in display.ax_.get_legend().get_texts()] == ["0", "1", "2"]
    assert any("r7" in text.get_text() for text in display.ax_.texts)
    display = model.plot(rows, ["u", "v"] * 15, names=False)
    assert [text.get_text() for text in display.ax_.get_legend().get_texts()] == ["u", "v"]
    assert not any("r7" in text.get_text() for text in display.ax_.texts)
    with pytest.raises(WrongUse, match="names=True draws the names that rows of a file have"):
        model.plot(table, names=True)
