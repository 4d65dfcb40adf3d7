"""Documents say what is there: every name they use exists, and every public name is in them."""

import ast
import inspect
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import BaseEstimator

import mercer
import reference
from mercer_old import datasets, textbook
from support.branches import branch, run_code
from support.together import check_each

ROOT = Path(__file__).parents[1]
DOCS = {
    path.relative_to(ROOT / "docs").as_posix(): path.read_text(encoding="utf-8")
    for path in sorted((ROOT / "docs").rglob("*.md"))
}
LECTURES, KERNEL_PCA = DOCS["lectures.md"], DOCS["guide/kernel_pca.md"]
OTHERS = "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"
README = (ROOT / "README.md").read_text(encoding="utf-8")


def names_of_tests():
    """Every test function and test class of this suite."""
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py")]
    return {name for text in texts for name in re.findall(r"^ *(?:def|class) (\w+)", text, re.M)}


def public_functions(module):
    return {
        name
        for name, value in vars(module).items()
        if inspect.isfunction(value) and value.__module__ == module.__name__ and not name.startswith("_")
    }


def code_words(text):
    return set(re.findall(r"`([^`\n]+)`", text))


def table_column(heading):
    """The code words of one column over all tables of the lectures' page."""
    found, index = set(), None
    for line in LECTURES.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")] if line.startswith("|") else None
        if cells is None:
            index = None
        elif heading in cells:
            index = cells.index(heading)
        elif index is not None and index < len(cells):
            found |= code_words(cells[index])
    return found


def test_functions_named_in_the_lectures_exist():
    known = public_functions(textbook) | public_functions(datasets) | {"VOC", "OOV"}
    assert table_column("function") - known == set()


def test_every_formula_of_the_textbook_and_every_data_set_has_its_slide():
    assert (public_functions(textbook) | public_functions(datasets)) - code_words(LECTURES) == set()


def test_tests_named_in_the_lectures_exist():
    named = {word for word in code_words(LECTURES) if word.lower().startswith("test")}
    assert len(named) > 80
    assert named - names_of_tests() == set()
    assert table_column("test") | table_column("shown by") <= named


