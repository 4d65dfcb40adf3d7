"""A page about a fitted model: its facts are those of the model, its texts are texts, and a real browser shows it."""

import base64
import hashlib
import json
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from typer.testing import CliRunner

import mercer
import mercer_old.errors
from mercer_old.cli import app
from mercer_old.errors import WrongUse
from mercer_old.report.chapters.subject import subject_of
from mercer_old.report.facts import Facts, facts_of
from mercer_old.report.gathering import _are_others, gathered
from mercer_old.report.model_page import model_page
from mercer_old.report.origin import origin_of
from mercer_old.report.pieces import interval_of

ATTACK = "<img src=x onerror=\"document.title='owned'\">\"'></script><script>alert(1)</script>$style&amp;\u202e"
VOID = {"meta", "img", "source", "br", "link", "input"}


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2)) @ rng.normal(size=(2, 5)) + 0.3 * rng.normal(size=(60, 5))
    return pd.DataFrame(X, columns=["a", "b", "c", "d", ATTACK])


MODELS = {
    "pca": lambda: mercer.PCA(3, standardize=True),
    "all of pca": lambda: mercer.PCA(),
    "one of pca": lambda: mercer.PCA(1),
    "incremental": lambda: mercer.IncrementalPCA(2),
    "kernel": lambda: mercer.KernelPCA(3, kernel="rbf", gamma=0.1),
    "landmarks": lambda: mercer.KernelPCA(2, kernel="rbf", gamma=0.1, n_landmarks=20, eigen_solver="landmark"),
    "no kernel": lambda: mercer.KernelPCA(2, kernel="sigmoid", gamma=0.5, coef0=-2),
    "lle": lambda: mercer.LocallyLinearEmbedding(n_neighbors=8, n_components=2),
    "lle by landmarks": lambda: mercer.LocallyLinearEmbedding(n_neighbors=8, n_landmarks=40),
    "detector": lambda: mercer.NoveltyDetector(mercer.PCA(2)),
}


@pytest.fixture(scope="module", params=MODELS)
def model(request, table):
    with pytest.warns() if request.param == "no kernel" else _quietly():
        return MODELS[request.param]().fit(table)


class _quietly:
    def __enter__(self): ...
    def __exit__(self, *_): ...


class Parsed(HTMLParser):
    """Every element with its attributes, every text; elements have to be closed in order."""

    def __init__(self, page):
        super().__init__(convert_charrefs=True)
        self.elements, self.texts, self.open, self.code, self.scripts = [], [], [], [], []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "script" in self.open:
            self.scripts.append(data)
            return
        self.texts.append(data)
        if "pre" in self.open:
            self.code.append(data)

    @property
    def text(self):
        return "".join(self.texts)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_facts_are_those_of_the_model_and_json_can_say_them(model, table):
    facts = gathered(model, table)
    again = json.loads(json.dumps(facts.as_dict(), allow_nan=False))
    assert Facts.from_dict(again) == facts
    assert model_page(Facts.from_dict(again)) == model_page(facts)
    inner = getattr(model, "estimator_", model)
    assert again["certificate"] == inner.certificate_.sentences()
    assert again["certified"] == inner.certificate_.certified and again["why"] == inner.plan_.why
    assert again["n_components"] == len(again["components"]) == len(inner.get_feature_names_out())
    if hasattr(inner, "explained_variance_"):
        values = [component["value"] for component in again["components"]]
        assert values == pytest.approx(inner.explained_variance_, rel=1e-12)
        shares = [component["share"] for component in again["components"]]
        assert None in shares or shares == pytest.approx(inner.explained_variance_ratio_, rel=1e-12)
    for one in again["components"]:
        if one["lower"] is not None and one["upper"] is not None and one["value"] is not None:
            assert one["lower"] <= one["upper"]
            assert one["lower"] <= one["value"] * (1 + 1e-9) and one["value"] <= one["upper"] * (1 + 1e-9) + 1e-300


