"""What every display keeps to: axes that are given, themes, files, state, and what comes from data."""

import subprocess
import sys

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.decomposition import PCA as TheirPCA
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import mercer
from mercer_old.displays.canvas import as_bytes
from mercer_old.displays.kinds import KINDS, display_of
from mercer_old.errors import MissingPart, WrongUse
from plotting.conftest import COLUMNS, GROUPS, ROWS, USES, drawn, model, shown


def flat(axes):
    return list(np.ravel(axes))


def texts(display):
    return " ".join(text.get_text() for text in display.figure_.findobj(mpl.text.Text))


def test_every_display_is_public_and_has_a_use_here():
    assert {name for name in mercer.__all__ if name.endswith("Display")} == set(KINDS.values())
    assert set(USES) == set(KINDS)


def test_axes_are_returned(kind):
    display = shown(kind)
    assert isinstance(display.figure_, Figure)
    assert flat(display.ax_)
    assert all(ax.get_figure(root=True) is display.figure_ for ax in flat(display.ax_))


def test_axes_that_are_given_are_drawn_on(kind):
    figure = Figure()
    left, right = figure.subplots(1, 2)
    display = drawn(kind, ax=left)
    assert display.figure_ is figure
    panels = {left, *left.child_axes}
    assert set(flat(display.ax_)) <= panels
    assert not right.has_data()


def test_themes_differ_and_nothing_stays_behind(kind):
    before = dict(mpl.rcParams)
    light, dark = shown(kind), drawn(kind, theme="dark")
    assert light.figure_.get_facecolor() == mpl.colors.to_rgba("#ffffff")
    assert dark.figure_.get_facecolor() == mpl.colors.to_rgba("#161b22")
    as_bytes(dark.figure_, "png", 20)
    assert dict(mpl.rcParams) == before


@pytest.mark.parametrize("kind", ["scores", "biplot", "scree", "preimage"])
def test_drawn_twice_it_is_the_same_file(kind, tmp_path):
    files = [one.save(tmp_path / f"{i}.svg").read_bytes() for i, one in enumerate((shown(kind), drawn(kind)))]
    assert files[0] == files[1]
    assert b"<dc:date>" not in files[0]