def test_every_exercise_and_every_erratum_is_in_the_lectures():
    for file in ("test_exercises.py", "test_errata.py"):
        tree = ast.parse((ROOT / "tests" / "theory" / file).read_text(encoding="utf-8"))
        tests = {node.name for node in tree.body if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")}
        assert tests - code_words(LECTURES) == set()


def test_every_erratum_is_pointed_to_from_its_slide():
    body, _, errata = LECTURES.partition("## Errata")
    listed = re.findall(r"^\| (E\d+) \|", errata, re.M)
    assert listed == [f"E{number}" for number in range(1, len(listed) + 1)]
    pointed = {mark for line in body.splitlines() if line.startswith("|") for mark in re.findall(r"E\d+", line)}
    assert pointed == set(listed)


def test_figures_named_in_the_lectures_are_those_of_the_gallery():
    assert table_column("figure") == {path.stem for path in (ROOT / "examples").glob("[0-9]*.py")}


@pytest.mark.parametrize("module", [textbook, datasets], ids=lambda module: module.__name__)
def test_every_public_function_is_explained_and_cites_its_source(module):
    silent = {name for name in public_functions(module) if not (getattr(module, name).__doc__ or "").strip()}
    assert silent == set()
    cited = {name for name in public_functions(module) if re.search(r"00[0-4]", getattr(module, name).__doc__)}
    assert public_functions(module) - cited <= {"with_signs", "normalised_kernel", "ppca_log_likelihood", "family"}


def anchors(page):
    """Of the headings of a page, as browsers are given them: words in small letters with hyphens between."""
    headings = re.findall(r"^#+ (.*)$", re.sub(r"```.*?```", "", page, flags=re.S), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_links_of_the_documents_lead_somewhere():
    documents = [*(ROOT / "docs").rglob("*.md"), *(ROOT / "benchmarks").rglob("*.md")]
    for document in [ROOT / "README.md", *(ROOT / name for name in OTHERS), *documents]:
        text = document.read_text(encoding="utf-8")
        for target, anchor in re.findall(r"\]\(([^)#\s]*)#?([^)\s]*)[^)]*\)", text):
            if target.startswith("http"):
                continue
            path = document.parent / target if target else document
            assert path.exists(), f"{document.name} links to {target}"
            assert not anchor or anchor in anchors(path.read_text(encoding="utf-8")), f"{document.name}: #{anchor}"


def test_files_named_in_the_documents_exist():
    """By their paths from the root, from src or from a package."""
    pages = {"README.md": README} | {name: (ROOT / name).read_text(encoding="utf-8") for name in OTHERS} | DOCS
    named = {(page, file) for page, text in pages.items() for file in re.findall(r"`(\w+/[\w/]+\.(?:py|md))`", text)}
    assert len(named) > 80
    homes = ROOT, ROOT / "src", ROOT / "src" / "mercer", ROOT / "src" / "mercer_old"
    assert {(page, file) for page, file in named if not any((home / file).exists() for home in homes)} == set()


def test_every_page_can_be_reached_from_the_index():
    reached, ahead = set(), ["index.md"]
    while ahead:
        page = ahead.pop()
        if page not in reached:
            reached.add(page)
            targets = re.findall(r"\]\(([^)#\s]+\.md)[^)]*\)", DOCS[page])
            paths = [(ROOT / "docs" / page).parent / target for target in targets if not target.startswith("http")]
            inside = [path.resolve() for path in paths if path.resolve().is_relative_to(ROOT / "docs")]
            ahead += [path.relative_to(ROOT / "docs").as_posix() for path in inside]
    assert reached == set(DOCS)


def test_letters_are_in_the_pages_that_are_said_to_introduce_them():
    rows = re.findall(r"^\| (.+?) \| .+? \| (\[.+) \|$", DOCS["notation.md"], re.M)
    assert len(rows) > 30
    for letters, pages in rows:
        for letter in letters.split(", "):
            for page in re.findall(r"\(([^)#]+)", pages):
                assert re.search(rf"(?<![A-Za-z]){letter}(?![A-Za-z])", DOCS[page]), f"{page} has no {letter}"


@pytest.mark.parametrize("page", sorted(reference.PAGES))
def test_reference_is_what_the_code_says(page):
    assert DOCS[page] == reference.PAGES[page](), "the code says something else by now: make reference"


@pytest.mark.slow
def test_make_reference_finds_all_that_it_reads():
    """As a script, without the folders that pytest knows; nothing is written here."""
    code = "import runpy, pathlib; pathlib.Path.write_text = lambda *a, **b: None\n"
    code += f"runpy.run_path({str(ROOT / 'tools' / 'reference.py')!r}, run_name='__main__')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0 and "docs/gallery.md" in done.stdout, done.stderr


def blocks(language, page):
    return re.findall(rf"```{language}\n(.*?)```", page, re.S)


LONG_PAGES = "from/scanpy.md", "traps/lle.md"  # of whole data sets: they take seconds
# Every snippet of the README alone, and all of a page together, each with the texts that the page shows.
SNIPPETS = [
    *(pytest.param(code, [], id=f"README {i}") for i, code in enumerate(blocks("python", README))),
    *(
        pytest.param(
            "\n".join(blocks("python", page)), blocks("text", page), id=name,
            marks=[pytest.mark.slow] if name in LONG_PAGES else [],
        )
        for name, page in DOCS.items() if blocks("python", page)
    ),
]  # fmt: skip


@pytest.mark.parametrize(("code", "shown"), SNIPPETS)
def test_python_of_the_documents_runs(code, shown):
    done = run_code(code, ROOT)
    assert done.returncode == 0, done.stderr
    for printed in re.findall(r"# → (.*)", code):
        assert printed in done.stdout
    said = " ".join(done.stdout.split())
    for text in shown:  # … stands for anything
        pattern = ".*?".join(re.escape(" ".join(part.split())) for part in text.split("…"))
        assert re.search(pattern, said), f"not printed: {text}"


def told_by(command, folder):
    """A line of a shell block in a branch, with what it says: `mercer …`, or `python -c …`."""
    words = shlex.split(command)
    if words[:2] == ["python", "-c"]:
        return run_code(words[2], folder)
    assert words[0] == "mercer", f"who runs this? {command}"
    return branch(words, before=lambda: os.chdir(folder))


def test_the_walk_of_the_command_line_can_be_walked(tmp_path):
    """Every command in its order in one folder; a text below some is what they say, … stands for anything."""
    said = []
    for language, block in re.findall(r"```(sh|text)\n(.*?)```", DOCS["guide/command_line.md"], re.S):
        if language == "text":
            pattern = ".*?".join(re.escape(" ".join(part.split())) for part in block.split("…"))
            assert re.search(pattern, " ".join("\n".join(said).split())), f"not said: {block}"
            continue
        said = []
        for command in [block] if block.startswith("python") else block.splitlines():
            done = told_by(command, tmp_path)
            assert done.returncode == 0, f"{command}: {done.stderr}"
            said += [done.stderr, done.stdout]
    again, first = ((tmp_path / name).read_bytes() for name in ("again.csv", "verdicts.csv"))
    assert again == first


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """A folder with the files that commands of the documents read."""
    from sklearn.datasets import load_wine

    folder = tmp_path_factory.mktemp("tables")
    for name in ("wine.csv", "new.csv"):
        load_wine(as_frame=True).data.to_csv(folder / name, index=False)
    arrests, columns = datasets.us_arrests()
    np.savetxt(folder / "arrests.csv", arrests, delimiter=",", header=",".join(columns), comments="")
    copies = np.random.default_rng(0).binomial(2, 0.3, size=(40, 60))
    header = ["sample", *(f"rs{number}" for number in range(60))]
    lines = [header, *([f"s{number}", *map(str, row)] for number, row in enumerate(copies))]
    for name in ("genotypes.csv", "others.csv"):
        (folder / name).write_text("\n".join(map(",".join, lines)) + "\n")
    write_cells(folder / "cells.h5ad")
    return folder


def write_cells(path):
    """A small file of single cells, as anndata writes them."""
    h5py = pytest.importorskip("h5py")
    counts = np.random.default_rng(0).poisson(1.0, size=(60, 30)).astype("f4")
    text = h5py.string_dtype()
    with h5py.File(path, "w") as file:
        file.attrs.update({"encoding-type": "anndata", "encoding-version": "0.1.0"})
        file["X"] = counts
        file["X"].attrs.update({"encoding-type": "array", "encoding-version": "0.2.0"})
        for group, letter, count in (("obs", "c", 60), ("var", "g", 30)):
            table = file.create_group(group)
            table.attrs.update({"encoding-type": "dataframe", "encoding-version": "0.2.0", "_index": "_index"})
            table.attrs["column-order"] = np.array([], dtype=text)
            table["_index"] = np.array([f"{letter}{number}" for number in range(count)], dtype=text)
            table["_index"].attrs.update({"encoding-type": "string-array", "encoding-version": "0.2.0"})


RUN = {"README.md": README} | {page: text for page, text in DOCS.items() if page.startswith("from/")}
COMMANDS = {
    page: [line for block in blocks("sh", text) for line in block.splitlines() if line.startswith("mercer ")]
    for page, text in RUN.items()
}


@pytest.mark.parametrize("lines", [pytest.param(lines, id=page) for page, lines in COMMANDS.items() if lines])
def test_commands_of_the_documents_run_one_after_the_other(lines, tables):
    for line in lines:
        done = branch(shlex.split(line, comments=True), before=lambda: os.chdir(tables))
        assert done.returncode == 0, f"{line}: {done.stderr}"


def test_the_citation_is_of_this_version():
    cited = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.search(r"^version: (.*)$", cited, re.M)[1] == mercer.__version__


@pytest.mark.slow
def test_pictures_of_lle_still_show_what_they_claim(tmp_path):
    names = sorted(path.stem for path in (ROOT / "docs" / "pictures").glob("lle*.png"))
    command = [sys.executable, "-m", "docs.pictures.draw", *names, "--to", tmp_path]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    drawn = {path.name for path in tmp_path.iterdir()}
    assert drawn == {f"{name}.png" for name in names}
    shown = DOCS["guide/lle.md"] + DOCS["traps/lle.md"]
    assert drawn == set(re.findall(r"\]\(\.\./pictures/(lle\w*\.png)\)", shown))


def test_every_picture_has_a_script_and_a_document():
    from docs.pictures.draw.__main__ import PICTURES

    pictures = {path.stem for path in (ROOT / "docs" / "pictures").glob("*.png")}
    assert pictures == set(PICTURES)
    assert pictures == set(re.findall(r"pictures/(\w+)\.png\)", README + "".join(DOCS.values())))


def test_suites_named_in_the_documents_exist():
    from benchmarks.index import SUITES

    documents = [README, *DOCS.values(), *((ROOT / name).read_text(encoding="utf-8") for name in OTHERS)]
    named = set(re.findall(r"SUITE=(\w+)", "".join(documents)))
    assert "pca" in named
    assert named <= set(SUITES)


def test_commands_of_the_readme_exist():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M))
    named = set(re.findall(r"^make ([a-z-]+)", README, re.M)) | set(re.findall(r"`make ([a-z-]+)`", README))
    assert {"demo", "test"} <= named <= targets


