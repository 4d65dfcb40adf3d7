"""Files of all schemas there ever were: they load, and answer as they did when they were written."""

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import golden_models
import mercer
from mercer_old.store.schemas import SCHEMAS
from support.silence import quiet

pytestmark = quiet
GOLDEN = sorted((Path(__file__).parent / "golden").glob("*.mercer"))


def as_given(new):
    """JSON has lists alone: rows are arrays, series arrays in a list."""
    if isinstance(new, dict) or isinstance(new[0], str):
        return new
    return [np.array(one) for one in new] if len({len(one) for one in new}) > 1 else np.array(new)


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_old_files_load_and_answer_as_they_did(path):
    assert mercer.verify(path).ok, mercer.verify(path)
    notes = mercer.inspect(path)["notes"]
    answer = golden_models.answer_of(mercer.load(path), as_given(notes["new"]))
    assert_allclose(answer, notes["answer"], rtol=1e-9, atol=1e-12)


def test_there_is_a_file_of_every_kind_of_model_and_of_this_schema():
    headers = [mercer.inspect(path) for path in GOLDEN]
    assert {header["class"] for header in headers} == set(SCHEMAS)
    current = {path.stem.partition("-")[2] for path in GOLDEN if path.stem.startswith("1.0-")}
    assert current == set(golden_models.KINDS)
    assert sum(path.stat().st_size for path in GOLDEN) < 300_000
