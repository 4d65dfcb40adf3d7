"""Associations with metadata and adjusted p-values, against scipy and the first edition."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.stats import f_oneway, false_discovery_control, pearsonr

from mercer.analysis.associations import adjust_p_values, associations
from mercer.analysis.labels import as_labels
from mercer.errors import DataError, ParameterError
from mercer_old.readings import metadata as first_edition

rng = np.random.default_rng(0)
SCORES = rng.normal(size=(40, 3))
FRAME = pd.DataFrame(
    {
        "age": SCORES[:, 0] + rng.normal(size=40),
        "group": rng.choice(["a", "b", "c"], 40),
        "constant": np.ones(40) * 2.5,
        "some": np.where(rng.uniform(size=40) < 0.3, None, rng.normal(size=40)),
    }
)


def test_values_are_those_of_scipy():
    found = associations(SCORES, FRAME)
    assert found.names == list(FRAME) and found.of_classes == [False, True, False, False]
    for j in range(3):
        r = pearsonr(SCORES[:, j], FRAME["age"])
        assert_allclose([found.values[j, 0], found.p_values[j, 0]], [r.statistic, r.pvalue], rtol=1e-9)
        groups = [SCORES[FRAME["group"] == name, j] for name in "abc"]
        assert_allclose(found.p_values[j, 1], f_oneway(*groups).pvalue, rtol=1e-9)
        within = sum(((group - group.mean()) ** 2).sum() for group in groups)
        assert_allclose(found.values[j, 1], 1 - within / ((SCORES[:, j] - SCORES[:, j].mean()) ** 2).sum(), rtol=1e-9)
        present = FRAME["some"].notna().to_numpy()
        r = pearsonr(SCORES[present, j], FRAME["some"][present].astype(float))
        assert_allclose([found.values[j, 3], found.p_values[j, 3]], [r.statistic, r.pvalue], rtol=1e-9)
    assert np.isnan(found.values[:, 2]).all() and found.n_used == [40, 40, 40, int(present.sum())]


@pytest.mark.parametrize("adjust", ["fdr", "holm", "none"])
def test_results_are_those_of_the_first_edition(adjust):
    for metadata in (FRAME, FRAME.to_dict("list"), FRAME["age"], FRAME[["age", "some"]].to_numpy()):
        new, old = associations(SCORES, metadata, adjust=adjust), first_edition.associations(SCORES, metadata, adjust)
        assert_allclose(new.values, old.values, rtol=1e-12)
        assert_allclose(new.adjusted_p_values, old.adjusted_p, rtol=1e-9)
        assert new.names == old.names and new.of_classes == old.of_classes


def test_huge_values_have_the_same_association():
    small, large = (associations(factor * SCORES, FRAME["age"] * factor).values for factor in (1.0, 1e200))
    assert_allclose(small, large, rtol=1e-9)


@pytest.mark.parametrize("power", [1, 3, 8])
@pytest.mark.parametrize("n", [1, 2, 17, 60])
def test_false_discovery_rates_are_those_of_scipy(n, power):
    p = rng.uniform(size=n) ** power
    assert_allclose(adjust_p_values(p, "fdr"), false_discovery_control(p), rtol=1e-12)


def test_holm_rejects_as_its_steps_do():
    p = rng.uniform(size=20) ** 4
    adjusted, order = adjust_p_values(p, "holm"), np.argsort(p)
    for alpha in (0.01, 0.05, 0.2):
        rejected = np.zeros(20, dtype=bool)
        for rank, i in enumerate(order):
            if p[i] > alpha / (20 - rank):
                break
            rejected[i] = True
        assert np.array_equal(adjusted <= alpha, rejected)


def test_nan_is_no_test_and_shapes_are_kept():
    p = np.array([[0.01, np.nan], [0.04, 0.5]])
    assert_allclose(adjust_p_values(p)[~np.isnan(p)], false_discovery_control([0.01, 0.04, 0.5]))
    assert np.isnan(adjust_p_values(p)[0, 1]) and adjust_p_values(np.array([])).shape == (0,)
    assert adjust_p_values(p, "none") is not p


def test_the_table_has_one_row_for_each_pair():
    found = associations(SCORES, FRAME)
    frame = found.to_frame()
    assert len(frame) == 12 and frame["component"].tolist() == [1] * 4 + [2] * 4 + [3] * 4
    row = frame[(frame["component"] == 1) & (frame["column"] == "age")].iloc[0]
    assert row["value"] == found.values[0, 0] and row["measure"] == "r"
    assert "of 9 associations" in found.summary


@pytest.mark.parametrize(
    ("metadata", "message"),
    [
        ({}, "no column"),
        (np.zeros((40, 2, 2)), r"shape \(40, 2, 2\)"),
        (np.zeros(39), "39 values, but scores has 40 rows"),
        (pd.DataFrame(np.zeros((40, 2)), columns=["a", "a"]), "two columns of the name 'a'"),
    ],
)
def test_metadata_that_cannot_be_used_are_rejected(metadata, message):
    with pytest.raises(DataError, match=message):
        associations(SCORES, metadata)
    with pytest.raises(ParameterError, match="adjust='bonferroni' must be"):
        associations(SCORES, FRAME, adjust="bonferroni")


@pytest.mark.parametrize(
    ("scores", "message"), [(np.arange(6.0), "Expected 2D array"), (np.full((6, 2), np.nan), "scores contains NaN")]
)
def test_scores_that_cannot_be_used_are_rejected(scores, message):
    with pytest.raises(ValueError, match=message):
        associations(scores, {"group": list("aabbcc")})


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA, ""])
@pytest.mark.parametrize("convert", [list, tuple, pd.Series])
def test_a_missing_label_among_strings_is_no_class(missing, convert):
    with pytest.raises(DataError, match="y has 1 missing or non-finite label"):
        as_labels(convert(["a", missing, "b"]))


def test_lists_of_numbers_and_strings_keep_their_types():
    assert as_labels([1, 2, 2]).dtype.kind == "i" and as_labels([1.0, 2.5]).dtype.kind == "f"
    assert as_labels(["a", "b"]).dtype.kind == "U" and as_labels([True, False]).dtype.kind == "b"
    assert as_labels([[1.0, 2.0], [3.0, 4.0]]).shape == (2, 2)