def test_pyplot_is_not_loaded():
    code = (
        "import sys, numpy as np, mercer\nX = np.random.default_rng(0).normal(size=(20, 3))\n"
        "display = mercer.PCA().fit(X).plot(X)\ndisplay._repr_png_()\nassert 'matplotlib.pyplot' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_without_matplotlib_a_sentence_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingPart, match="A display needs matplotlib"):
        drawn("scree")


def test_files_of_other_kinds_and_displays_not_drawn_are_refused(tmp_path):
    with pytest.raises(WrongUse, match=r"known are \.png, \.svg and \.pdf"):
        shown("scree").save(tmp_path / "a.bmp")
    with pytest.raises(WrongUse, match="not drawn yet"):
        mercer.ScreeDisplay([0.6, 0.4]).save(tmp_path / "a.png")
    for suffix, begins in {"png": b"\x89PNG", "pdf": b"%PDF", "svg": b"<?xml"}.items():
        assert shown("scree").save(tmp_path / f"a.{suffix}", 20).read_bytes().startswith(begins)


HOSTILE = ["$\\frac{1}{0}$", "_hidden", "a\x1b[31mred", "$x", "n" * 500]


@pytest.mark.parametrize("name", HOSTILE)
def test_names_from_data_are_drawn_as_they_are(name):
    groups = np.where(GROUPS == "ash", name, "other")
    display = drawn("scores", y=groups)
    legend = [text for text in display.ax_.get_legend().get_texts() if text.get_text() != "other"]
    assert len(legend) == 1  # matplotlib leaves out what begins with _
    shown, is_math = legend[0]._preprocess_math(legend[0].get_text())
    assert not is_math
    assert shown == name[:28] + "…" * (len(name) > 28) if name.isprintable() else "\\x1b" in shown
    as_bytes(display.figure_, "png", 20)


@pytest.mark.parametrize("kind", ["loadings", "circle", "biplot", "contribution"])
def test_names_of_columns_are_no_formulas(kind):
    names = ["$\\frac{1}{0}$", "_x", "a$b", "c\nd", "$$"]
    key = "names" if kind == "contribution" else "feature_names"
    display = drawn(kind, **{key: names})
    as_bytes(display.figure_, "png", 20)
    assert r"\$\frac{1}{0}\$" in texts(display)


@pytest.mark.parametrize(
    ("kind", "name", "have"),
    [
        ("scree", "lle", "PCA, IncrementalPCA or KernelPCA"),
        ("loadings", "lle", "PCA, IncrementalPCA or KernelPCA"),
        ("neighborhood", "pca", "LocallyLinearEmbedding"),
        ("novelty", "pca", "NoveltyDetector"),
        ("eigenimages", "kpca", "PCA"),
        ("field", "detector", "KernelPCA"),
    ],
)
def test_a_display_that_a_model_does_not_have_says_which_have(kind, name, have):
    with pytest.raises(WrongUse, match=f"has nothing to show in a {KINDS[kind]}: that is of a fitted .*{have}"):
        display_of(kind).from_estimator(model(name), ROWS)


def test_models_pick_their_first_picture():
    assert type(model("pca").plot()).__name__ == "ScreeDisplay"
    assert type(model("pca").plot(ROWS, GROUPS)).__name__ == "ScoresDisplay"
    assert type(model("kpca").plot(y=GROUPS, theme="dark")).__name__ == "ScoresDisplay"
    assert type(model("lle").plot()).__name__ == "ScoresDisplay"
    assert type(model("detector").plot(ROWS)).__name__ == "NoveltyDisplay"
    assert type(model("pca").plot(ROWS, kind="cos2")).__name__ == "ContributionDisplay"


def test_what_cannot_be_asked_of_a_model_is_one_sentence():
    with pytest.raises(WrongUse, match="There is no display 'pie'"):
        model("pca").plot(kind="pie")
    with pytest.raises(WrongUse, match="labels of rows, which LoadingsDisplay does not show"):
        model("pca").plot(ROWS, GROUPS, kind="loadings")
    with pytest.raises(NotFittedError):
        mercer.PCA().plot(ROWS)
    with pytest.raises(ValueError, match="PCA keeps no rows: give the rows as X"):
        model("pca").plot(kind="scores")
    with pytest.raises(ValueError, match="theme must be light or dark"):
        model("pca").plot(theme="pink")
    with pytest.raises(ValueError, match="size must be a width and a height"):
        model("pca").plot(size=(3, -1))
    with pytest.raises(ValueError, match="from 0 to 3, as 4 components were fitted; got 4"):
        model("pca").plot(ROWS, components=(0, 4))


def test_models_of_scikit_learn_and_pipelines_have_scores_too():
    theirs = make_pipeline(StandardScaler(), TheirPCA(3)).fit(ROWS)
    display = mercer.ScoresDisplay.from_estimator(theirs, ROWS, components=(0, 2))
    np.testing.assert_allclose(display.scores, theirs.transform(ROWS)[:, [0, 2]])
    share = theirs[-1].explained_variance_ratio_[2]
    assert display.ax_.get_ylabel() == f"PC3 ({100 * share:.1f} %)"


def test_plain_arrays_are_drawn_like_models():
    scores = model("pca").transform(ROWS)[:, :2]
    display = mercer.ScoresDisplay.from_predictions(scores, y=GROUPS, theme="dark", ellipse="hull")
    assert len(display.ax_.collections) >= 3
    assert COLUMNS[0] in texts(mercer.LoadingsDisplay.from_predictions(model("pca").loadings_, names=COLUMNS, n=None))
