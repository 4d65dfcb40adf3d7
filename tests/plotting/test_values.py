"""What stands on the axes is what was computed, and what was computed is right by an outside oracle."""

import matplotlib as mpl
import numpy as np
import pytest
from scipy import stats

from mercer import (
    PCA,
    ContributionDisplay,
    KernelPCA,
    LocallyLinearEmbedding,
    MetadataDisplay,
    NeighborhoodDisplay,
    NoveltyDetector,
    NoveltyDisplay,
    PairsDisplay,
    PreimageDisplay,
    ReconstructionDisplay,
    SpectrumDisplay,
    contributions,
)
from mercer_old.displays.palette import _TEN, Groups, styles
from mercer_old.displays.pictures import check_shape, mosaic
from mercer_old.errors import BadData, MercerWarning
from mercer_old.readings.metadata import adjusted, associations
from mercer_old.readings.regions import region
from plotting.conftest import GROUPS, IMAGES, METADATA, ROWS, drawn, model, shown

# ---------------------------------------------------------------------- regions


@pytest.mark.parametrize("n", [5, 12])
def test_ellipses_cover_as_often_as_they_say(n):
    """A new row by the ellipse of concentration, the true centroid by that of confidence, in 90 % of draws."""
    rng, draws = np.random.default_rng(0), 900
    turn = np.array([[2.0, 0.4], [0.0, 0.5]])
    hits = {"concentration": 0, "confidence": 0}
    for _ in range(draws):
        points = rng.normal(size=(n, 2)) @ turn
        targets = {"concentration": rng.normal(size=2) @ turn, "confidence": np.zeros(2)}
        for kind, target in targets.items():
            hits[kind] += mpl.path.Path(region(points, kind, 0.9)).contains_point(target)
    for count in hits.values():  # four standard deviations of a share, and what corners cut off
        assert abs(count / draws - 0.9) < 4 * np.sqrt(0.09 / draws) + 0.002


def test_hulls_hold_all_points_and_have_no_others_for_corners():
    points = np.random.default_rng(0).normal(size=(40, 2))
    outline = region(points, "hull")
    edges = np.diff(outline, axis=0)
    for corner, edge in zip(outline[:-1], edges, strict=True):  # all lie at the left of every edge
        across = edge[0] * (points[:, 1] - corner[1]) - edge[1] * (points[:, 0] - corner[0])
        assert across.min() > -1e-12
    assert {tuple(corner) for corner in outline} <= {tuple(point) for point in points}


@pytest.mark.parametrize("kind", ["concentration", "confidence", "hull"])
def test_points_on_a_line_and_too_few_have_no_region(kind):
    assert region(np.column_stack([np.arange(9.0), 2 * np.arange(9.0)]), kind) is None
    assert region(np.zeros((9, 2)), kind) is None
    assert region(np.eye(2), kind) is None


# ---------------------------------------------------------------------- metadata


def test_associations_are_those_of_scipy():
    scores = np.random.default_rng(0).normal(size=(40, 3)) + (GROUPS == "ash")[:, None]
    found = associations(scores, METADATA)
    for j in range(3):
        r = stats.pearsonr(scores[:, j], METADATA["size"])
        np.testing.assert_allclose([found.values[j, 1], found.p_values[j, 1]], [r.statistic, r.pvalue])
        groups = [scores[name == GROUPS, j] for name in np.unique(GROUPS)]
        f = stats.f_oneway(*groups)
        np.testing.assert_allclose(found.p_values[j, 0], f.pvalue)
        within = sum(((group - group.mean()) ** 2).sum() for group in groups)
        np.testing.assert_allclose(found.values[j, 0], 1 - within / ((scores[:, j] - scores[:, j].mean()) ** 2).sum())
    np.testing.assert_allclose(found.adjusted_p.ravel(), stats.false_discovery_control(found.p_values.ravel()))
    assert found.of_classes == [True, False]


def test_gaps_and_constants_in_metadata_are_left_out_or_told():
    gaps = METADATA["size"].astype(object)
    gaps[:5] = None
    found = associations(ROWS, {"gaps": gaps, "same": np.ones(40)})
    assert found.used == [35, 40]
    np.testing.assert_allclose(found.values[0, 0], np.corrcoef(ROWS[5:, 0], METADATA["size"][5:])[0, 1])
    assert np.isnan(found.values[:, 1]).all()
    np.testing.assert_allclose(found.adjusted_p[:, 0], stats.false_discovery_control(found.p_values[:, 0]))
    display = MetadataDisplay(found).plot()
    assert any("Nothing is known of same: no two values" in note for note in display.notes_)
    with pytest.raises(BadData, match="'short' has 3 values, and there are 40 rows"):
        associations(ROWS, {"short": [1, 2, 3]})