def test_intervals_of_variances_hold_the_truth(table):
    """In units of variances, not of eigenvalues, and of divided columns."""
    X = table.to_numpy()
    model = mercer.PCA(3, standardize=True).fit(X)
    facts = facts_of(model, origin_of(model))
    truth = np.linalg.eigvalsh(np.corrcoef(X.T))[::-1]
    for component, value in zip(facts.components, truth, strict=False):
        assert component.lower <= value * (1 + 1e-12) and value <= component.upper * (1 + 1e-12)
        assert component.upper - component.lower < 1e-9 * value


def test_what_a_page_says_is_proven_is_true_as_it_is_printed():
    """Rounded outwards: 1.2346 ± 1e-14 would not hold 1.23456789."""
    words = interval_of(1.23456789, 1.23456789 - 1.1e-14, 1.23456789 + 2.1e-14)
    assert words.endswith(" of it") and 2.1e-14 <= float(words.split()[0]) < 4e-14
    for low, value, high in ((0.123456789, 0.2, 0.987654321), (0.0, -1e-18, 2.4949e-14), (-3.3333333, 1.0, 7.7777777)):
        lower, upper = map(float, interval_of(value, low, high).split(" to "))
        assert lower <= low and high <= upper and upper - lower <= 1.001 * (high - low)


@pytest.fixture(scope="module")
def home(table, tmp_path_factory):
    """A file of rows, and a page about their fit."""
    folder = tmp_path_factory.mktemp("report")
    names = [f"<i>{i}</i>" for i in range(60)]
    table.assign(who=names, kind=[ATTACK, "u", "v"] * 20).to_csv(folder / "x.csv", index=False)
    rows = mercer.open_rows(folder / "x.csv", label="kind")
    mercer.PCA(2, standardize=True).fit(rows).report(rows, path=folder / "page.html")
    return folder


def refuse_live_parts(page):
    """Nothing runs but the one script whose hash the policy has; nothing is fetched or sent."""
    assert {tag for tag, _ in page.elements}.isdisjoint({"iframe", "object", "embed", "link", "form", "base"})
    kinds = [attributes.get("type") for tag, attributes in page.elements if tag == "script"]
    assert kinds.count(None) == 1 and set(kinds) <= {None, "application/json"}
    digest = base64.b64encode(hashlib.sha256(page.scripts[-1].encode()).digest()).decode()
    policy = next(each["content"] for _, each in page.elements if each.get("http-equiv"))
    assert policy.split("; ")[:2] == ["default-src 'none'", f"script-src 'sha256-{digest}'"]
    for _, attributes in page.elements:
        assert not [name for name in attributes if name.startswith("on")]
        for name in ("src", "srcset", "href"):
            assert attributes.get(name, "#").startswith(("#", "data:image/png;base64,"))


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", ["kernel", "lle", "lle by landmarks", "detector"])
def test_texts_of_a_page_are_texts_and_have_the_proof(name, table, tmp_path):
    model = MODELS[name]().fit(table)
    page = Parsed(model.report(table))
    refuse_live_parts(page)
    assert ATTACK.replace("\u202e", "\\u202e") in page.text and "\u202e" not in page.text
    for sentence in getattr(model, "estimator_", model).certificate_.sentences():
        assert sentence in page.text


def test_a_page_about_parts_has_the_proof_of_each(table, tmp_path):
    apart = pd.concat([table, table + 1e3])
    for landmarks, verdict in ((None, "Certified: what"), (90, "Landmarks certified, all other rows placed")):
        model = mercer.LocallyLinearEmbedding(n_neighbors=5, n_landmarks=landmarks, on_disconnected="separate")
        with pytest.warns(mercer_old.errors.MercerWarning, match="falls apart into 2 parts"):
            model.fit(apart)
        page = Parsed(model.report(apart))
        assert verdict in page.text and len(model.certificate_.sentences()) > 2
        for sentence in model.certificate_.sentences():
            assert sentence in page.text


def test_landmarks_that_are_not_certified_were_not_planned_so(table):
    model = MODELS["lle by landmarks"]().fit(table)
    model.certificate_ = replace(model.certificate_, landmarks=replace(model.certificate_.landmarks, converged=False))
    facts = facts_of(model, origin_of(model))
    assert facts.verdict == "NOT certified: see below." and "not proven to be what was asked for" in facts.findings[-1]


