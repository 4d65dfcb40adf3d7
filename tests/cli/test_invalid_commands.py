"""Command lines and processes that go wrong: one sentence, an exit code, and nothing left behind."""

import os
import re
import shlex
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest

import mercer
from corpus.commands import COMMANDS
from mercer_old import outlets, terminal
from support.branches import branch, refuse_raw_text, run_all, start
from support.together import check_each, few_dozen

resource = pytest.importorskip("resource")
pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="forks as on Unix")
X = np.random.default_rng(0).normal(size=(40, 3)) * [3, 2, 1]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("commands")
    lines = [",".join(map(repr, row)) for row in X.tolist()]
    (folder / "x.csv").write_text("\n".join(["a,b,c", *lines]))
    (folder / "t.csv").write_text("\n".join(["a,b,c,t", *(f"{line},x" for line in lines)]))
    (folder / "few.csv").write_text("a,b\n1,2\n3,5\n4,4\n0,1\n")
    (folder / "gaps.csv").write_text("a,b,c\n1,2,0.5\n3,5,\n4,4,0.1\n0,1,0.2\n")
    np.save(folder / "x.npy", X)
    (folder / "folder").mkdir()
    return {"csv": folder / "x.csv", "text": folder / "t.csv", "few": folder / "few.csv", "npy": folder / "x.npy",
            "gaps": folder / "gaps.csv", "folder": folder / "folder"}  # fmt: skip


def typed(command, files):
    return [part.format(**files) for part in command.split(" ") if part]


@pytest.fixture(scope="module")
def done(files):
    return run_all(typed(command, files) for command, _, _ in COMMANDS)


def test_there_are_many_commands():
    assert len({command for command, _, _ in COMMANDS}) == len(COMMANDS) >= 100


@few_dozen("numbers", {"commands": range(len(COMMANDS))})
def test_a_command_line_ends_as_it_should(files, done, numbers):
    check_each(numbers, lambda i: ends_as_it_should(files, *COMMANDS[i], done[i]), name=lambda i: ascii(COMMANDS[i][0]))


def ends_as_it_should(files, command, code, words, end):
    said = end.stderr + end.stdout
    assert end.returncode == code and re.search(words, said, re.DOTALL), said
    if "help" not in command and command:
        refuse_raw_text(end)
    if code and command:
        assert end.stdout == "" and re.search(r"^mercer: ", end.stderr, re.MULTILINE)
        lines = [
            line
            for line in end.stderr.splitlines()
            if not line.startswith(("warning", "plan", str(files["folder"].parent)))
        ]
        assert not re.search(r"n_components|memory_limit|n_jobs|n_neighbors|_solver|n_landmarks", " ".join(lines))
    assert not list(files["folder"].iterdir())


# ---------------------------------------------------------------------------- streams


def fit(files, *more, **how):
    return branch(["mercer", *map(str, ("fit", files["csv"], "--method", "pca", "-d", "2", *more))], **how)


def right(path):
    scores = mercer.PCA(2).fit_transform(X)
    np.testing.assert_allclose(mercer.open_rows(path).load(), scores, atol=1e-9)


@pytest.mark.parametrize("stderr", [None, "/dev/full", "broken"])
def test_work_goes_on_where_nobody_listens(files, tmp_path, stderr):
    if stderr == "broken":
        reader, writer = os.pipe()
        os.close(reader)
        stderr = writer
    end = fit(files, "-o", tmp_path / "s.csv", streams={2: stderr})
    assert (end.returncode, end.stdout) == (0, "")
    right(tmp_path / "s.csv")
    assert "rows" not in (tmp_path / "s.csv").read_text()


@pytest.mark.parametrize("stderr", [None, "/dev/full"])
def test_an_error_keeps_its_code_where_nobody_listens(files, tmp_path, stderr):
    end = branch(["mercer", "fit", str(tmp_path / "none.csv")], streams={2: stderr})
    assert (end.returncode, end.stdout) == (3, "")


