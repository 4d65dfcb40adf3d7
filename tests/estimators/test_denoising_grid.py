"""What the page of denoised digits states: its figures in every run, the whole grid measured again in slow ones."""

import json
from pathlib import Path

import numpy as np
import pytest

from benchmarks.readings import denoising_grid as grid

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "benchmarks" / "readings" / "denoising_grid.md"
# Largest error of denoise relative to scikit-learn's best ridge, each with its best bandwidth.
LARGEST_RATIO = {
    ("clean", 0.0): 0.9,
    ("clean", 0.1): 1.1,
    ("clean", 0.15): 0.9,
    ("clean", 0.25): 0.8,
    ("clean", 0.5): 0.8,
    ("noisy", 0.1): 1.0,
    ("noisy", 0.15): 1.0,
    ("noisy", 0.25): 1.0,
    ("noisy", 0.5): 1.1,
}


def kept_figures():
    rows = json.loads(PAGE.with_suffix(".json").read_text(encoding="utf-8"))["errors"]
    return {(row["training"], row["sigma"], row["components"]): row["widths"] for row in rows}


def check(found):
    """`denoise` is at most 3% worse than ridge in every cell, and beside scikit-learn's best ridge as stated."""
    for (training, sigma, k), cells in found.items():
        for width, cell in cells.items():
            assert cell["auto"] <= 1.03 * cell["ridge"], (training, sigma, k, width)
        ours, theirs = (min(cell[name] for cell in cells.values()) for name in ("auto", "scikit-learn"))
        assert ours <= LARGEST_RATIO[training, sigma] * theirs, (training, sigma, k)


def test_figures_of_the_page_are_complete_and_as_stated():
    found = kept_figures()
    expected = {("clean", sigma, k) for sigma in grid.SIGMAS for k in grid.COMPONENTS}
    expected |= {("noisy", sigma, k) for sigma in grid.SIGMAS if sigma for k in grid.COMPONENTS}
    assert found.keys() == expected
    assert all(set(map(float, cells)) == set(grid.WIDTHS) for cells in found.values())
    check(found)


def test_the_page_shows_the_figures():
    page = PAGE.read_text(encoding="utf-8").splitlines()
    table = "\n".join(grid.table(kept_figures())).splitlines()
    assert page[page.index(table[0]) :][: len(table)] == table


def test_a_check_of_worse_figures_fails():
    cell = {"auto": 1.0, "ridge": 1.0, "scikit-learn": 2.0}
    check({("clean", 0.25, 32): {0.25: cell}})
    for worse in ({"ridge": 0.96}, {"scikit-learn": 1.2}):
        with pytest.raises(AssertionError):
            check({("clean", 0.25, 32): {0.25: cell | worse}})


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("sigma", grid.SIGMAS)
def test_the_whole_grid_is_as_stated(sigma):
    found = grid.measure(1.0, sigmas=[sigma])
    assert len(found) == len(grid.COMPONENTS) * (2 if sigma else 1)
    check(found)
    kept = kept_figures()
    for key, cells in found.items():
        measured, stated = (min(cell["auto"] for cell in each.values()) for each in (cells, kept[key]))
        assert measured == pytest.approx(stated, rel=0.02), key
        assert np.isfinite(measured)
