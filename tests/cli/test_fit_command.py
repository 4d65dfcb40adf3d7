"""The real command in a real process: what it prints, where, and how it ends."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryFile

import numpy as np
import pytest
from numpy.testing import assert_allclose

import mercer
from support.branches import branch, run, run_all, start, text_of
from support.together import check_each


def test_version():
    done = run("--version")
    assert (done.returncode, done.stdout) == (0, f"mercer {mercer.__version__}\n")


def test_help_names_the_command_and_the_exit_codes():
    done = run("--help")
    assert done.returncode == 0 and "demo" in done.stdout and "Exit codes" in done.stdout


def test_demo_writes_one_page_and_prints_only_its_path(tmp_path):
    done = run("demo", "--only", 2, "--out", tmp_path / "new" / "folder")
    page = tmp_path / "new" / "folder" / "figure_2.html"
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
    done = run("demo", "--only", 2, "--out", "/proc/gallery")
    assert done.returncode == 5 and done.stderr.startswith("mercer: Cannot write /proc/gallery")
    assert "Traceback" not in done.stderr


def test_a_folder_in_the_place_of_the_page_is_told_before_the_work(tmp_path):
    (tmp_path / "index.html").mkdir()
    done = run("demo", "--out", tmp_path)
    assert done.returncode == 5 and "index.html: it is a folder" in done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs the device that is always full")
def test_a_full_standard_output_is_told(tmp_path):
    with Path("/dev/full").open("w") as full:
        done = branch(["mercer", "demo", "--only", "2", "--out", str(tmp_path)], streams={1: full.fileno()})
    assert done.returncode == 5 and "Traceback" not in done.stderr


def test_numbers_are_those_of_the_figures_and_each_is_drawn_once(tmp_path):
    (tmp_path / "index.html").write_text("the full gallery")
    run("demo", "--only", 2, "--only", 2, "--out", tmp_path)
    page = (tmp_path / "figure_2.html").read_text()
    assert page.count("<article") == 1 and '<span class="number">2</span>' in page
    assert (tmp_path / "index.html").read_text() == "the full gallery"


def test_a_device_without_room_is_told_and_leaves_nothing_behind(tmp_path):
    """A folder that accepts a file but no bytes: the limit on file size plays the full disk."""
    code = (
        "import resource, signal, sys; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "from mercer.__main__ import main; main()"
    )
    done = run("demo", "--only", 2, "--out", tmp_path, code=code)
    assert done.returncode == 5 and "Cannot write" in done.stderr and "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("package", ["typer", "rich", "matplotlib"])
def test_a_missing_part_is_named_with_the_way_to_get_it(package, tmp_path):
    code = f"import sys; sys.modules[{package!r}] = None\nfrom mercer.__main__ import main; main()"
    done = run("demo", "--out", tmp_path, code=code, anew=True)
    assert done.returncode == 2
    assert package in done.stderr and 'pip install "mercer[app]"' in done.stderr
    assert "Traceback" not in done.stderr


def test_a_claim_that_does_not_hold_is_told_by_the_exit_code(tmp_path):
    code = (
        "from mercer_old.report import gallery\n"
        "load = gallery.load\n"
        "def with_a_wrong_claim(path):\n"
        "    script = load(path)\n"
        "    script.claims = lambda results: {'the moon is a kernel': False}\n"
        "    return script\n"
        "gallery.load = with_a_wrong_claim\n"
        "from mercer.__main__ import main; main()"
    )
    done = run("demo", "--only", 2, "--out", tmp_path, code=code)
    assert done.returncode == 4 and "the moon is a kernel" in done.stderr
    assert 'class="failed"' in (tmp_path / "figure_2.html").read_text()


def test_interrupt_has_its_exit_code_and_leaves_nothing_behind(tmp_path):
    code = (
        "import os, signal\n"
        "from mercer_old.report import gallery\n"
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
    with TemporaryFile("w+") as out:
        child = start(
            ["mercer", "demo", "--only", "2", "--out", str(tmp_path)],
            {0: os.devnull, 1: out.fileno(), 2: there},
            before=lambda: os.environ.update(TERM="xterm"),
        )
        os.close(there)
        assert b"drawing" in everything_written_to(here)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert text_of(out) == f"{tmp_path / 'figure_2.html'}\n"


def everything_written_to(terminal):
    """Read on until the last writer has gone: a terminal that nobody reads fills up, and its writer waits."""
    said = b""
    while True:
        try:
            said += (more := os.read(terminal, 4096))
        except OSError:  # Linux: nobody holds the other end any more
            return said
        if not more:
            return said


def test_plan_says_what_a_fit_would_take():
    done = run("plan", "--rows", "1e3", "--rows", "80_000", "--features", 30, "--components", 20, "--memory", "2GB")
    assert (done.returncode, done.stderr) == (0, "")
    small, large = done.stdout.splitlines()
    assert small.startswith("1,000 rows: Krylov steps of ") and "the Gram matrix in memory" in small
    assert large.startswith("80,000 rows: Krylov steps of ") and "from a guess of rank" in large
    assert "K would take 51.2 GB, against a limit of 2 GB" in large


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


# ---------------------------------------------------------------------------- mercer fit


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """300 rows in four columns of numbers and one of text, as CSV."""
    path = tmp_path_factory.mktemp("data") / "rows.csv"
    X = np.random.default_rng(0).normal(size=(300, 4))
    lines = [",".join([*(f"{value:.6f}" for value in row), "Ulm"]) for row in X]
    path.write_text("\n".join(["a,b,c,d,city", *lines]) + "\n")
    return path


@pytest.mark.parametrize("kind", [".csv", ".parquet", ".npy", ".feather"])
def test_fit_writes_scores_and_says_plan_and_certificate(table, tmp_path, kind):
    done = run("fit", table, "--drop", "city", "--components", 3, "--gamma", 0.5, "-o", tmp_path / f"scores{kind}")
    assert (done.returncode, done.stdout) == (0, "")
    said = [line.partition(":")[0] for line in done.stderr.splitlines() if ": " in line]
    assert [word for word in said if word != "reading"][1] == "plan"
    assert "300 rows, 4 columns" in done.stderr and "3 components certified" in done.stderr
    X = mercer.open_rows(table, drop=["city"]).load()
    right = mercer.KernelPCA(3, kernel="rbf", gamma=0.5).fit_transform(X)
    assert_allclose(mercer.open_rows(tmp_path / f"scores{kind}").load(), right, atol=1e-9)
    assert len(list(tmp_path.iterdir())) == 1


def test_fit_reads_standard_input_and_writes_standard_output(table):
    done = subprocess.run(
        [sys.executable, "-m", "mercer", "fit", "-", "--drop", "city", "-d", "2", "--kernel", "linear"],
        input=table.read_text(), capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0 and "standard input: 300 rows" in done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "kernelpca0,kernelpca1" and len(lines) == 301
    assert all(len([float(field) for field in line.split(",")]) == 2 for line in lines[1:])


def test_a_comparison_of_standard_input_has_a_page_with_its_rows(table, tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "mercer", "compare", "-", "--label", "city", "--methods", "pca", "--repeats", "0",
         "--here", "-o", str(tmp_path / "page.html")],
        input=table.read_text(), capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "<h1>Which method for standard input?</h1>" in page and '"name":"city"' in page


def test_fit_by_landmarks_with_weights_and_chosen_columns(table, tmp_path):
    np.save(tmp_path / "x.npy", np.random.default_rng(0).normal(size=(5000, 3)))
    done = run("fit", tmp_path / "x.npy", "--landmarks", 40, "-d", 0.2, "-o", tmp_path / "s.npy")
    assert done.returncode == 0 and "from 40 landmarks" in done.stderr and "plan: PCA by 40 landmarks on" in done.stderr
    weighted = tmp_path / "w.csv"
    weighted.write_text("w,a,b\n" + "".join(f"{i % 3},{i},{i * i % 7}\n" for i in range(60)))
    done = run("fit", weighted, "--weights", "w", "--columns", "b,a", "-d", 1, "-o", tmp_path / "w.npy")
    assert done.returncode == 0 and "60 rows, 2 columns" in done.stderr
    assert np.load(tmp_path / "w.npy").shape == (60, 1)


def test_a_dry_run_plans_and_writes_nothing(table, tmp_path):
    done = run("fit", table, "--drop", "city", "-o", tmp_path / "scores.csv", "--dry-run")
    assert done.returncode == 0 and "plan: " in done.stderr and not list(tmp_path.iterdir())


WRONG = [
        (["{table}", "--columns", "city"], 3, "no numbers: 'city' (string)"),
        (["{folder}/nothing.csv"], 3, "there is no such file"),
        (["{table}", "--drop", "town"], 3, "has no column 'town'"),
        (["{table}", "--drop", "city", "-o", "{folder}/no/scores.csv"], 5, "Cannot write"),
        (["{table}", "--drop", "city", "-o", "{folder}/scores.xlsx"], 2, "known are .npy"),
        (["{table}", "--drop", "city", "--kernel", "spline"], 2, "weighted_degree, not 'spline'"),
        (["{table}", "--drop", "city", "--gamma", "wide"], 2, "neither a number nor"),
        (["{table}", "--drop", "city", "--memory", "2 potatoes"], 2, "is not a size"),
        (["{table}", "--drop", "city", "--memory", "1MB"], 5, "over the limit of 1 MB"),
        (["{table}", "--drop", "city", "-d", "2.5"], 2, "neither a whole number nor a share"),
        (["{table}", "--drop", "city", "--solver", "magic"], 2, "--solver must be one of"),
        (["{table}", "--drop", "city", "--kernel", "precomputed"], 2, "the kernels are linear, poly, rbf, sigmoid"),
    ]  # fmt: skip


def test_what_goes_wrong_is_one_sentence_and_an_exit_code(table, tmp_path):
    ends = run_all(["fit", *(text.format(table=table, folder=tmp_path) for text in words)] for words, _, _ in WRONG)
    check_each(list(zip(WRONG, ends, strict=True)), is_one_sentence)
    assert not list(tmp_path.iterdir())


def is_one_sentence(case):
    (_, code, words), done = case
    assert (done.returncode, done.stdout) == (code, "") and words in done.stderr
    assert "Traceback" not in done.stderr


def test_more_things_that_go_wrong_are_one_sentence(table, tmp_path):
    bad = tmp_path / "bad.csv"
    bad.write_text("w,a,b\n" + "".join(f"{-i},{i},{i * i % 7}\n" for i in range(60)))
    for arguments, code, words in [
        (["--weights", "w"], 3, "Negative values in data"),
        (["--columns", "a, a"], 3, "asked for more than once"),
        (["--landmarks", 5, "--solver", "dense"], 2, "--landmarks is for --solver landmark; --solver dense has none"),
        (["-o", bad], 2, "is the file that rows are read from"),
    ]:
        done = run("fit", bad, *arguments)
        assert (done.returncode, done.stdout) == (code, "") and words in done.stderr, done.stderr
        assert "Traceback" not in done.stderr
    np.savez(tmp_path / "x.npz", a=np.ones(3))
    (tmp_path / "x.npz").rename(tmp_path / "x.npy")
    done = run("fit", tmp_path / "x.npy")
    assert done.returncode == 3 and "it is a zip archive" in done.stderr and "Traceback" not in done.stderr


def test_a_kernel_that_is_none_is_not_verified(table, tmp_path):
    arguments = ["--kernel", "sigmoid", "--gamma", 0.5, "--coef0", -1, "--landmarks", 20, "-d", 1]
    done = run("fit", table, "--drop", "city", *arguments, "-o", tmp_path / "s.csv")
    assert done.returncode == 4 and "NOTHING is proven" in done.stderr and (tmp_path / "s.csv").exists()


@pytest.mark.skipif(os.name == "nt", reason="pipes as on Unix")
def test_whoever_reads_the_scores_may_stop_early(tmp_path):
    np.save(tmp_path / "x.npy", np.random.default_rng(0).normal(size=(20_000, 5)))
    command = ["mercer", "fit", f"{tmp_path}/x.npy", "--landmarks", "30", "-d", "5"]
    reading, writing = os.pipe()
    with TemporaryFile("w+") as err:
        streams = {0: os.devnull, 1: writing, 2: err.fileno()}
        child = start(command, streams, before=lambda: os.close(reading))
        os.close(writing)
        with os.fdopen(reading) as scores:
            assert scores.readline().startswith("kernelpca0,kernelpca1")
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert "Traceback" not in text_of(err) and "rror" not in text_of(err)
    done = branch(command, streams={1: None})
    assert done.returncode == 2 and "Standard input or output is closed" in done.stderr


def test_a_full_disk_leaves_the_old_file(table, tmp_path):
    out = tmp_path / "scores.csv"
    out.write_text("old")
    code = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))\n"
    code += "import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\nfrom mercer.__main__ import main; main()"
    done = run("fit", table, "--drop", "city", "-d", 2, "-o", out, code=code)
    assert done.returncode == 5 and "Cannot write" in done.stderr and "Traceback" not in done.stderr
    assert out.read_text() == "old" and list(tmp_path.iterdir()) == [out]


@pytest.fixture
def long_fit(tmp_path):
    np.save(tmp_path / "x.npy", np.random.default_rng(0).normal(size=(400_000, 10)))
    return ["fit", f"{tmp_path}/x.npy", "--landmarks", "500", "-o", f"{tmp_path}/s.csv"]


def test_an_interrupted_fit_leaves_no_file(long_fit, tmp_path):
    """A process of its own, as only that waits for its threads."""
    with subprocess.Popen([sys.executable, "-m", "mercer", *long_fit], stderr=subprocess.PIPE, text=True) as process:
        assert any(line.startswith("plan") for line in process.stderr)
        process.send_signal(signal.SIGINT)
        rest = process.stderr.read()
    assert process.returncode == 130 and "Traceback" not in rest
    assert list(tmp_path.iterdir()) == [tmp_path / "x.npy"]


@pytest.mark.skipif(os.name == "nt", reason="forks as on Unix")
def test_a_fit_that_is_told_to_end_leaves_no_file(long_fit, tmp_path):
    reading, writing = os.pipe()
    streams = {0: os.devnull, 1: os.devnull, 2: writing}
    child = start(["mercer", *long_fit], streams, before=lambda: os.close(reading))
    os.close(writing)
    with os.fdopen(reading) as said:
        assert any(line.startswith("plan") for line in said)
        os.kill(child, signal.SIGTERM)
        rest = said.read()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 143 and "Traceback" not in rest
    assert list(tmp_path.iterdir()) == [tmp_path / "x.npy"]


def test_a_fit_that_does_not_converge_is_written_and_not_verified(tmp_path):
    np.save(tmp_path / "x.npy", np.random.default_rng(0).normal(size=(900, 10)))
    code = "from mercer_old.commands import asked, fitting, opening, frame; from pathlib import Path; import sys\n"
    code += "params = dict(n_components=20, kernel='rbf', max_iter=1, eigen_solver='krylov')\n"
    code += "from mercer_old import errors\nwanted = opening.Wanted(sys.argv[1])\n"
    code += "job = fitting.Fit(asked.Asked(wanted, 'kpca', params), Path(sys.argv[2]))\n"
    code += "talk = dict.fromkeys(('as_json', 'quiet', 'debug', 'show_code'), False)\n"
    code += "try: frame.carry_out(lambda: job, **talk)\n"
    code += "except errors.MercerError as error: print(error, file=sys.stderr); sys.exit(error.exit_code)"
    done = run(tmp_path / "x.npy", tmp_path / "s.npy", code=code)
    assert done.returncode == 4 and "not proven to be what was asked for" in done.stderr
    assert np.load(tmp_path / "s.npy").shape == (900, 20)


# ---------------------------------------------------------------------------- PCA


def test_fit_does_pca_too(table, tmp_path):
    done = run(
        "fit",
        table,
        "--drop",
        "city",
        "--method",
        "pca",
        "--components",
        0.9,
        "--standardize",
        "-o",
        tmp_path / "scores.npy",
    )
    assert done.returncode == 0 and "explained variance" in done.stderr and "certified" in done.stderr
    X = mercer.open_rows(table, drop=["city"]).load()
    model = mercer.PCA(0.9, standardize=True).fit(X)
    assert_allclose(np.load(tmp_path / "scores.npy"), model.transform(X), atol=1e-9)


def test_few_columns_have_few_components_unless_more_are_asked_for(table):
    done = run("fit", table, "--drop", "city", "--method", "pca", "--whiten")
    assert done.returncode == 0
    header, *rows = done.stdout.splitlines()
    assert header == ",".join(f"pca{i}" for i in range(4))
    assert_allclose(np.std(np.loadtxt(rows, delimiter=","), axis=0, ddof=1), 1.0)
    done = run("fit", table, "--drop", "city", "--method", "pca", "--components", 99)
    assert done.returncode == 3 and "must be between 0 and 4, as there are no more rows or columns." in done.stderr


OF_ANOTHER = [
    (["--method", "pca", "--kernel", "rbf"], "--kernel is not for --method pca, but for kpca."),
    (["--method", "pca", "--landmarks", 50], "--landmarks is not for --method pca, but for kpca, lle, gplvm."),
    (["--whiten"], "--whiten is not for --method kpca, but for pca, ppca."),
    (
        ["--method", "tsne"],
        "--method tsne: there is no such method; known are kpca, pca, ppca, lle, fa, gplvm, autoencoder.",
    ),
    (["--method", "pca", "--solver", "landmark"], "--solver must be one of"),
]


def test_options_of_another_method_are_wrong_use(table):
    ends = run_all(["fit", table, *arguments] for arguments, _ in OF_ANOTHER)

    def is_wrong_use(case):
        (_, words), done = case
        assert done.returncode == 2 and words in done.stderr and "Traceback" not in done.stderr

    check_each(list(zip(OF_ANOTHER, ends, strict=True)), is_wrong_use)


def test_plan_knows_pca():
    done = run("plan", "--method", "pca", "--rows", "2e6", "--features", 256)
    assert done.returncode == 0 and "256×256" in done.stdout
    assert run("plan", "--method", "pca", "--rows", 5, "--features", 3).returncode == 0
    done = run("plan", "--method", "pca", "--rows", 5, "--features", 3, "--components", 10)
    assert done.returncode == 2 and "--components 10 must be between" in done.stderr


@pytest.fixture(scope="module")
def two_lumps(tmp_path_factory):
    """400 rows on a bent sheet, and 60 far away from it."""
    rng = np.random.default_rng(0)
    u, v = rng.uniform(size=(2, 400))
    sheet = np.column_stack([np.cos(3 * u), np.sin(3 * u), v])
    path = tmp_path_factory.mktemp("lle") / "lumps.csv"
    rows = np.concatenate([sheet, rng.normal(size=(60, 3)) * 0.05 + 50])
    np.savetxt(path, rows, delimiter=",", header="x,y,z", comments="")
    np.savetxt(path.parent / "sheet.csv", sheet, delimiter=",", header="x,y,z", comments="")
    return path


@pytest.fixture(scope="module")
def crime(tmp_path_factory):
    """Arrests per 100,000 people in 60 counties, with the index that pandas writes and a column that is constant."""
    rng = np.random.default_rng(7)
    path = tmp_path_factory.mktemp("crime") / "crime.csv"
    columns = rng.normal([7.8, 171, 66, 21], [4.4, 120, 14, 9.4], size=(60, 4)).round(1)
    lines = [f"{i},county {i}," + ",".join(f"{x:g}" for x in row) + ",1973" for i, row in enumerate(columns)]
    path.write_text("\n".join(["Unnamed: 0,county,murder,assault,urban,rape,year", *lines]) + "\n")
    return path


def test_raw_units_are_told_in_one_line_with_the_option_that_helps(crime, tmp_path):
    options = ["--drop", "county", "--drop", "Unnamed: 0", "--drop", "year", "-d", 2, "-o", tmp_path / "scores.csv"]
    done = run("fit", crime, *options)
    said = [line for line in done.stderr.splitlines() if line.startswith("warning: ")]
    assert done.returncode == 0 and len(said) == 1
    assert said[0].startswith("warning: Every row is alone to this kernel")
    assert "Column 'assault' has 9" in said[0] and said[0].endswith("Try --standardize or --gamma median.")
    for method in ("kpca", "pca", "lle"):
        done = run("fit", crime, *options, "--method", method, "--standardize")
        assert done.returncode == 0 and "warning" not in done.stderr
    done = run("fit", crime, *options, "--method", "pca")
    said = [line for line in done.stderr.splitlines() if line.startswith("warning: ")]
    assert len(said) == 1 and "Column 'assault' has 9" in said[0] and said[0].endswith("try --standardize.")


def test_columns_that_are_no_features_are_told_with_the_option_that_leaves_them_out(crime, tmp_path):
    for method in ("pca", "lle"):
        done = run("fit", crime, "--drop", "county", "-d", 2, "--method", method, "-o", tmp_path / "scores.csv")
        assert done.returncode == 0
        assert "reading: column 'Unnamed: 0' names rows, as R and pandas write names of rows (--id)\n" in done.stderr
        assert "warning: Column 'year' is constant: no use as a feature.\n" in done.stderr


def test_years_are_not_called_numbers_of_rows(tmp_path):
    rng, data = np.random.default_rng(0), tmp_path / "years.csv"
    lines = [f"{1970 + i},{i + 1},{rng.normal():.3f},{rng.normal():.3f}" for i in range(50)]
    data.write_text("\n".join(["year,nr,a,b", *lines]) + "\n")
    done = run("fit", data, "-d", 2, "--method", "pca", "-o", tmp_path / "scores.csv")
    said = (
        "Column 'year' goes up by one from row to row. If it does nothing but count them, leave it out: --drop year\n"
    )
    assert done.returncode == 0 and said in done.stderr and "'year' counts rows" not in done.stderr
    assert "Column 'nr' counts rows" in done.stderr


def test_fit_does_lle_too(two_lumps, tmp_path):
    from mercer import LocallyLinearEmbedding

    sheet, out = two_lumps.parent / "sheet.csv", tmp_path / "places.npy"
    done = run("fit", sheet, "--method", "lle", "--neighbors", 12, "--out", out)
    assert done.returncode == 0, done.stderr
    assert "reconstruction error" in done.stderr and "2 components certified" in done.stderr
    X = np.loadtxt(sheet, delimiter=",", skiprows=1)
    assert_allclose(np.load(out), LocallyLinearEmbedding(n_neighbors=12).fit_transform(X), atol=1e-9)


def test_fit_by_lle_tells_of_parts_and_does_what_was_asked_about_them(two_lumps):
    warned = run("fit", two_lumps, "--method", "lle", "--neighbors", 8)
    assert (
        warned.returncode == 0 and "warning: The graph of the 8 nearest neighbours falls apart into 2" in warned.stderr
    )
    options = "--method", "lle", "--neighbors", 8, "--variant", "ltsa", "--components", 1, "--on-disconnected"
    separate = run("fit", two_lumps, *options, "separate")
    assert separate.returncode == 0 and "Part 2 (60 rows): 1 component certified" in separate.stderr
    refused = run("fit", two_lumps, *options, "raise")
    assert refused.returncode == 3 and refused.stdout == "" and "400 and 60 rows" in refused.stderr


WRONG_WITH_LLE = [
    (["--neighbors", 500], 3, "--neighbors 500 is too many: there are 460 rows"),
    (["--components", 0.9], 2, "--components must be a whole number"),
    (["--metric", "precomputed"], 2, "the metrics are euclidean, cosine, spectrum"),
    (["--weights", "x"], 2, "--weights is not for --method lle"),
    (["--memory", "1MB"], 5, "over the limit of 1 MB"),
]


def test_what_goes_wrong_with_lle_is_one_sentence_and_an_exit_code(two_lumps):
    ends = run_all(["fit", two_lumps, "--method", "lle", *arguments] for arguments, _, _ in WRONG_WITH_LLE)
    check_each(list(zip(WRONG_WITH_LLE, ends, strict=True)), is_one_sentence)


def test_plan_knows_lle():
    done = run("plan", "--method", "lle", "--rows", "1e5", "--rows", "1e11", "--features", 3, "--neighbors", 12)
    assert (
        done.returncode == 0 and "inverse iteration by a sparse factor" in done.stdout and "not possible" in done.stdout
    )
    assert run("plan", "--method", "lle", "--rows", 3, "--features", 3).returncode == 2
