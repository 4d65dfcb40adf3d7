"""The real command in a real process: what it prints, where, and how it ends."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import mercer


def run(*arguments, env=None, code=None):
    command = [sys.executable, "-c", code] if code else [sys.executable, "-m", "mercer"]
    return subprocess.run(
        [*command, *map(str, arguments)], capture_output=True, text=True, env={**os.environ, **(env or {})}
    )


def test_version():
    done = run("--version")
    assert (done.returncode, done.stdout) == (0, f"mercer {mercer.__version__}\n")


def test_help_names_the_command_and_the_exit_codes():
    done = run("--help")
    assert done.returncode == 0 and "demo" in done.stdout and "Exit codes" in done.stdout


def test_demo_writes_one_page_and_prints_only_its_path(tmp_path):
    done = run("demo", "--only", 13, "--out", tmp_path / "new" / "folder")
    page = tmp_path / "new" / "folder" / "index.html"
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{page}\n", "")  # no terminal, no progress bar
    assert page.stat().st_size > 50_000 and list(page.parent.iterdir()) == [page]


def test_unknown_figure_and_unknown_option_are_wrong_use(tmp_path):
    done = run("demo", "--only", 99, "--out", tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "mercer: The gallery has no figure 99; its figures are 1 to 16.\n"
    assert run("demo", "--colour").returncode == 2
    assert run("paint").returncode == 2


def test_a_file_in_the_way_of_the_folder_is_told_before_the_work(tmp_path):
    (tmp_path / "taken").write_text("a file")
    done = run("demo", "--out", tmp_path / "taken")
    assert done.returncode == 5
    assert done.stderr.startswith("mercer: Cannot write") and "--out" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs a folder in which not even root may write")
def test_an_unwritable_folder_is_told():
    done = run("demo", "--only", 13, "--out", "/proc/gallery")
    assert done.returncode == 5 and done.stderr.startswith("mercer: Cannot write /proc/gallery")
    assert "Traceback" not in done.stderr


def test_a_folder_in_the_place_of_the_page_is_told_before_the_work(tmp_path):
    (tmp_path / "index.html").mkdir()
    done = run("demo", "--out", tmp_path)
    assert done.returncode == 5 and "folder of that name" in done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs the device that is always full")
def test_a_full_standard_output_is_told(tmp_path):
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "mercer", "demo", "--only", "13", "--out", str(tmp_path)],
            stdout=full, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
    assert done.returncode == 5 and "Traceback" not in done.stderr


def test_numbers_are_those_of_the_figures_and_each_is_drawn_once(tmp_path):
    run("demo", "--only", 13, "--only", 13, "--out", tmp_path)
    page = (tmp_path / "index.html").read_text()
    assert page.count("<article") == 1 and '<span class="number">13</span>' in page


def test_a_device_without_room_is_told_and_leaves_nothing_behind(tmp_path):
    """A folder that accepts a file but no bytes: the limit on file size plays the full disk."""
    code = (
        "import resource, signal, sys; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "from mercer.__main__ import main; main()"
    )
    done = run("demo", "--only", 13, "--out", tmp_path, code=code)
    assert done.returncode == 5 and "Cannot write" in done.stderr and "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("package", ["typer", "rich", "matplotlib"])
def test_a_missing_part_is_named_with_the_way_to_get_it(package, tmp_path):
    code = f"import sys; sys.modules[{package!r}] = None\nfrom mercer.__main__ import main; main()"
    done = run("demo", "--out", tmp_path, code=code)
    assert done.returncode == 2
    assert package in done.stderr and 'pip install "mercer[app]"' in done.stderr
    assert "Traceback" not in done.stderr


def test_a_claim_that_does_not_hold_is_told_by_the_exit_code(tmp_path):
    code = (
        "from mercer.report import gallery\n"
        "load = gallery.load\n"
        "def with_a_wrong_claim(path):\n"
        "    script = load(path)\n"
        "    script.claims = lambda results: {'the moon is a kernel': False}\n"
        "    return script\n"
        "gallery.load = with_a_wrong_claim\n"
        "from mercer.__main__ import main; main()"
    )
    done = run("demo", "--only", 13, "--out", tmp_path, code=code)
    assert done.returncode == 4 and "the moon is a kernel" in done.stderr
    assert 'class="failed"' in (tmp_path / "index.html").read_text()


def test_interrupt_has_its_exit_code_and_leaves_nothing_behind(tmp_path):
    code = (
        "import os, signal\n"
        "from mercer.report import gallery\n"
        "gallery.make_entry = lambda script: os.kill(os.getpid(), signal.SIGINT)\n"  # Ctrl-C in the middle of the work
        "from mercer.__main__ import main; main()"
    )
    done = run("demo", "--out", tmp_path, code=code)
    assert done.returncode == 130
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_progress_is_shown_on_a_terminal(tmp_path):
    pty = pytest.importorskip("pty")
    here, there = pty.openpty()
    done = subprocess.run(
        [sys.executable, "-m", "mercer", "demo", "--only", "13", "--out", str(tmp_path)],
        stdout=subprocess.PIPE, stderr=there, env={**os.environ, "TERM": "xterm"}, check=True,
    )  # fmt: skip
    os.close(there)
    assert b"drawing" in os.read(here, 100_000)
    assert done.stdout.decode() == f"{tmp_path / 'index.html'}\n"


def test_plan_says_what_a_fit_would_take():
    done = run("plan", "--rows", "1e3", "--rows", "80_000", "--features", 30, "--components", 20, "--memory", "2GB")
    assert (done.returncode, done.stderr) == (0, "")
    small, large = done.stdout.splitlines()
    assert small.startswith("1,000 rows: BlockKrylov") and "the Gram matrix in memory" in small
    assert large.startswith("80,000 rows: WarmKrylov") and "K would take 51.2 GB, against a limit of 2 GB" in large


def test_a_plan_that_does_not_fit_has_no_room_unless_others_were_asked_for_too():
    done = run("plan", "--rows", 1_000_000, "--features", 30, "--memory", "10MB")
    assert (done.returncode, done.stdout) == (5, "") and "over the limit of 10 MB" in done.stderr
    done = run("plan", "--rows", 100, "--rows", 1_000_000, "--features", 30, "--memory", "10MB")
    assert done.returncode == 0 and "1,000,000 rows: not possible: The fit needs" in done.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ("--rows", "many", "--features", 3),
        ("--rows", 0, "--features", 3),
        ("--rows", 10.5, "--features", 3),
        ("--rows", 1000, "--features", 3, "--kernel", "spline"),
        ("--rows", 1000, "--features", 3, "--memory", "2 potatoes"),
        ("--rows", 1000, "--features", 3, "--components", -2),
        ("--rows", 1000, "--features", 3, "--components", 2.5),
        ("--rows", 1000),
    ],
    ids=str,
)
def test_a_plan_for_nothing_is_wrong_use(arguments):
    done = run("plan", *arguments)
    assert done.returncode == 2 and done.stdout == "" and "Traceback" not in done.stderr
