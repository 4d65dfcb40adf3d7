"""Every script of the gallery is a test: what its figure claims holds, and could have failed."""

from types import SimpleNamespace

import numpy as np
import pytest

from mercer_old.errors import WrongUse
from mercer_old.look import THEMES, as_png
from mercer_old.report import gallery

SCRIPTS = gallery.scripts()
every_script = pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
_computed = {}


def computed(path):
    """The script and its results, once for all tests of this file."""
    if path not in _computed:
        script = gallery.load(path)
        _computed[path] = script, script.compute()
    return _computed[path]


def test_all_sixteen_figures_of_the_mission_are_there():
    assert [int(path.name[:2]) for path in SCRIPTS] == list(range(1, 17))


@every_script
def test_what_the_figure_claims_holds(path):
    script, results = computed(path)
    claims = script.claims(results)
    assert len(claims) >= 2
    assert [sentence for sentence, holds in claims.items() if not holds] == []


def noise(value, rng):
    return rng.normal(value.mean(), value.std() + 1e-3, size=value.shape)


def in_order(value, rng):
    """Sorted along the points, which are rows (of the last two axes, where there are several tables)."""
    return np.sort(value, axis=max(value.ndim - 2, 0))


def larger(value, rng):
    return 10 * value + 1


@every_script
def test_every_claim_fails_on_some_numbers_that_say_something_else(path):
    """Arrays become noise, or are sorted, or scaled; labels are shuffled or sorted; numbers grow.

    A claim that still holds each time could not have failed.
    """
    script, results = computed(path)
    held = None
    for seed, change in enumerate([noise, in_order, larger] * 4):
        rng = np.random.default_rng(seed)

        def spoiled(name, value, change=change, rng=rng, alone=seed >= 6):
            if alone and rng.random() < 0.5:  # later, only some of them
                return value
            if isinstance(value, np.ndarray):
                labels = np.sort(value, axis=0) if change is in_order else rng.permutation(value)
                return change(value, rng) if value.dtype.kind == "f" else labels
            return value + 1 if isinstance(value, int | float | np.number) else value

        wrong = SimpleNamespace(**{name: spoiled(name, value) for name, value in vars(results).items()})
        with np.errstate(all="ignore"):
            answers = np.array(list(script.claims(wrong).values()), dtype=bool)
        held = answers if held is None else held & answers
    sentences = list(script.claims(results))
    assert [sentence for sentence, still in zip(sentences, held, strict=True) if still] == []


@pytest.fixture
def coarsely(monkeypatch):
    """Few pixels, which take a third of the time: what is drawn, and where, is the same."""
    for theme in THEMES.values():
        monkeypatch.setitem(theme, "figure.dpi", 30)


@every_script
def test_figure_is_drawn(path, coarsely):
    """By day or by night, in turn: the layout takes the time, and is the same. Two figures are in test_page.py."""
    script, results = computed(path)
    assert as_png(lambda: script.draw(results), list(THEMES)[int(path.name[:2]) % 2]).startswith(b"\x89PNG")


@pytest.mark.slow
@every_script
def test_figure_is_drawn_in_both_themes(path, coarsely):
    script, results = computed(path)
    pictures = [as_png(lambda: script.draw(results), theme) for theme in THEMES]
    assert all(picture.startswith(b"\x89PNG") for picture in pictures)
    assert pictures[0] != pictures[1]


@every_script
def test_script_fits_on_a_page_and_says_what_it_shows(path):
    script, _ = computed(path)
    title, _, caption = script.__doc__.partition("\n")
    assert len(path.read_text().splitlines()) <= 90
    assert len(title) < 90 and len(caption.split()) >= 20
    assert script.FORMULA and script.SLIDES[:3] in {"000", "001", "002", "003", "004"}


@pytest.mark.parametrize(
    "path",
    [path if i % 4 == 0 else pytest.param(path, marks=pytest.mark.slow) for i, path in enumerate(SCRIPTS)],
    ids=lambda path: path.stem,
)
def test_results_are_the_same_when_computed_again(path):
    script, results = computed(path)
    for name, value in vars(script.compute()).items():
        np.testing.assert_array_equal(value, vars(results)[name])


def test_scripts_can_be_chosen_by_number():
    assert [path.name[:2] for path in gallery.scripts([8, 4])] == ["08", "04"]
    with pytest.raises(WrongUse, match="no figure 99; its figures are 1 to 16"):
        gallery.scripts([99])


@pytest.mark.parametrize("families", [1, 3, 7, 12])
def test_names_are_drawn_with_any_number_of_families(families, monkeypatch, coarsely):
    [path] = gallery.scripts([6])
    script = gallery.load(path)
    names = [f"{stem * 3} {first}" for stem in "abcdefghijkl"[:families] for first in ("anna", "otto")]
    monkeypatch.setattr(script, "VOC", [*names, "cher"])
    monkeypatch.setattr(script, "OOV", ["aaa ida", "zorro"])
    results = script.compute()
    assert as_png(lambda: script.draw(results)).startswith(b"\x89PNG") and len(script.claims(results)) == 6