def test_a_page_obeys_no_name_and_asks_for_nothing(home):
    page = Parsed((home / "page.html").read_text(encoding="utf-8"))
    refuse_live_parts(page)
    assert hashlib.sha256((home / "x.csv").read_bytes()).hexdigest() in page.text
    drawn = [each["class"] for tag, each in page.elements if tag == "svg"]
    assert drawn == ["map-still", "drawn scree", "drawn spectrum", "drawn bars", "drawn bars", "drawn novelty"]


def test_shares_without_a_meaning_are_not_drawn_and_other_rows_leave_the_rules_alone(table, tmp_path):
    with pytest.warns(match="not positive semi-definite"):
        odd = mercer.KernelPCA(2, kernel="sigmoid", gamma=0.5, coef0=-2).fit(table)
    page = Parsed(odd.report(table.head(20)))
    assert not [each for _, each in page.elements if each.get("class") == "drawn scree"]
    assert "rows drawn20" in page.text.replace("\n", "")
    model = mercer.PCA(1).fit(table)
    page = Parsed(model.report())
    assert mercer.suggest(model).consensus in page.text and "rows drawn" not in page.text


def test_rules_are_asked_of_the_rows_of_the_fit_alone(table, tmp_path):
    """As many rows, and others: the page says so, and rules that need rows say that they have none."""
    X = table.to_numpy()
    model = mercer.PCA(2, whiten=True).fit(X)
    for fitted in (model, mercer.PCA(5).fit(X), mercer.KernelPCA(2, kernel="rbf").fit(X), MODELS["landmarks"]().fit(X)):
        for rows, others in ((X, False), (X[::-1], False), (X * 2, True), (X + 1, True)):
            assert _are_others(subject_of(fitted, rows)) is others
    page = Parsed(model.report(X * 2))
    assert "60, other ones than those of the fit" in page.text and "PCA, with rows of X" in page.text
    assert "it needs the rows: give them as X" in page.text
    page = Parsed(model.report(X))
    assert "PCA of X" in page.text and "it needs the rows" not in page.text


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", ["pca", "kernel", "lle", "detector"])
def test_rows_and_labels_that_are_not_of_the_model_are_refused(name, table, tmp_path):
    X, model = table.to_numpy(), MODELS[name]().fit(table.to_numpy())
    gap = np.where(np.arange(5) == 2, np.nan, X)
    for rows, labels, words in (
        (X[:, :3], None, "expecting 5 features"), (gap, None, "NaN"), (X, [1, 2], "one label for each of 60 rows"),
        (X, {"a": [1] * 60, "b": [1]}, "b has to be one label for each of 60 rows"), (X, "abc", "labels are a list"),
        ("x.csv", None, "give pathlib.Path"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=words):
            model.report(rows, labels, path=tmp_path / "page.html")
    with pytest.raises(NotFittedError):
        MODELS[name]().report(X)
    assert list(tmp_path.iterdir()) == []


def test_files_of_texts_are_opened_as_texts_and_labels_of_files_are_asked(home, tmp_path):
    words = ["kitten", "sitting", "mitten", "banana", "bandana", "<script>"]
    (tmp_path / "words.txt").write_text("\n".join(words))
    model = mercer.KernelPCA(2, kernel="spectrum").fit(words)
    page = Parsed(model.report(tmp_path / "words.txt"))
    refuse_live_parts(page)
    assert "KernelPCA of words.txt" in page.text
    assert "it needs labels" not in Parsed((home / "page.html").read_text()).text  # they are the column `kind`


def test_what_is_long_is_cut(tmp_path):
    """Names of columns, and texts that a kernel has learnt."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(30, 3)), columns=["a" * 9000, "b", "c"])
    page = Parsed(mercer.PCA(2).fit(frame).report())
    assert "a" * 50 in page.text and "a" * 200 not in page.text
    frame["d"] = [f"text {i} " * 100 for i in range(30)]
    model = mercer.KernelPCA(2, kernel="table").fit(frame[["b", "c", "d"]])
    assert len(facts_of(model, origin_of(model)).kernel) < 1000


def test_findings_say_when_neighbours_fall_apart_and_when_nothing_can_be_novel():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    with pytest.warns(match="falls apart"):
        lle = mercer.LocallyLinearEmbedding(n_neighbors=5, n_components=2).fit(np.vstack([X, X + 100]))
    assert "falls apart into 2 parts: coordinates only tell" in " ".join(facts_of(lle, origin_of(lle)).findings)
    with pytest.warns(match="no row will be called novel"):
        strict = mercer.NoveltyDetector(mercer.PCA(2), alpha=0.001).fit(X)
    assert facts_of(strict, origin_of(strict)).findings[-1].startswith("No row is called novel")
    usual = mercer.NoveltyDetector(mercer.PCA(2), alpha=0.2).fit(X)
    assert "a share of 0.2 at most" in facts_of(usual, origin_of(usual)).findings[-1]


def test_an_approximation_that_was_asked_for_is_no_failure(table, tmp_path):
    marks = {"landmarks": "planned", "pca": "held"}
    for name, mark in marks.items():
        page = Parsed(MODELS[name]().fit(table).report())
        shown = [each["class"] for tag, each in page.elements if tag == "span" and "class" in each]
        assert [name for name in shown if name in ("held", "planned", "failed")] == [mark]


def test_a_name_that_is_no_page_is_refused_before_the_work(table, tmp_path):
    with pytest.raises(WrongUse, match=r"report\.pdf: a report is a page, whose name ends in \.html"):
        mercer.PCA(2).fit(table).report(path=tmp_path / "report.pdf")
    assert list(tmp_path.iterdir()) == []


def test_what_to_do_next_runs(table, tmp_path, monkeypatch):
    """Every line of Python on a page, one after the other, with new rows at hand."""
    monkeypatch.chdir(tmp_path)
    X = table.to_numpy()
    words, mixed = ["ACGTACGT", "ACGTTCGT", "GGGTACGA", "TTGTACGT"] * 3, table.assign(kind=["u", "v", "w"] * 20)
    for count, model, rows in (
        (6, mercer.PCA(2), X),
        (6, mercer.KernelPCA(2, kernel="rbf", gamma=0.1), X),
        (3, mercer.KernelPCA(2, kernel="precomputed"), X @ X.T),
        (4, mercer.KernelPCA(2, kernel=lambda a, b: float(a @ b)), X),  # which no file can hold
        (3, mercer.KernelPCA(2, kernel="table"), mixed),
        (3, mercer.KernelPCA(2, kernel="weighted_degree"), words),
        (4, mercer.KernelPCA(2, kernel="spectrum"), words),
        (2, mercer.NoveltyDetector(mercer.PCA(2)), X),
    ):
        model.fit(rows)
        said = None if isinstance(model, mercer.NoveltyDetector) else mercer.suggest(model, rows)
        facts = facts_of(model, origin_of(model, rows), said)
        names = {"mercer": mercer, "model": model, "X": rows, "new": rows[:3]}
        for step in facts.steps:
            exec(step.python, names)  # noqa: S102
        assert len(facts.steps) == count, [step.words for step in facts.steps]
        assert (tmp_path / "model.mercer").exists() == all(step.command for step in facts.steps)
        (tmp_path / "model.mercer").unlink(missing_ok=True)


@pytest.mark.parametrize("options", ["", "--save m.mercer", "--weights weight"])
def test_the_page_of_a_fit_has_the_lines_that_bring_its_model_and_rows(table, tmp_path, monkeypatch, options):
    monkeypatch.chdir(tmp_path)
    table.assign(weight=[1, 2] * 30, kind=["u", "v", "w"] * 20).to_csv("x.csv", index=False)
    words = f"fit x.csv --method pca -d 2 --label kind --report page.html {options}"
    assert CliRunner().invoke(app, words.split()).exit_code == 0
    page = Parsed((tmp_path / "page.html").read_text(encoding="utf-8"))
    assert "PCA of x.csv" in page.text and "other ones than those" not in page.text
    names = {}
    exec(page.code[0], names)  # noqa: S102
    assert names["model"].n_components == 2 and len(names["X"]) == 60
    assert names["model"].transform(names["X"]).shape == (60, 2)


def test_rows_are_called_what_they_are_said_to_be_called():
    X = np.random.default_rng(0).normal(size=(20, 3))
    assert "<h1>PCA of my &lt;rows&gt;</h1>" in mercer.PCA(2).fit(X).report(X, data="my <rows>")
