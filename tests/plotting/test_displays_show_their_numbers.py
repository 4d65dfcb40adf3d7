"""Places where a picture said something else than its numbers, or nothing at all."""

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure

from mercer import (
    PCA,
    BiplotDisplay,
    ContributionDisplay,
    KernelPCA,
    NoveltyDetector,
    NoveltyDisplay,
    PairsDisplay,
    ScoresDisplay,
    ScreeDisplay,
    SpectrumDisplay,
)
from mercer_old.errors import BadData, WrongUse
from mercer_old.readings.regions import region
from plotting.conftest import GROUPS, ROWS, drawn, model, shown
from plotting.test_points_and_labels import boxes_of, overlapping

NUMBERS = np.random.default_rng(5).normal(size=40)


def bars_of_colour(display):
    return [ax for ax in display.figure_.findobj(mpl.axes.Axes) if getattr(ax, "_colorbar", None)]


# ---------------------------------------------------------------------- colours and numbers of axes


def test_lines_between_neighbours_have_the_colours_of_their_distances():
    display = shown("neighborhood")
    (lines,) = [one for one in display.ax_.collections if isinstance(one, mpl.collections.LineCollection)]
    display.figure_.draw_without_rendering()
    lines.update_scalarmappable()
    expected = mpl.colormaps["cividis"](lines.norm(display.distances.ravel()))
    np.testing.assert_allclose(lines.get_colors()[:, :3], expected[:, :3])


@pytest.mark.parametrize("kind", ["scores", "biplot", "pairs", "neighborhood"])
def test_labels_that_are_numbers_have_a_scale_of_colours(kind):
    without, numbered = (len(bars_of_colour(drawn(kind, y=y))) for y in (GROUPS, NUMBERS))
    assert numbered == without + 1
    left = Figure().subplots()
    assert bars_of_colour(drawn(kind, y=NUMBERS, ax=left))


def test_numbers_at_the_edge_of_pairs_hold_for_all_panels_of_a_line():
    panels = PairsDisplay.from_estimator(model("pca"), ROWS, GROUPS, components=(0, 1, 2)).ax_
    for j in range(3):
        assert len({one.get_xlim() for one in panels[:, j]}) == 1
        assert len({panels[j, i].get_ylim() for i in range(3) if i != j}) == 1
        assert panels[0, j].get_xlim()[0] < panels[j, j].collections[0].get_datalim(panels[j, j].transData).x0 + 1e-9


@pytest.mark.parametrize(("theme", "scale"), [("light", "cividis_r"), ("dark", "cividis")])
def test_strong_arrows_stand_out_from_the_paper(theme, scale):
    display = drawn("biplot", colour="cos2", theme=theme)
    arrow = next(text.arrow_patch for text in display.ax_.texts if getattr(text, "arrow_patch", None))
    assert arrow.get_edgecolor() == pytest.approx(mpl.colormaps[scale](float(display.cos2[display.shown_[0]])))


def test_a_bound_at_rounding_leaves_the_eigenvalues_their_room():
    display = SpectrumDisplay([4.0, 2.0, 1.0], beyond=1e-23).plot()
    assert display.ax_.get_ylim()[0] > 0.1
    assert "below 1e-23" in display.notes_[-1]
    assert len(SpectrumDisplay([4.0, 2.0], beyond=1.0).plot().ax_.lines) == 1


def test_rules_that_keep_more_than_is_drawn_share_one_mark():
    said = ScreeDisplay.from_estimator(model("pca"), ROWS).suggestion
    display = ScreeDisplay(model("pca").explained_variance_ratio_, suggestion=said).plot(most=1)
    beyond = sorted({one.k for one in said.opinions if one.k})
    words = {text.get_text() for text in display.ax_.texts}
    assert len(beyond) > 1
    assert f"{beyond[0]}–{beyond[-1]}" in words
    assert len({text.get_window_extent().x0 for text in display.ax_.texts if "–" in text.get_text()[:4]}) == 1
    assert not {str(k) for k in beyond} & words


# ---------------------------------------------------------------------- words


def test_probabilities_have_all_their_digits():
    assert "at 99.9 %." in drawn("scores", ellipse="confidence", level=0.999).notes_[0]
    detector = NoveltyDetector(PCA(2), alpha=0.005).fit(np.random.default_rng(0).normal(size=(900, 4)))
    assert "0.5 % at most" in NoveltyDisplay.from_estimator(detector, ROWS[:, :4]).notes_[0]


def test_columns_that_were_named_are_not_called_the_longest():
    assert drawn("circle", features=["x1"]).notes_ == ["1 of 5 columns."]
    assert drawn("circle", n=2).notes_ == ["2 of 5 columns, the longest arrows."]


def test_a_supplementary_column_that_does_not_vary_is_told_and_has_no_name_in_the_picture():
    display = drawn("circle", supplementary=np.column_stack([np.ones(40), NUMBERS]))
    assert "Without an arrow, as nothing varies: y0." in display.notes_
    assert "y0" not in {text.get_text() for text in display.ax_.texts}


def test_numbers_that_an_image_cannot_show_are_told(monkeypatch):
    for room in ("clouds", "scores"):
        monkeypatch.setattr(f"mercer_old.displays.{room}.MANY", 30)
    assert "the numbers y are not shown" in drawn("scores", y=NUMBERS).notes_[0]


def test_loadings_that_are_all_below_the_cutoff_are_told():
    assert drawn("loadings", cutoff=99.0).notes_ == ["No loading is of at least 99."]


