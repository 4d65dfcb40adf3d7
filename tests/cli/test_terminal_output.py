"""What the command line prints: safe to look at, in its own words, and never a reason to stop."""

import io
import sys

import pytest

from mercer_old import progress
from mercer_old.commands.wording import in_options
from mercer_old.errors import are, counted, joined, listed
from mercer_old.terminal import forgiving, hold_standard_streams, plain, put, say


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("größer als 3 × 4 🐧", "größer als 3 × 4 🐧"),
        ("a\x1b[31mb", r"a\x1b[31mb"),
        ("a\nb\r\tc", r"a\nb\r\tc"),
        ("\x9b\x07\x7f\0", r"\x9b\x07\x7f\x00"),
        ("\u202eabc\u200b", r"\u202eabc\u200b"),
        ("a\udcffb", r"a\udcffb"),
        ("[red]x[/red]", "[red]x[/red]"),
    ],
)
def test_what_a_terminal_would_obey_is_written_out(text, shown):
    assert plain(text) == shown and shown.isprintable()
    assert plain(text, keep="\n") == shown.replace(r"\n", "\n")


@pytest.mark.parametrize(
    ("message", "line"),
    [
        ("n_components=3 must be less than n_samples=2.", "--components 3 is too many for 2 rows."),
        ('Give a larger memory_limit, or eigen_solver="krylov".', "Give a larger --memory, or --solver krylov."),
        ("The fit needs standardize=True.", "The fit needs --standardize."),
        ("Scale the data down (StandardScaler).", "Scale the data down (--standardize)."),
        ("Leave them out or fill them in (SimpleImputer).", "Leave them out or fill them in."),
        ("for method='ltsa', n_neighbors=3", "for --variant ltsa, --neighbors 3"),
        ("Landmarks(count=10, refine=0) on rows", "Landmarks(count=10, refine=0) on rows"),
        ("/data/n_components=3/kernel=rbf.csv has 3 rows", "/data/n_components=3/kernel=rbf.csv has 3 rows"),
        ("no column 'n_components' and no 'method'", "no column 'n_components' and no 'method'"),
        ("The 'whiten' parameter of PCA must be an instance of 'bool'. Got 3 instead.", None),
        (
            "The 'n_components' parameter of PCA must be an int in the range [0, inf), a float in the range "
            "(0.0, 1.0), a str among {'mle', 'bic'} or None. Got -1 instead.",
            "--components must be a whole number of at least 0 or a number in the range (0.0, 1.0) or one of bic, mle, "
            "not -1.",
        ),
        (
            "say so: mercer.open_rows(path, header=True), on the command line --header.",
            "say so: --header.",
        ),
    ],
)
def test_messages_of_the_library_become_those_of_the_command_line(message, line):
    assert in_options(message) == line if line else "parameter" not in in_options(message)


def test_nothing_is_said_to_streams_that_are_not_there(monkeypatch, capsys):
    monkeypatch.setattr(sys, "stderr", None)
    say("nobody hears it")
    assert not progress._on_terminal() and capsys.readouterr().out == ""
    closed = io.StringIO()
    closed.close()
    monkeypatch.setattr(sys, "stderr", closed)
    assert not progress._on_terminal()
    monkeypatch.setattr(sys, "stdout", None)
    with pytest.raises(OSError, match="Standard output is closed"):
        put("nor this")


def test_a_terminal_without_letters_gets_their_numbers(monkeypatch):
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="ascii"))
    hold_standard_streams()
    put("256×256")
    assert raw.getvalue() == rb"256\xd7256" + b"\n"


def test_a_bar_goes_on_when_its_terminal_is_gone(monkeypatch):
    class Gone(io.StringIO):
        def write(self, text):
            raise OSError(5, "Input/output error")

        def flush(self):
            raise OSError(5, "Input/output error")

        def isatty(self):
            return True

    assert forgiving(Gone()).write("abc") == 3
    monkeypatch.setattr(sys, "stderr", Gone())
    assert list(progress.track([1, 2, 3], "working")) == [1, 2, 3]


def test_lists_name_a_few_and_count_the_rest_or_name_all():
    assert [listed("abcdefg"[:n], 3) for n in (0, 1, 3, 4)] == ["", "a", "a, b, c", "a, b, c and 1 more"]
    assert listed("abc", 2, total=20_000) == "a, b and 19,998 more"
    assert [joined("abc"[:n]) for n in (0, 1, 2, 3)] == ["", "a", "a and b", "a, b and c"]
    assert joined(["kpca", "pca", "lle"], "or") == "kpca, pca or lle"


def test_one_row_and_one_column_are_no_plurals():
    assert [counted(n, "row") for n in (0, 1, 2, 1000)] == ["0 rows", "1 row", "2 rows", "1,000 rows"]
    assert (counted(1, "pass"), counted(3, "pass")) == ("1 pass", "3 passes")
    assert (are(0), are(1), are(2)) == ("are", "is", "are")