def test_standard_output_that_is_closed_full_or_gone_is_told_or_quiet(files):
    closed = fit(files, streams={1: None})
    assert closed.returncode == 2 and "Standard input or output is closed" in closed.stderr
    full = fit(files, streams={1: "/dev/full"})
    assert full.returncode == 5 and "No space left on device" in full.stderr and "Traceback" not in full.stderr
    reader, writer = os.pipe()
    os.close(reader)
    gone = fit(files, streams={1: writer})
    assert gone.returncode == 0 and "rror" not in gone.stderr and "Traceback" not in gone.stderr


@pytest.mark.parametrize("command", [["plan", "--rows", "100", "--features", "3"], ["--version"], ["--help"]], ids=str)
def test_what_is_printed_may_be_cut_off(command):
    reader, writer = os.pipe()
    os.close(reader)
    gone = branch(["mercer", *command], streams={1: writer})
    assert gone.returncode in (0, 1) and "Traceback" not in gone.stderr and "rror" not in gone.stderr
    full = branch(["mercer", *command], streams={1: "/dev/full"})
    assert full.returncode == 5 and "No space left" in full.stderr and "Traceback" not in full.stderr


def test_standard_input_that_is_closed_empty_or_no_text_is_told():
    for stdin, code, words in [
        (None, 2, "Standard input or output is closed"),
        (os.devnull, 3, "Standard input is empty"),
        (sys.executable, 3, "Standard input is no text"),
    ]:
        end = branch(["mercer", "fit", "-"], streams={0: stdin})
        assert end.returncode == code and words in end.stderr, end.stderr
        refuse_raw_text(end)


def test_a_warning_about_standard_input_calls_it_that(tmp_path):
    table = tmp_path / "x.csv"
    table.write_text("1970,1971,1972\n" + "".join(f"{i},{i * i % 7},{i * i % 5}\n" for i in range(30)))
    end = branch(["mercer", "fit", "-", "--method", "pca", "-d", "1"], streams={0: str(table)})
    assert "The first line of standard input is taken as" in end.stderr and "standard-input.csv" not in end.stderr
    assert "standard input: 31 rows, 3 columns" in end.stderr


@pytest.fixture
def open_folder():
    """One that others may look into, as those of pytest are not."""
    with TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can become somebody else")
def test_what_may_not_be_read_or_written_is_told(open_folder):
    secret, taken = open_folder / "secret.csv", open_folder / "taken.csv"
    for path in (secret, taken):
        path.write_text("a,b\n1,2\n3,5\n4,4\n")
    secret.chmod(0)
    taken.chmod(0o444)
    for arguments, code, words in [
        ([secret], 3, "secret.csv cannot be read: Permission denied"),
        ([taken, "-o", open_folder / "new.csv"], 5, "Cannot write .*new.csv: Permission denied"),
        ([taken, "-o", secret], 5, "Cannot write .*secret.csv: it is read-only"),
    ]:
        end = branch(["mercer", "fit", *map(str, arguments)], before=lambda: os.setuid(65534))
        assert end.returncode == code and re.search(words, end.stderr) and "Traceback" not in end.stderr, end.stderr


# ---------------------------------------------------------------------------- outputs


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o644, 0o666, 0o400])
def test_a_file_that_is_replaced_keeps_its_mode(files, tmp_path, mode):
    out = tmp_path / "s.csv"
    out.write_text("old")
    out.chmod(mode)
    if mode == 0o400 and os.geteuid() != 0:
        assert fit(files, "-o", out).returncode == 5 and out.read_text() == "old"
        return
    assert fit(files, "-o", out).returncode == 0
    assert stat.S_IMODE(out.stat().st_mode) == mode
    right(out)


def test_a_new_file_follows_the_mask(files, tmp_path):
    fit(files, "-o", tmp_path / "s.csv", before=lambda: os.umask(0o077))
    assert stat.S_IMODE((tmp_path / "s.csv").stat().st_mode) == 0o600


