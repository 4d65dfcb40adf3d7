"""What people have asked of the plots of other tools, a test for each."""

from decimal import Decimal

import matplotlib as mpl
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from mercer import (
    PCA,
    BiplotDisplay,
    CircleDisplay,
    KernelPCA,
    LoadingsDisplay,
    NeighborhoodDisplay,
    ScoresDisplay,
    ScreeDisplay,
    open_rows,
)
from mercer.kernels import TableKernel
from mercer_old.displays.along import first_label
from mercer_old.displays.names import place_names
from mercer_old.displays.palette import Groups
from mercer_old.errors import BadData, WrongUse
from mercer_old.readings.regions import region
from plotting.conftest import COLUMNS, GROUPS, ROWS, drawn, model, shown

SCORES = model("pca").transform(ROWS)[:, :2]


def fills(ax):
    """Regions: filled polygons of their own."""
    return [patch.get_xy() for patch in ax.patches if isinstance(patch, mpl.patches.Polygon)]


def arrows(ax):
    """Tips and beginnings of arrows, in data coordinates."""
    drawn_arrows = [one for one in ax.texts if isinstance(one, mpl.text.Annotation) and one.arrow_patch is not None]
    return np.array([one.xy for one in drawn_arrows]), np.array([one.get_position() for one in drawn_arrows])


def inside(ax, points):
    (left, right), (low, high) = ax.get_xlim(), ax.get_ylim()
    x, y = np.asarray(points).T
    return bool(((x >= left) & (x <= right) & (y >= low) & (y <= high)).all())


# ---------------------------------------------------------------------- scores


@pytest.mark.parametrize(("name", "prefix"), [("pca", "PC"), ("kpca", "kernel PC")])
def test_percentages_stand_in_the_labels_of_the_axes(name, prefix):
    display = ScoresDisplay.from_estimator(model(name), ROWS, components=(0, 2))
    shares = 100 * model(name).explained_variance_ratio_
    assert display.ax_.get_xlabel() == f"{prefix}1 ({shares[0]:.1f} %)"
    assert display.ax_.get_ylabel() == f"{prefix}3 ({shares[2]:.1f} %)"


def test_locally_linear_embedding_has_no_percentages():
    for display in (ScoresDisplay.from_estimator(model("lle")), NeighborhoodDisplay.from_estimator(model("lle"))):
        assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("LLE 1", "LLE 2")


def test_new_rows_are_drawn_apart_at_their_places():
    new = ROWS[:3] + 1.0
    display = drawn("scores", new=new)
    stars = [one for one in display.ax_.collections if len(one.get_offsets()) == 3][-1]
    np.testing.assert_allclose(stars.get_offsets(), model("pca").transform(new)[:, :2])
    assert display.ax_.get_legend().get_texts()[-1].get_text() == "new"


def test_ellipses_are_not_cut_by_the_axes():
    few = np.r_[SCORES[:5], [[30.0, -30.0]]]
    for kind in ("concentration", "confidence", "hull"):
        display = ScoresDisplay(few).plot(ellipse=kind)
        assert inside(display.ax_, fills(display.ax_)[0])


def test_ellipses_are_drawn_for_no_wrong_group():
    groups = GROUPS.copy()
    groups[groups == "birch"] = np.r_[["birch"] * 2, ["cedar"] * 12]
    display = ScoresDisplay(SCORES, y=groups).plot(ellipse="confidence")
    expected = [region(SCORES[groups == name], "confidence") for name in ("ash", "cedar")]
    for outline, right in zip(fills(display.ax_), expected, strict=True):
        np.testing.assert_allclose(outline[: len(right)], right)
    assert "fewer than 4 points or all on a line: birch." in display.notes_[-1]


@pytest.mark.parametrize("no", [False, None])
def test_no_ellipse_is_drawn_if_none_is_asked_for(no):
    assert fills(drawn("scores", ellipse=no).ax_) == []


def test_ellipses_of_concentration_and_of_confidence_are_told_apart():
    wide, narrow = (drawn("scores", ellipse=kind) for kind in ("concentration", "confidence"))
    assert "new rows" in wide.notes_[0]
    assert "centroid" in narrow.notes_[0]
    for (name, _, rows), large, small in zip(wide.groups, fills(wide.ax_), fills(narrow.ax_), strict=True):
        np.testing.assert_allclose(np.ptp(large, axis=0) / np.ptp(small, axis=0), np.sqrt(len(rows) + 1), err_msg=name)
    with pytest.raises(ValueError, match="ellipse must be concentration, confidence or hull"):
        drawn("scores", ellipse="t")


def test_one_ellipse_without_groups_shows_outliers():
    rows = np.r_[SCORES, [[40.0, 40.0]]]
    display = ScoresDisplay(rows).plot(ellipse="concentration")
    (outline,) = fills(display.ax_)
    outside = ~mpl.path.Path(outline).contains_points(rows)
    assert outside[-1]


