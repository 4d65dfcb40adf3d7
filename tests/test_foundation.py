"""Texts, progress, storable classes and results: what every other module stands on."""

import io
from dataclasses import dataclass

import numpy as np
import pytest

from mercer import progress as progress_module
from mercer.progress import PassCounter, Progress, reporting, track
from mercer.results import Result
from mercer.storable import STORABLE, from_state, get_state, storable
from mercer.text import counted, interval, joined, listed, number, percent, printable, short_repr, shorten


def test_texts():
    assert printable("a\x1b[31m\n\ud800") == "a\\x1b[31m\\n\\ud800"
    assert shorten("x" * 300, 5) == "xxxxx…" and short_repr(object())[:8] == "<object "
    assert " at 0x" not in short_repr(object())
    assert [counted(n, noun) for n, noun in ((1, "row"), (2000, "row"), (0, "pass"))] == [
        "1 row",
        "2,000 rows",
        "0 passes",
    ]
    assert listed("abc", 2) == "a, b and 1 more" and joined(["a", "b", "c"]) == "a, b and c" and joined(["a"]) == "a"
    assert [percent(x) for x in (0.4321, 0.0052, float("nan"))] == ["43.2%", "0.52%", ""] and number(
        12345.678
    ) == "1.235e+04"


@pytest.mark.parametrize(
    ("value", "lower", "upper", "text"),
    [
        (1.5, 1.23456, 1.77777, "1.2345 to 1.7778"),
        (2.0, 2 - 1.1e-9, 2 + 1e-10, "2 ± 2e-09"),
        (-1.0, -2.00001, 0, "-2.0001 to 0"),
    ],
)
def test_intervals_are_rounded_outwards(value, lower, upper, text):
    assert interval(value, lower, upper) == text


def test_progress_never_decreases_and_waits_when_there_are_more_passes():
    found = []
    counter = PassCounter(2, "first", found.append)
    for fraction in (0.5, 1, 0.5, 1):
        counter(fraction)
    counter.start("one more")
    for fraction in (0.5, 1):
        counter(fraction)
    assert [state.completed for state in found] == [0.25, 0.5, 0.75, 1, 1, 1]
    assert found[-1] == Progress(2, 2, 1, 1.0, "one more")


def test_listeners(monkeypatch):
    found = []
    assert list(track([1, 2, 3, 4], "items", found.append)) == [1, 2, 3, 4]
    assert [state.fraction for state in found] == [0.25, 0.5, 0.75, 1]
    with reporting(False, 1, "x") as counter:
        assert counter is None
    closed = io.StringIO()
    closed.close()
    monkeypatch.setattr("sys.stderr", closed)
    with reporting(True, 1, "x") as counter:
        assert counter is None


def test_a_bar_survives_its_terminal(monkeypatch):
    class Terminal(io.StringIO):
        alive = True

        def isatty(self):
            return True

        def write(self, text):
            if not self.alive:
                raise OSError(5, "Input/output error")
            return super().write(text)

    terminal = Terminal()
    monkeypatch.setattr(progress_module.sys, "stderr", terminal)
    with reporting(True, 1, "rows") as counter:
        counter(0.5)
        assert "rows" in terminal.getvalue()
        terminal.alive = False
        counter(1)


def test_only_registered_classes_are_made_from_a_state():
    @storable
    @dataclass(frozen=True)
    class Certain:
        bound: float

    try:
        assert from_state("Certain", get_state(Certain(2.0))) == Certain(2.0)
        with pytest.raises(TypeError, match="Two storable classes"):
            storable(dataclass(type("Certain", (), {})))
        with pytest.raises(KeyError):
            from_state("os.system", {})
        with pytest.raises(TypeError):
            storable(type("Plain", (), {}))
    finally:
        del STORABLE["Certain"]


def test_results_print_and_become_frames():
    class Table(Result):
        summary = "A <table>."

        def columns(self):
            return {"a": np.arange(30), "b": [f"<{i}>" for i in range(30)]}

    table = Table()
    assert str(table).startswith("A <table>.\n\n") and "(10 more rows)" in str(table)
    assert "<td>&lt;3&gt;</td>" in table._repr_html_() and "A &lt;table&gt;." in table._repr_html_()
    assert table.to_frame().shape == (30, 2) and table.to_dict()["a"] == [*range(30)]