def test_holm_is_never_below_what_it_adjusts():
    p = np.random.default_rng(0).uniform(size=20)
    order, holm = np.argsort(p), adjusted(p, "holm")
    steps = [min(1.0, (20 - i) * p[k]) for i, k in enumerate(order)]
    np.testing.assert_allclose(holm[order], np.maximum.accumulate(steps))


def test_stars_are_those_of_adjusted_p_values():
    display = shown("metadata")
    for star, p in zip(display.stars.ravel(), display.adjusted_p.ravel(), strict=True):
        assert len(star) == sum(p < level for level in (0.05, 0.01, 0.001))
    written = [text.get_text() for text in display.ax_.texts][: display.values.size]
    assert written[0].startswith(f"{display.values[0, 0]:.2f}")


# ---------------------------------------------------------------------- other displays


@pytest.mark.parametrize("name", ["pca", "kpca"])
def test_errors_of_reconstruction_are_those_of_the_way_back(name):
    fitted = model(name)
    shares = ReconstructionDisplay.from_estimator(fitted, ROWS).shares["rows of the fit"]
    np.testing.assert_allclose(shares, np.r_[1.0, 1 - np.cumsum(fitted.explained_variance_ratio_)], atol=1e-9)
    np.testing.assert_allclose(
        ReconstructionDisplay.from_estimator(fitted).shares["rows of the fit"], shares, atol=1e-9
    )
    if name == "pca":
        new, scale = ROWS[::-1] + 1.0, fitted.scale_
        errors = ReconstructionDisplay.from_estimator(fitted, new=new).errors["rows held out"]
        for k in range(5):
            scores = fitted.transform(new)
            scores[:, k:] = 0.0
            left = (new - fitted.inverse_transform(scores)) / scale
            np.testing.assert_allclose(errors[k], (left**2).sum(axis=1).mean())


@pytest.mark.parametrize("name", ["pca", "kpca", "lle"])
def test_eigenvalues_lie_in_their_intervals(name):
    display = SpectrumDisplay.from_estimator(model(name))
    slack = 1e-9 * display.values.max()
    assert (display.lower <= display.values + slack).all()
    assert (display.values <= display.upper + slack).all()
    np.testing.assert_allclose(display.ax_.collections[-2].get_offsets()[:, 1], display.values)


def test_spectrum_of_parts_says_that_it_is_of_one():
    rows = np.r_[ROWS, ROWS + 1e3]
    with pytest.warns(MercerWarning, match="falls apart into 2 parts"):
        fitted = LocallyLinearEmbedding(n_neighbors=8, on_disconnected="separate").fit(rows)
    assert "largest of 2 parts" in SpectrumDisplay.from_estimator(fitted).notes_[0]


def test_spectrum_and_neighbourhoods_by_landmarks_say_whose_they_are():
    fitted = LocallyLinearEmbedding(n_neighbors=8, n_landmarks=len(ROWS) - 5).fit(ROWS)
    display = SpectrumDisplay.from_estimator(fitted)
    assert display.notes_[0] == f"Of {len(ROWS) - 5} landmarks; all other rows were placed between them."
    np.testing.assert_array_equal(display.values, fitted.certificate_.landmarks.values)
    assert (display.lower <= display.values).all() and display.beyond == fitted.certificate_.landmarks.bound_beyond
    assert "The graph of the landmarks has" in NeighborhoodDisplay.from_estimator(fitted).notes_[0]
    rows = np.r_[ROWS, ROWS + 1e3]
    with pytest.warns(MercerWarning, match="falls apart into 2 parts"):
        fitted = LocallyLinearEmbedding(n_neighbors=8, n_landmarks=len(rows) - 5, on_disconnected="separate").fit(rows)
    assert f"largest of 2 parts of {len(rows) - 5} landmarks" in SpectrumDisplay.from_estimator(fitted).notes_[0]