def test_the_unit_of_the_axis_is_not_written_over_the_notes():
    display = ScoresDisplay(1e-9 * ROWS[:, :2], y=GROUPS).plot(ellipse="hull")
    display.figure_.draw_without_rendering()
    unit = display.ax_.yaxis.get_offset_text()
    assert unit.get_text()
    assert overlapping(boxes_of([unit, display._words])) == 0


@pytest.mark.parametrize("y", [GROUPS, NUMBERS])
def test_names_cover_neither_numbers_of_axes_nor_legends(y):
    names = [f"a rather long name {i}" for i in range(40)]
    display = drawn("scores", y=y, names=names)
    display.figure_.draw_without_rendering()
    ax = display.ax_
    legends = [one for one in (ax.get_legend(),) if one is not None]
    others = [display._words, ax.xaxis, ax.yaxis, *legends, *bars_of_colour(display)]
    written = boxes_of([text for text in ax.texts if text.get_text().startswith("a rather")])
    assert len(written) > 5
    for other in others:
        x0, y0, x1, y1 = other.get_tightbbox().extents
        apart = (written[:, 0] >= x1) | (written[:, 2] <= x0) | (written[:, 1] >= y1) | (written[:, 3] <= y0)
        assert apart.all()


# ---------------------------------------------------------------------- units, and what is asked wrongly


@pytest.mark.parametrize("kind", ["concentration", "confidence", "hull"])
@pytest.mark.parametrize("unit", [(1.0, 1e-8), (1e200, 1e200), (1e-200, 1e-200)])
def test_regions_are_the_same_in_any_units_of_the_axes(kind, unit):
    points = np.random.default_rng(0).normal(size=(20, 2))
    np.testing.assert_allclose(region(points * unit, kind) / unit, region(points, kind), atol=1e-9)


def test_densities_are_drawn_in_any_unit():
    for unit in (1e-200, 1e200):
        display = ScoresDisplay(unit * ROWS[:, :2], y=GROUPS).plot(marginals=True)
        assert all(len(panel.collections) == 3 for panel in display.ax_.child_axes)
        assert all(one.get_paths()[0].vertices.size for one in display.ax_.child_axes[0].collections)


def test_names_of_rows_may_be_arrays():
    names = np.array([f"r{i}" for i in range(40)])
    display = ContributionDisplay.from_estimator(model("pca"), ROWS, of="rows", names=names)
    assert display.names == names.tolist()


@pytest.mark.parametrize(
    ("kind", "options", "sentence"),
    [
        ("scree", {"most": 0}, "most must be a whole number of at least 1, or None for all; got 0"),
        ("scree", {"most": "a"}, "most must be a whole number"),
        ("field", {"resolution": 1}, "resolution must be a whole number of at least 2; got 1"),
        ("field", {"resolution": 2.5}, "resolution must be a whole number"),
        ("contribution", {"components": []}, "components is empty: name one at least, as 4 components were fitted"),
        ("metadata", {"components": []}, "components is empty"),
        ("metadata", {"metadata": {}}, "metadata has no column"),
        ("scores", {"ellipse": "hull", "level": "a"}, "level is a probability between 0 and 1; got 'a'"),
        ("biplot", {"features": 3}, "There is no column 3"),
    ],
)
def test_what_is_asked_wrongly_is_one_sentence(kind, options, sentence):
    with pytest.raises((ValueError, WrongUse), match=sentence):
        drawn(kind, **options)


def test_two_columns_of_one_name_are_refused():
    pandas = pytest.importorskip("pandas")
    with pytest.raises(BadData, match="metadata has two columns of the name 'a'"):
        drawn("metadata", metadata=pandas.DataFrame(ROWS[:, :2], columns=["a", "a"]))


def test_one_component_has_no_plane():
    with pytest.raises(ValueError, match="takes 2 components, and 1 component was fitted"):
        ScoresDisplay.from_estimator(PCA(1).fit(ROWS), ROWS)


def test_more_arrows_than_colours_are_refused():
    rows = np.random.default_rng(0).normal(size=(30, 12))
    with pytest.raises(ValueError, match="Arrows of 10 columns can be told apart by their colours; got 11"):
        BiplotDisplay.from_estimator(
            KernelPCA(2, kernel="rbf").fit(rows), features=[f"x{i}" for i in range(11)], regions=2
        )


@pytest.mark.parametrize("dpi", [0, -3, 100_000, "a", True])
def test_pictures_beyond_all_memory_are_refused(dpi, tmp_path):
    with pytest.raises(ValueError, match="dpi is a number from 1 to"):
        shown("scree").save(tmp_path / "a.png", dpi)
    assert not list(tmp_path.iterdir())


def test_pixels_are_not_made_anew_for_every_name(monkeypatch):
    """A renderer of a large picture is hundreds of megabytes."""
    from matplotlib.backends import backend_agg

    made, plain = [], backend_agg.RendererAgg.__init__
    monkeypatch.setattr(
        backend_agg.RendererAgg, "__init__", lambda self, *sides: made.append(sides) or plain(self, *sides)
    )
    for ax in (None, Figure().subplots()):
        before = None if ax is None else ax.figure.canvas
        counts = []
        for n in (5, 40):
            made.clear()
            ScoresDisplay(ROWS[:n, :2], names=[f"r{i}" for i in range(n)]).plot(ax=ax)
            counts.append(len(made))
        assert counts[1] <= counts[0]
        assert ax is None or ax.figure.canvas is before