FITS = {
    "KernelPCA": [dict(kernel="rbf"), dict(kernel="rbf", eigen_solver="landmark", standardize=True)],
    "PCA": [{}, dict(standardize=True)],
    "IncrementalPCA": [{}],
    "ProbabilisticPCA": [{}, dict(standardize=True)],
    "LocallyLinearEmbedding": [{}, dict(method="modified", standardize=True)],
    "NoveltyDetector": [{}],
    "FactorAnalysis": [{}],
    "GPLVM": [{}],
    "Autoencoder": [{}],
}


def test_every_parameter_and_attribute_of_the_models_is_documented():
    for name in set(mercer.__all__) - {"__version__"}:
        model = getattr(mercer, name)
        text = model.__doc__
        if "those of `quality`" in text:
            text += mercer.quality.__doc__
        for parameter in inspect.signature(model).parameters:
            assert re.search(rf"^    (.*, )?\**{parameter}\b", text, re.M), f"{name} does not document {parameter}"
        if not (inspect.isclass(model) and issubclass(model, BaseEstimator)):
            continue
        for params in FITS[name]:
            fewer = {"n_components": 2} if "n_components" in inspect.signature(model).parameters else {}
            fitted = model(**fewer, **params).fit(datasets.rings(20)[0])
            for attribute in vars(fitted):
                if attribute.endswith("_") and not attribute.startswith(("_", "n_features_in")):
                    assert attribute in text, f"{name} does not document {attribute}"