@pytest.mark.parametrize(("kind", "of"), [("contribution", "features"), ("contribution", "rows"), ("cos2", "rows")])
def test_bars_of_contributions_are_contributions(kind, of):
    found = contributions(model("pca"), ROWS)
    tables = {"contribution": {"features": found.columns, "rows": found.rows}, "cos2": {"rows": found.cos2}}
    values = tables[kind][of][:, 1]
    display = ContributionDisplay.from_estimator(model("pca"), ROWS, kind=kind, of=of, components=1, n=4)
    unit = 100 if kind == "contribution" else 1
    widths = [bar.get_width() for bar in display.ax_.patches]
    np.testing.assert_allclose(widths, unit * np.sort(values)[::-1][:4])
    if kind == "contribution":
        np.testing.assert_allclose(display.expected, 1 / len(values))
        assert any(np.allclose(line.get_xdata(), 100 / len(values)) for line in display.ax_.lines)
    with pytest.raises(ValueError, match="of kernel PCA ask LoadingsDisplay"):
        ContributionDisplay.from_estimator(model("kpca"), ROWS)


def test_novel_rows_lie_beyond_the_limits():
    rng = np.random.default_rng(0)
    usual, new = rng.normal(size=(300, 4)), np.r_[rng.normal(size=(50, 4)), 9 + rng.normal(size=(5, 4))]
    for statistic in ("reconstruction", "t2", "t2q"):
        detector = NoveltyDetector(PCA(2), statistic=statistic).fit(usual)
        display = NoveltyDisplay.from_estimator(detector, new)
        if statistic == "t2q":
            a, b, c = display.slope
            beyond = a * display.t2 + b * display.q > c
        else:
            beyond = display.q > display.q_limit if statistic == "reconstruction" else display.t2 > display.t2_limit
        np.testing.assert_array_equal(beyond, display.novel)
        np.testing.assert_array_equal(display.novel, detector.predict(new) < 0)
    both = NoveltyDisplay.from_estimator(detector, new, calibration=rng.normal(size=(400, 4)))
    np.testing.assert_array_equal(both.novel, (both.t2 > both.t2_limit) | (both.q > both.q_limit))
    assert both.novel[-5:].all()
    assert both.novel[:50].mean() < 0.25


def test_fields_are_scores_over_the_plane():
    display = drawn("field", features=(1, 3), components=(0, 2))
    i, j = 2, 5
    point = np.median(ROWS, axis=0)
    point[1], point[3] = display.x[j], display.y[i]
    np.testing.assert_allclose(display.values[:, i, j], model("kpca").transform(point[None])[0, [0, 2]], atol=1e-9)


def test_fields_are_the_same_a_line_at_a_time(monkeypatch):
    whole = drawn("field", components=(0, 1)).values
    monkeypatch.setattr("mercer_old.displays.field._AT_ONCE", 1)
    np.testing.assert_allclose(drawn("field", components=(0, 1)).values, whole, atol=1e-12)


def test_fields_of_standardised_rows_are_in_the_units_of_the_rows():
    for fitted in (PCA(2, standardize=True).fit(ROWS), KernelPCA(2, kernel="rbf", standardize=True).fit(ROWS)):
        display = type(shown("field")).from_estimator(fitted, ROWS, resolution=4)
        point = np.median(ROWS, axis=0)
        point[0], point[1] = display.x[3], display.y[0]
        np.testing.assert_allclose(display.values[:, 0, 3], fitted.transform(point[None])[0], atol=1e-9)


def test_preimages_are_rows_with_the_scores_of_their_place():
    display = shown("preimage")
    scores = model("pca").transform(display.rows)
    np.testing.assert_allclose(scores[:, 0], np.tile(display.x, 3), atol=1e-9)
    np.testing.assert_allclose(scores[:, 1], np.repeat(display.y, 3), atol=1e-9)
    np.testing.assert_allclose(scores[:, 2:], 0, atol=1e-9)


def test_preimages_of_kernels_need_no_other_fit_and_change_no_model():
    fitted = KernelPCA(3, kernel="rbf", gamma=0.1).fit(ROWS)
    display = PreimageDisplay.from_estimator(fitted, side=3)
    assert fitted.preimage is None
    assert display.rows.shape == (9, 5)