def test_marginal_densities_stand_above_and_beside():
    display = drawn("scores", marginals=True)
    above, beside = display.ax_.child_axes
    assert len(above.collections) == len(beside.collections) == 3
    assert above.get_shared_x_axes().joined(above, display.ax_)
    assert beside.get_shared_y_axes().joined(beside, display.ax_)


def boxes_of(texts):
    return np.array([text.get_window_extent().extents for text in texts])


def overlapping(boxes):
    count = 0
    for i, one in enumerate(boxes):
        apart = (boxes[i + 1 :, 0] >= one[2]) | (boxes[i + 1 :, 2] <= one[0])
        apart |= (boxes[i + 1 :, 1] >= one[3]) | (boxes[i + 1 :, 3] <= one[1])
        count += int((~apart).sum())
    return count


def test_names_do_not_overlap_and_those_without_room_are_counted():
    points = np.random.default_rng(0).normal(size=(150, 2))
    names = [f"a long name {i}" for i in range(150)]
    display = ScoresDisplay(points, names=names).plot()
    display.figure_.draw_without_rendering()
    shown = [text for text in display.ax_.texts if text.get_text().startswith("a long name")]
    assert 20 < len(shown) < 150
    assert overlapping(boxes_of(shown)) == 0
    assert f"{150 - len(shown)} names of 150 found no room." in display.notes_


def test_all_names_are_written_where_there_is_room():
    display = ScoresDisplay(SCORES[:12], names=list("abcdefghijkl")).plot()
    assert {text.get_text() for text in display.ax_.texts} >= set("abcdefghijkl")
    assert not [note for note in display.notes_ if "no room" in note]


def test_names_at_one_point_find_places_around_it():
    figure = mpl.figure.Figure()
    ax = figure.subplots()
    texts, left = place_names(ax, np.zeros((60, 2)), [f"n{i}" for i in range(60)], colour="k")
    assert left == 60 - len(texts)
    assert len(texts) >= 8
    assert overlapping(boxes_of(texts)) == 0


def test_points_beyond_many_become_an_image_of_their_density(monkeypatch):
    from mercer_old.displays import clouds

    monkeypatch.setattr(clouds, "MANY", 30)
    for y in (None, GROUPS):
        display = ScoresDisplay(SCORES, y=y).plot()
        (image,) = display.ax_.images
        assert not display.ax_.collections
        seen = np.asarray(image.get_array())
        assert ((seen if seen.ndim == 2 else seen[..., 3]) > 0).sum() <= len(SCORES)


# ---------------------------------------------------------------------- loadings


def test_there_are_more_than_five_panels_of_loadings_and_more_than_thirty_components():
    rows = np.random.default_rng(0).normal(size=(50, 40))
    fitted = PCA(35).fit(rows)
    display = LoadingsDisplay.from_estimator(fitted, components=range(7), n=3)
    assert [len(ax.patches) for ax in display.ax_.flat][:7] == [3] * 7
    beyond = LoadingsDisplay.from_estimator(fitted, components=[33], n=2)
    np.testing.assert_allclose(beyond.loadings[:, 0], fitted.loadings_[:, 33])
    assert len(ScreeDisplay.from_estimator(fitted, rules=False).ax_.patches) == 35


def test_loadings_have_their_signs_and_the_largest_come_first():
    display = drawn("loadings", n=3)
    values = model("pca").loadings_
    for j, ax in enumerate(display.ax_.flat):
        order = np.argsort(-np.abs(values[:, j]))[:3]
        np.testing.assert_allclose([bar.get_width() for bar in ax.patches], values[order, j])
        assert [label.get_text() for label in ax.get_yticklabels()] == [f"x{i}" for i in order]


def test_loadings_below_a_cutoff_are_left_out():
    display = drawn("loadings", cutoff=0.5, n=None)
    for j, ax in enumerate(display.ax_.flat):
        assert len(ax.patches) == int((np.abs(model("pca").loadings_[:, j]) >= 0.5).sum())


def test_features_are_chosen_by_name():
    for kind in ("loadings", "biplot", "circle"):
        display = drawn(kind, features=["age", "width"], feature_names=COLUMNS)
        shown = display.shown_[0] if kind == "loadings" else display.shown_
        assert shown == [4, 1]
        with pytest.raises(WrongUse, match="There is no column 'colour'; there are"):
            drawn(kind, features=["colour"], feature_names=COLUMNS)


# ---------------------------------------------------------------------- biplots