@pytest.mark.parametrize("kind", [".csv", ".npy", ".parquet", ".arrow"])
def test_a_pipe_is_written_into_and_stays_one(files, tmp_path, kind):
    out = tmp_path / f"s{kind}"
    os.mkfifo(out)
    with (tmp_path / f"copy{kind}").open("wb") as copy, subprocess.Popen(["cat", out], stdout=copy):
        assert fit(files, "-o", out).returncode == 0
    assert out.is_fifo()
    right(tmp_path / f"copy{kind}")
    assert len(list(tmp_path.iterdir())) == 2


def test_links_devices_and_links_to_devices_stay_what_they_are(files, tmp_path):
    (tmp_path / "null.csv").symlink_to("/dev/null")
    (tmp_path / "full.npy").symlink_to("/dev/full")
    (tmp_path / "link.csv").symlink_to("target.csv")
    assert fit(files, "-o", tmp_path / "null.csv").returncode == 0
    full = fit(files, "-o", tmp_path / "full.npy")
    assert full.returncode == 5 and "No space left" in full.stderr
    assert fit(files, "-o", tmp_path / "link.csv").returncode == 0
    assert all((tmp_path / name).is_symlink() for name in ("null.csv", "full.npy", "link.csv"))
    assert Path("/dev/null").is_char_device() and Path("/dev/full").is_char_device()
    right(tmp_path / "target.csv")


def test_a_descriptor_of_the_shell_is_written_into(files, tmp_path):
    with (tmp_path / "copy.csv").open("wb") as copy:
        os.set_inheritable(copy.fileno(), True)
        assert fit(files, "-o", f"/dev/fd/{copy.fileno()}").returncode in (0, 2)  # a regular file has no ending there
    reader, writer = os.pipe()
    end = fit(files, "-o", f"/dev/fd/{writer}")
    os.close(writer)
    with os.fdopen(reader) as pipe:
        lines = pipe.read().splitlines()
    assert end.returncode == 0 and lines[0] == "pca0,pca1" and len(lines) == 41


def test_a_full_disk_leaves_the_old_file_of_every_kind(files, tmp_path):
    def small():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))

    for kind in (".csv", ".npy", ".parquet", ".arrow", ".tsv", ".feather"):
        out = tmp_path / f"s{kind}"
        out.write_text("old")
        # Standard error is a file too, and as full as the rest.
        end = fit(files, "-o", out, before=small)
        assert end.returncode == 5 and out.read_text() == "old", end.stderr
    assert len(list(tmp_path.iterdir())) == 6


# ---------------------------------------------------------------------------- signals


def waiting(number, ignored):
    """Scores that are never finished, once some have been written."""

    def before():
        signal.signal(number, signal.SIG_IGN if ignored else signal.SIG_DFL)
        outlets._guarded = lambda write, path: lambda block: (write(block), terminal.say("ready"), time.sleep(600))

    return before


@pytest.mark.parametrize(
    ("number", "ignored"),
    [(signal.SIGINT, False), (signal.SIGTERM, False), (signal.SIGHUP, False), (signal.SIGHUP, True)],
)
def test_signals_end_the_work_cleanly_unless_they_are_ignored(files, tmp_path, number, ignored):
    argv = ["mercer", "fit", str(files["csv"]), "--method", "pca", "-o", str(tmp_path / "s.csv")]
    reader, writer = os.pipe()
    child = start(argv, {0: os.devnull, 1: os.devnull, 2: writer}, waiting(number, ignored))
    os.close(writer)
    with os.fdopen(reader) as stderr:
        assert any("ready" in line for line in stderr)
        assert [each.suffix for each in tmp_path.iterdir()] == [".part"]
        os.kill(child, number)
        if ignored:
            os.kill(child, number := signal.SIGTERM)  # had the other one counted, it would have been first
        rest = stderr.read()
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code == 128 + number and "Traceback" not in rest and not list(tmp_path.iterdir())


def test_shell_words_reach_the_command_as_they_are(files):
    """The tables above are split at blanks, as a shell would."""
    assert all(command.split() == shlex.split(command) for command, _, _ in COMMANDS if "\x1b" not in command)
