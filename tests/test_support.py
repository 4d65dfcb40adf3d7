"""What tests stand on: many cases in one test hide nothing, and a peak of memory is a peak."""

import numpy as np
import pytest

from support.peak import needs_peaks, peak_of
from support.together import check_each, few_dozen


def refuse(number):
    if number == 1:
        raise ValueError("one is bad")
    if number == 2:
        pytest.skip("no two here")
    if number == 3:
        pytest.fail("three")
    if number == 4:
        with pytest.raises(ValueError, match="nothing of the kind"):
            pass


def test_every_case_that_fails_is_named_though_others_are_skipped():
    with pytest.raises(AssertionError) as told:
        check_each(range(6), refuse, name="number {}".format)
    said = str(told.value)
    assert "4 of 6 cases" in said and "number 1: ValueError: one is bad" in said and "no two here" in said
    assert all(f"number {bad}:" in said for bad in (1, 2, 3, 4)) and "number 0" not in said and "number 5" not in said
    check_each([0, 5], refuse)


def test_no_cases_are_no_test():
    with pytest.raises(AssertionError, match="no cases"):
        check_each([], refuse)
    with pytest.raises(AssertionError, match="no cases"):
        few_dozen("case", {"some": [1], "none": []})
    [mark] = [few_dozen("case", {"some": range(7)}, size=3).mark]
    assert [list(part) for part in mark.args[1]] == [[0, 1, 2], [3, 4, 5], [6]]


@needs_peaks
def test_a_peak_is_that_of_its_own_question_and_a_failure_is_told():
    large, _ = peak_of("held = np.ones(20_000_000)", told="0")
    small, _ = peak_of("held = np.ones(2_000_000)", told="0")
    assert 150e6 < large < 200e6 and 10e6 < small < 60e6
    with pytest.raises(AssertionError, match="no such name"):
        peak_of("raise NameError('no such name')", told="0")
    with pytest.raises(AssertionError, match="ended with -9"):
        peak_of("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", told="0")
    assert np.isclose(peak_of("held = np.ones(20_000_000)", told="0")[0], large, rtol=0.2)