def test_pictures_are_drawn_where_rows_are_some():
    display = PreimageDisplay.from_estimator(model("images"), IMAGES, side=3)
    assert display.image_shape == (8, 8)
    picture = np.asarray(display.ax_.images[0].get_array())
    np.testing.assert_allclose(picture[-8:, :8], display.rows[0].reshape(8, 8))
    np.testing.assert_allclose(picture[:8, -8:], display.rows[-1].reshape(8, 8))
    first = shown("eigenimages").ax_.flat[1].images[0].get_array()
    np.testing.assert_allclose(first, model("images").components_[0].reshape(8, 8))
    assert check_shape(None, 63) is None
    with pytest.raises(BadData, match="3 × 5 is 15 pixels, and rows have 64 columns"):
        check_shape((3, 5), 64)
    np.testing.assert_array_equal(mosaic(np.ones((3, 1)), 2, (1, 1), 0.0), [[1, 0, 1], [0, 0, 0], [1, 0, 0]])


def test_edges_of_the_graph_are_neighbours():
    display = shown("neighborhood")
    (lines,) = [one for one in display.ax_.collections if isinstance(one, mpl.collections.LineCollection)]
    segments = np.array(lines.get_segments()).reshape(40, 8, 2, 2)
    np.testing.assert_allclose(segments[:, :, 0], np.repeat(display.places[:, None], 8, axis=1))
    np.testing.assert_allclose(segments[:, :, 1], display.places[display.neighbors])
    distances = np.linalg.norm(ROWS[:, None] - ROWS[display.neighbors], axis=2)
    np.testing.assert_allclose(display.distances, distances)
    np.testing.assert_allclose(np.sort(np.linalg.norm(ROWS[3] - ROWS, axis=1))[1:9], np.sort(distances[3]))


def test_pairs_are_those_of_the_scores():
    display = PairsDisplay.from_estimator(model("pca"), ROWS, components=(0, 2, 3))
    np.testing.assert_allclose(display.ax_[2, 1].collections[0].get_offsets(), model("pca").transform(ROWS)[:, [2, 3]])


# ---------------------------------------------------------------------- groups and colours


def test_pairs_of_colour_and_marker_are_distinct_up_to_seventy():
    for n in (1, 7, 8, 10, 30, 70):
        assert len({(style.colour, style.marker) for style in styles(n)}) == n
    assert len({style.colour for style in styles(7)}) == 7
    assert len({style.colour for style in styles(10)}) == 10


def test_ten_colours_are_those_of_petroff():
    assert list(_TEN) == [one["color"] for one in mpl.style.library["petroff10"]["axes.prop_cycle"]]


def test_labels_that_are_missing_are_told_apart():
    labels = GROUPS.astype(object)
    labels[:4] = None
    display = drawn("scores", y=labels)
    assert "4 rows without a label." in display.notes_
    words = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert words == ["ash", "birch", "cedar", "without a label"]
    numbers = drawn("scores", y=np.where(np.arange(40) < 4, np.nan, ROWS[:, 0]))
    assert numbers.groups.values is not None
    np.testing.assert_allclose(numbers.ax_.collections[0].get_array(), ROWS[4:, 0])
    with pytest.raises(BadData, match="one label for each of 40 rows"):
        drawn("scores", y=GROUPS[:7])


def test_of_many_groups_the_largest_have_a_colour():
    y = np.r_[np.repeat([f"g{i}" for i in range(40)], 2), ["g7"]]
    groups = Groups.of(y, len(y))
    assert len(groups.names) == 30
    assert groups.names[-1] == "11 others"
    assert sum(len(rows) for _, _, rows in groups) == len(y)
    assert "29 largest of 40" in groups.notes[0]


def test_images_of_many_rows_leave_out_none(monkeypatch):
    from mercer_old.displays import clouds

    monkeypatch.setattr(clouds, "MANY", 30)
    monkeypatch.setattr(clouds, "_PIXELS", 1)
    labels = GROUPS.astype(object)
    labels[:30] = None
    display = drawn("scores", y=labels)
    (image,) = display.ax_.images
    grey = mpl.colors.to_rgb("#8A8F98")
    np.testing.assert_allclose(image.get_array()[0, 0, :3], grey)  # most rows there have no label
    alone = drawn("scores", y=np.where(np.arange(40) < 30, np.nan, ROWS[:, 0]))
    assert alone.ax_.images[0].get_array()[0, 0] == pytest.approx(np.log1p(40))


@pytest.mark.parametrize("unit", [1e-150, 1e150])
def test_units_change_no_association(unit):
    usual, other = associations(ROWS, METADATA), associations(unit * ROWS, {"tree": GROUPS, "size": unit * ROWS[:, 0]})
    np.testing.assert_allclose(other.values, usual.values, atol=1e-12)
    np.testing.assert_allclose(other.p_values, usual.p_values, atol=1e-12)