def test_every_public_name_is_explained():
    from mercer import kernels

    for name in kernels.__all__:
        assert (getattr(kernels, name).__doc__ or "").strip(), f"mercer.kernels.{name} has no docstring"
        assert name in KERNEL_PCA or name in ("Kernel", "KernelVerdict", "Pairwise", "resolve_kernel")


def test_the_guide_has_every_named_kernel_with_the_parameters_it_takes():
    from mercer_old.kernel_names import NAMED

    for entry in NAMED:
        takes = ", ".join(f"`{name}`" for name in entry.takes)
        row = re.compile(rf'^\| `{entry.kernel}` \| `"{entry.name}"` \| .* \| {takes and takes + " "}\|$', re.M)
        assert row.search(KERNEL_PCA), f"docs/guide/kernel_pca.md has no row for {entry}"


def sections(docstring):
    """The parts of a docstring in numpydoc's style: what stands before the first heading is its summary."""
    parts = re.split(r"^(\w[\w ]*)\n-+$", inspect.cleandoc(docstring), flags=re.M)
    return {"Summary": parts[0], **dict(zip(parts[1::2], parts[2::2], strict=True))}


def public_methods():
    for name in [*FITS, *(name for name in mercer.__all__ if name.endswith("Display"))]:
        model = getattr(mercer, name)
        for method in dir(model):
            function = inspect.unwrap(getattr(model, method)) if callable(getattr(model, method)) else None
            if not method.startswith("_") and getattr(function, "__module__", "").startswith(
                ("mercer.", "mercer_old.")
            ):
                yield f"{name}.{method}", function


def test_methods_say_what_they_take_and_what_they_return():
    """As scikit-learn's own tests ask of its methods, where numpydoc is there to read them."""
    methods = dict(public_methods())
    assert len(methods) > 100
    check_each(methods, lambda name: says_what_it_takes_and_returns(methods[name]))


def says_what_it_takes_and_returns(function):
    text, signature = sections(function.__doc__), inspect.signature(function)
    assert text["Summary"][0].isupper()
    assert text["Summary"].partition("\n\n")[0].rstrip().endswith(".")
    named = [str(given).partition(":")[0] for name, given in signature.parameters.items() if name != "self"]
    assert re.findall(r"^(\S+) : \S.*\n    \S.*", text.get("Parameters", ""), re.M) == named
    if signature.return_annotation not in (None, "None"):
        assert re.match(r"\s*\S.*\n    [A-Z].*\.", text["Returns"])
