"""Four options of every command: JSON that any reader takes, silence, tracebacks, and Python that does the same."""

import json
import os
import re
import shlex
import shutil
import sys

import numpy as np
import pandas as pd
import pytest
import typer

import mercer
from mercer_old.cli import app
from mercer_old.commands.answers import as_document
from mercer_old.commands.script import Script
from mercer_old.commands.wording import in_options
from mercer_old.functions import health
from support.branches import branch, refuse_raw_text, run_all, run_code
from support.together import check_each

COMMANDS = typer.main.get_command(app).commands
rng = np.random.default_rng(0)
NUMBERS = pd.DataFrame(rng.normal(size=(60, 4)) * [4, 3, 2, 1], columns=list("abcd")).round(6)
NUMBERS["d"] = NUMBERS["d"].abs()  # weights
NAMES = [f"{first} {last}" for first in ("ned", "rod", "todd", "maude") for last in ("flanders", "simpson")] * 4

# Of every command: lines that work, each with a file for rows where it writes any.
LINES = [
    "fit x.csv --method pca -d 2 -o OUT",
    "fit x.csv --drop d --gamma 0.1 -d 3 --seed 1 -o OUT",
    "fit x.csv --weights d --kernel poly --degree 2 -d 2 --standardize -o OUT",
    "fit x.csv --method lle --neighbors 8 -o OUT",
    "fit names.txt --kernel spectrum --n 2 -d 2 -o OUT",
    "fit mixed.csv --kernel table -d 2 -o OUT",
    "fit x.csv --dry-run",
    "fit named.csv --method pca -d 2 --keep kind --save kept.mercer -o OUT",
    "novelty x.csv new.csv --alpha 0.2 --seed 3 -o OUT",
    "novelty x.csv new.csv --method pca -d 2 --fdr 0.3 -o OUT",
    "novelty named.csv turned.csv --drop kind --save kept.mercer -o OUT",
    "components x.csv --seed 1",
    "components mixed.csv --labels kind --share 0.8",
    "influence x.csv -d 2 --clusters",
    "influence x.csv --method pca",
    "stability x.csv -d 2 --draws 5 --seed 1",
    "compare mixed.csv --label kind --methods pca,ica --repeats 1 --seed 1 --here",
    "plan --rows 100 --rows 1e4 --features 3",
    "tune x.csv --kernels linear,rbf --seed 1",
    "tune mixed.csv --labels kind --kernels linear,rbf --seed 1",
    "transform m.mercer new.csv -o OUT",
    "inverse m.mercer scores.csv -o OUT",
    "denoise m.mercer new.csv -o OUT",
    "denoise m.mercer new.csv --error -o OUT",
    "impute gaps.mercer gappy.csv -o OUT",
    "plot m.mercer x.csv -o picture.svg",
    "plot m.mercer --kind scree -o picture.svg",
    "plot m.mercer named.csv --id who --label kind --names --ellipse hull -o picture.svg",
    "report m.mercer named.csv --id who --label kind -o picture.html",
    "report m.mercer -o picture.html",
    "fit x.csv --method pca -d 2 --report picture.html",
    "inspect m.mercer",
    "verify m.mercer",
    "convert m.mercer -o weights.csv",
    "convert m.mercer x.csv --to plink -o p",
    "demo --only 2 --out .",
    "playground x.csv --columns a,b -o picture.html",
    "doctor",
]
# What is asked for is said, or goes to files of other kinds.
SILENT = "--dry-run", "plot", "report", "convert", "playground"
PUTS = [line for line in LINES if "OUT" not in line and not any(word in line for word in SILENT)]
FIRST = {line.split()[0]: line for line in reversed(LINES)}.values()
# What all commands do by the same lines of code: the first line of each command shows it, the others are more of it.
every_command = pytest.mark.parametrize(
    "line", [line if line in FIRST else pytest.param(line, marks=pytest.mark.slow) for line in LINES]
)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A model file, and scores by it."""
    folder = tmp_path_factory.mktemp("model")
    NUMBERS.to_csv(folder / "x.csv", index=False)
    assert run_in(folder, "fit x.csv --method pca -d 2 --save m.mercer -o scores.csv").returncode == 0
    assert run_in(folder, "fit x.csv --method ppca -d 2 --save gaps.mercer -o other.csv").returncode == 0
    return folder


@pytest.fixture
def folder(tmp_path, model):
    for name in ("m.mercer", "gaps.mercer", "scores.csv"):
        shutil.copy(model / name, tmp_path / name)
    NUMBERS.to_csv(tmp_path / "x.csv", index=False)
    NUMBERS.head(9).to_csv(tmp_path / "new.csv", index=False)
    NUMBERS.head(9).mask(NUMBERS.head(9) > 1).to_csv(tmp_path / "gappy.csv", index=False)
    NUMBERS.assign(kind=["u", "v"] * 30).to_csv(tmp_path / "mixed.csv", index=False)
    named = NUMBERS.assign(kind=["u", "v"] * 30, who=[f"r{i}" for i in range(60)])
    named.to_csv(tmp_path / "named.csv", index=False)
    named.iloc[:9, ::-1].to_csv(tmp_path / "turned.csv", index=False)
    (tmp_path / "names.txt").write_text("\n".join(NAMES) + "\n")
    return tmp_path


def run_in(folder, line, out="out.csv", **how):
    words = ["mercer", *shlex.split(line.replace("OUT", out))]
    return branch(words, before=lambda: os.chdir(folder), **how)


def told_of(folder, lines):
    """Each line with its end, all in one branch."""
    lines = list(lines)
    ends = run_all((shlex.split(line.replace("OUT", "out.csv")) for line in lines), folder)
    return list(zip(lines, ends, strict=True))


def test_every_command_has_a_line_here_and_the_four_options():
    assert {line.split()[0] for line in LINES} == set(COMMANDS)
    for command in COMMANDS.values():
        assert {"--json", "--quiet", "--debug", "--show-code"} <= {
            name for each in command.params for name in each.opts
        }


@every_command
def test_json_is_one_document_alone_on_standard_output(folder, line):
    done = run_in(folder, f"{line} --json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
    assert isinstance(found, dict) and found
    assert said_warnings(done) == [" ".join(one.split()) for one in found["warnings"]]
    if line.endswith("OUT"):
        assert "out.csv" in found.values()


def said_warnings(done):
    """Those on standard error, each once."""
    lines = [line.removeprefix("warning: ") for line in done.stderr.splitlines() if line.startswith("warning: ")]
    return [" ".join(line.split()) for line in dict.fromkeys(lines)]


def test_json_has_the_warnings_that_were_said(folder):
    table = NUMBERS.assign(nr=range(60), same=1.0, big=NUMBERS["a"] * 1e6, word=["u", "v"] * 30)
    table.to_csv(folder / "odd.csv", index=False)
    done = run_in(folder, "fit odd.csv --method pca -d 2 -o OUT --json --quiet")
    found = json.loads(done.stdout)["warnings"]
    assert done.returncode == 0 and found == said_warnings(done) and len(found) == 4
    for words in ("'nr'", "'same' is constant", "'big'", "'word'"):
        assert any(words in one for one in found), words


def test_json_and_rows_do_not_share_standard_output(folder):
    # A fit that is kept writes no scores unasked.
    unasked = [line for line in LINES if "OUT" in line and not (line.startswith("fit") and "--save" in line)]
    lines = [line.replace("-o OUT", "-o -") for line in LINES] + [line.replace("-o OUT", "") for line in unasked]

    def both(case):
        done = case[1]
        assert (done.returncode, done.stdout) == (2, "") and "--json and the rows would both" in done.stderr

    check_each(told_of(folder, (f"{line} --json" for line in lines if line not in LINES)), both)


def test_json_has_the_numbers_of_the_fit(folder):
    from mercer import PCA

    found = json.loads(run_in(folder, "fit x.csv --method pca -d 2 -o OUT --json").stdout)
    model = PCA(2).fit(NUMBERS)
    assert found["explained_variance"] == pytest.approx(model.explained_variance_, rel=1e-12)
    assert found["certificate"]["converged"] is True and found["rows"] == 60 and found["model"] == "PCA"


def test_figures_that_are_no_numbers_and_hostile_names_stay_json():
    name = "a\x9b\x1b[31m\u202e\udcff🐧\n"
    text = as_document({"x": float("nan"), "y": np.array([1.0, np.inf]), "n": np.int64(3), name: [np.float32(0.5)]})
    assert json.loads(text) == {"x": None, "y": [1.0, None], "n": 3, name: [0.5]}
    assert all(c.isprintable() or c == "\n" for c in text)


@every_command
def test_quiet_says_nothing_where_all_is_well_and_changes_no_answer(folder, line):
    (_, quiet), (_, loud) = told_of(folder, [f"{line} --quiet", line])
    assert quiet.returncode == loud.returncode == 0
    assert [said for said in quiet.stderr.splitlines() if not said.startswith("warning: ")] == []
    if line in PUTS and "plan" not in line and "tune" not in line and "compare" not in line:
        assert quiet.stdout == loud.stdout != ""


def test_quiet_keeps_warnings_and_errors(folder):
    NUMBERS.assign(nr=range(60)).to_csv(folder / "counted.csv", index=False)
    done = run_in(folder, "fit counted.csv --method pca -o OUT --quiet")
    assert done.stderr.startswith("warning: Column 'nr'") and "plan:" not in done.stderr
    done = run_in(folder, "fit nowhere.csv --quiet")
    assert done.returncode == 3 and done.stderr.startswith("mercer: nowhere.csv: there is no such file")


@pytest.mark.parametrize(
    ("line", "code", "words"),
    [
        ("fit nowhere.csv", 3, "there is no such file"),
        ("fit x.csv --method tsne", 2, "there is no such method"),
        ("fit x.csv --method pca -d 99", 3, "n_components=99 must be between"),
        ("fit x.csv -o /dev/full", 5, "No space left"),
    ],
)
def test_debug_shows_where_an_error_comes_from_with_the_same_code(folder, line, code, words):
    plain, traced = run_in(folder, line), run_in(folder, f"{line} --debug")
    assert plain.returncode == traced.returncode == code
    assert "Traceback" not in plain.stderr and plain.stderr.count("mercer: ") == 1
    assert "Traceback" in traced.stderr and 'File "' in traced.stderr and words in traced.stderr


def test_debug_shows_the_error_behind_a_sentence_and_obeys_no_name(folder):
    (folder / "\x1b[31m.csv").write_text("a,b\n1,2\n3,nan\n")
    traced = run_in(folder, "fit '\x1b[31m.csv' --method pca --debug")
    assert traced.returncode == 3 and "\x1b" not in traced.stderr
    behind = run_in(folder, "fit x.csv --method pca -d 99 --debug").stderr
    assert behind.count("Traceback") >= 2 and "ValueError" in behind


@every_command
def test_the_code_that_is_shown_runs_and_finds_the_same(folder, line):
    shown = run_in(folder, f"{line} --show-code")
    assert shown.returncode == 0 and shown.stderr == "", shown.stderr
    assert not (folder / "out.csv").exists() and not (folder / "figure_2.html").exists()
    done, ran = (
        run_in(folder, line),
        run_code(shown.stdout.replace("out.csv", "other.csv").replace("picture.", "other."), folder),
    )
    assert done.returncode == ran.returncode == 0, ran.stderr
    if line.endswith("OUT"):
        pd.testing.assert_frame_equal(pd.read_csv(folder / "out.csv"), pd.read_csv(folder / "other.csv"))
    elif "picture." in line:
        kind = line.rpartition(".")[2]
        assert in_pictures(folder / f"picture.{kind}") == in_pictures(folder / f"other.{kind}")
    elif line.startswith(("plan", "tune", "compare", "convert")) or "--dry-run" in line:  # times of this machine; files
        assert ran.stdout.strip()
    else:
        told = [ran.stdout.split(), in_options(ran.stdout).split()]
        assert done.stdout.split() in told and done.stdout


def in_pictures(path):
    """A picture as it is; of a page its pictures, as its words name the file it was asked for by."""
    return re.findall(r"<svg.*?</svg>", path.read_text(), re.S) if path.suffix == ".html" else path.read_bytes()


@pytest.mark.parametrize("line", [line for line in LINES if "--save" in line])
def test_the_code_that_is_shown_keeps_the_same_file(folder, line):
    shown = run_in(folder, f"{line} --show-code").stdout
    assert run_in(folder, line).returncode == 0
    kept = (folder / "kept.mercer").read_bytes()
    (folder / "kept.mercer").unlink()
    assert run_code(shown, folder).returncode == 0 and (folder / "kept.mercer").read_bytes() == kept


PUBLIC = {"mercer", "mercer.kernels", "mercer_old.report", "pathlib", "sys"}  # the gallery has no other name


def test_the_code_that_is_shown_has_public_names_alone(folder):
    check_each(told_of(folder, (f"{line} --show-code" for line in LINES)), has_public_names_alone)


def has_public_names_alone(case):
    line, shown = case
    assert shown.returncode == 0 and shown.stdout
    for module, names in re.findall(r"^(?:from (\S+) )?import (.+)$", shown.stdout, re.M):
        assert {module} - {""} <= PUBLIC and (module or names in PUBLIC)
        if module == "mercer":
            assert set(names.split(", ")) <= set(mercer.__all__)
        assert module != "mercer_old.report" or line.startswith("demo")


def test_code_for_standard_output_writes_what_the_command_writes(folder):
    line = "fit x.csv --method pca -d 2"
    ran = run_code(run_in(folder, f"{line} --show-code").stdout, folder)
    assert ran.returncode == 0 and ran.stdout == run_in(folder, line).stdout != ""


def test_code_that_is_shown_holds_whatever_names_files_and_columns_have(folder):
    hostile = "a'b\"\\ {x}\n.csv"
    NUMBERS.rename(columns={"a": 'it\'s "a"'}).to_csv(folder / hostile, index=False)
    shown = branch(
        ["mercer", "fit", hostile, "--method", "pca", "-d", "1", "--drop", 'it\'s "a"', "-o", "out.csv", "--show-code"],
        before=lambda: os.chdir(folder),
    )
    refuse_raw_text(shown)
    ran = run_code(shown.stdout, folder)
    assert ran.returncode == 0 and len(pd.read_csv(folder / "out.csv")) == 60, ran.stderr


def test_a_question_has_one_mark(folder):
    assert run_in(folder, "ft x.csv").stderr == "mercer: No such command 'ft'. Did you mean 'fit'? See: mercer --help\n"


def test_code_needs_a_file(folder):
    done = run_in(folder, "fit - --show-code")
    assert (done.returncode, done.stdout) == (2, "") and "--show-code is for files" in done.stderr


def test_a_script_writes_kernels_and_models_with_what_is_not_usual_about_them():
    from mercer import KernelPCA
    from mercer.kernels import Spectrum

    script = Script()
    assert (
        script.written(Spectrum(2)) == "Spectrum(n=2)" and script.written(KernelPCA(3)) == "KernelPCA(n_components=3)"
    )
    assert str(script).startswith("from mercer import KernelPCA\nfrom mercer.kernels import Spectrum\n")


def test_doctor_names_what_is_missing_with_the_line_that_brings_it(monkeypatch):
    monkeypatch.setattr(health, "_PARTS", {"no-such-part": ("wonders", "magic")})
    found = health.doctor()
    assert found.parts["no-such-part"]["version"] is None and not found.wrong
    assert 'no-such-part: not installed; for wonders: pip install "mercer[magic]"' in str(found)


def test_doctor_ends_with_its_code_where_answers_are_wrong(folder, monkeypatch):
    monkeypatch.setattr(health, "_VARIANCES", np.array([2.0, 1.0]))
    done = run_in(folder, "doctor --json")
    assert done.returncode == 4 and json.loads(done.stdout)["healthy"] is False
    assert "mercer: The self-test failed: PCA has variances 2.66" in done.stderr


def test_parts_of_the_doctor_are_those_of_the_package():
    import tomllib
    from pathlib import Path

    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    extras = {
        (re.match(r"[\w-]+", name)[0], extra)
        for extra, names in project["optional-dependencies"].items()
        for name in names
    }
    assert {(name, extra) for name, (_, extra) in health._PARTS.items()} <= extras
    assert {name for name, _ in extras} - {"tqdm", "regex"} == set(health._PARTS)  # which the second edition needs


def test_completion_is_offered_for_the_shell():
    env = {"_MERCER_COMPLETE": "complete_bash", "COMP_WORDS": "mercer sta", "COMP_CWORD": "1"}
    done = branch(["mercer"], before=lambda: os.environ.update(env))
    assert "stability" in done.stdout and sys.executable not in done.stdout