def test_a_biplot_has_points_and_arrows():
    display = shown("biplot")
    np.testing.assert_allclose(display.ax_.collections[0].get_offsets(), SCORES)
    tips, starts = arrows(display.ax_)
    axes = model("pca").components_.T[display.shown_][:, :2]
    np.testing.assert_allclose(tips, display.factor_ * axes)
    assert not starts.any()


def test_the_scale_of_the_arrows_is_said_and_stands_on_axes_of_their_own():
    display = shown("biplot")
    assert f"drawn {display.factor_:.3g} times as long" in display.notes_[-1]
    display.figure_.draw_without_rendering()
    top, right = display.ax_.child_axes
    np.testing.assert_allclose(np.array(display.ax_.get_xlim()) / display.factor_, top.get_xlim())
    np.testing.assert_allclose(np.array(display.ax_.get_ylim()) / display.factor_, right.get_ylim())


@pytest.mark.parametrize("n", [1, 3, None])
def test_the_number_of_arrows_is_kept_to(n):
    assert len(arrows(drawn("biplot", n=n).ax_)[0]) == (n or 5)
    assert len(arrows(drawn("circle", n=n).ax_)[0]) == (n or 5)


def test_arrows_outside_of_the_points_are_not_dropped():
    scores, far = np.random.default_rng(0).normal(size=(20, 2)), np.array([[100.0, 1.0], [-3.0, 80.0]])
    display = BiplotDisplay(scores, far).plot(n=None)
    tips, _ = arrows(display.ax_)
    assert len(tips) == 2
    display.figure_.draw_without_rendering()
    assert inside(display.ax_, tips)


def test_distance_and_correlation_scaling_keep_what_they_say():
    """Of all components together: distances of rows, and correlations as cosines of angles between arrows."""
    rows = np.random.default_rng(1).normal(size=(30, 2)) @ np.array([[2.0, 0.5], [0.0, 1.0]])
    fitted = PCA(2, standardize=True).fit(rows)
    far = BiplotDisplay.from_estimator(fitted, rows, scaling="distance", features=[])
    z = (rows - rows.mean(axis=0)) / rows.std(axis=0, ddof=1)
    np.testing.assert_allclose(np.linalg.norm(far.scores[0] - far.scores[1]), np.linalg.norm(z[0] - z[1]))
    angle = BiplotDisplay.from_estimator(fitted, rows, scaling="correlation", features=[])
    np.testing.assert_allclose(angle.scores.std(axis=0, ddof=1), 1.0)
    a, b = angle.arrows[0]
    cosine = a @ b / np.linalg.norm(a) / np.linalg.norm(b)
    np.testing.assert_allclose(cosine, np.corrcoef(rows.T)[0, 1])
    for display in (far, angle):  # whichever it is, their product is the data
        np.testing.assert_allclose(display.scores @ display.arrows[0].T, z, atol=1e-10)
    with pytest.raises(ValueError, match="scaling must be distance or correlation"):
        drawn("biplot", scaling="row")


@pytest.mark.parametrize("scaling", ["distance", "correlation"])
def test_whitening_changes_no_biplot(scaling):
    plain, white = (PCA(2, whiten=white).fit(ROWS) for white in (False, True))
    one, other = (BiplotDisplay.from_estimator(fitted, ROWS, scaling=scaling, features=[]) for fitted in (plain, white))
    np.testing.assert_allclose(one.scores, other.scores, atol=1e-9)
    np.testing.assert_allclose(one.arrows, other.arrows, atol=1e-9)


def test_points_and_arrows_have_styles_of_their_own_and_colours_by_cos2():
    display = drawn("biplot", points={"s": 77}, arrows={"lw": 3.5}, colour="cos2")
    assert display.ax_.collections[0].get_sizes()[0] == 77
    patches = [text.arrow_patch for text in display.ax_.texts if getattr(text, "arrow_patch", None)]
    assert {patch.get_linewidth() for patch in patches} == {3.5}
    scale = mpl.colormaps["cividis_r"]  # on light paper the darkest is the strongest
    for i, patch in zip(display.shown_, patches, strict=True):
        assert patch.get_edgecolor() == pytest.approx(scale(float(display.cos2[i])))
    assert "share of a column that the plane shows" in display.notes_[-1]


def test_what_colours_and_numbers_of_arrows_mean_is_said():
    assert "the axes V" in shown("biplot").notes_[-1]
    assert "the loadings" in drawn("biplot", scaling="correlation").notes_[-1]
    assert "one standard deviation" in BiplotDisplay.from_estimator(model("kpca")).notes_[-1]


def test_arrows_of_a_kernel_biplot_are_gradients_at_their_regions():
    from mercer import influence

    display = BiplotDisplay.from_estimator(model("kpca"), ROWS, regions=2)
    cells = influence(model("kpca"), ROWS, per_row=True).arrows((0, 1), 2)
    there = cells.counts >= 3
    np.testing.assert_allclose(display.arrows, cells.arrows[there])
    tips, starts = arrows(display.ax_)
    assert len(tips) == there.sum() * 5
    np.testing.assert_allclose(starts[::5], cells.places[there])
    np.testing.assert_allclose(tips - starts, display.factor_ * display.arrows[:, display.shown_].reshape(-1, 2))


# ---------------------------------------------------------------------- circles, supplementary columns, mixed data


@pytest.mark.parametrize("size", [(9, 3), (3, 9), None])
def test_the_circle_is_round(size):
    display = drawn("circle", size=size)
    display.figure_.draw_without_rendering()
    corner, other = display.ax_.transData.transform([[0.0, 0.0], [1.0, 1.0]])
    assert abs((other - corner)[0] - (other - corner)[1]) < 0.5


def test_supplementary_columns_are_drawn_with_their_correlations():
    other = np.random.default_rng(2).normal(size=40) + ROWS[:, 0]
    display = drawn("circle", supplementary=other)
    expected = [np.corrcoef(other, SCORES[:, j])[0, 1] for j in (0, 1)]
    np.testing.assert_allclose(display.supplementary[0], expected)
    tips, _ = arrows(display.ax_)
    np.testing.assert_allclose(tips[-1], expected)
    assert "supplementary" in display.notes_[-1]
    np.testing.assert_allclose(display.correlations[:, 0], [np.corrcoef(c, SCORES[:, 0])[0, 1] for c in ROWS.T])


def test_scores_of_mixed_data_say_what_they_are():
    frame = {"tree": GROUPS.tolist(), "size": ROWS[:, 0]}
    fitted = KernelPCA(2, kernel=TableKernel.auto(frame)).fit(frame)
    display = ScoresDisplay.from_estimator(fitted, frame, GROUPS)
    assert display.ax_.get_xlabel().startswith("kernel PC1 (")
    with pytest.raises(BadData, match="no columns of numbers"):
        CircleDisplay.from_estimator(fitted, frame)


# ---------------------------------------------------------------------- scree


def test_a_scree_has_each_component_their_sum_and_every_rule():
    from mercer import suggest

    display = drawn("scree", rules=True)
    shares = model("pca").explained_variance_ratio_
    np.testing.assert_allclose([bar.get_height() for bar in display.ax_.patches], 100 * shares)
    lines = {tuple(line.get_ydata()) for line in display.ax_.lines}
    assert tuple(100 * np.cumsum(shares)) in lines
    said = suggest(model("pca"), ROWS)
    assert said.consensus in display.notes_
    legend = " ".join(" ".join(text.get_text().split()) for text in display.ax_.get_legend().get_texts())
    for opinion in said.opinions:
        if opinion.k is not None:
            assert opinion.rule in legend.replace("- ", "-"), opinion.rule
    marks = {line.get_xdata()[0] for line in display.ax_.lines if len(set(line.get_xdata())) == 1}
    assert marks == {min(one.k, 4) + 0.5 for one in said.opinions if one.k is not None}


@pytest.mark.parametrize("landmarks", [None, 12])
def test_shares_lie_in_the_intervals_of_the_certificate(landmarks):
    how = {} if landmarks is None else {"eigen_solver": "landmark", "n_landmarks": landmarks}
    fitted = KernelPCA(3, kernel="rbf", gamma=0.1, **how).fit(ROWS)
    display = ScreeDisplay.from_estimator(fitted, rules=False)
    exact = KernelPCA(3, kernel="rbf", gamma=0.1).fit(ROWS)
    assert (display.lower <= display.shares * (1 + 1e-9)).all()
    assert (display.shares <= display.upper * (1 + 1e-9)).all()
    unit = exact.eigenvalues_ / fitted.eigenvalues_ * display.shares  # true eigenvalues in the unit of the shares
    assert (display.lower <= unit * (1 + 1e-9)).all()
    assert (unit <= display.upper * (1 + 1e-9)).all()


def test_labels_of_a_file_that_are_decimals_are_numbers(tmp_path):
    prices = [Decimal(i) + Decimal("0.25") for i in range(30)]
    columns = {"a": np.arange(30.0), "b": np.arange(30.0) ** 2, "price": pa.array(prices, pa.decimal128(8, 2))}
    pq.write_table(pa.table(columns), tmp_path / "x.parquet")
    rows = open_rows(tmp_path / "x.parquet", label="price")
    np.testing.assert_allclose(Groups.of(first_label(rows), 30).values, np.arange(30) + 0.25)


def test_arrows_that_are_as_long_as_they_are_need_no_word():
    display = shown("biplot")
    length, display.factor_ = display.factor_, 1.0
    try:
        assert "times as long" not in display._notes(None)[-1]
    finally:
        display.factor_ = length
