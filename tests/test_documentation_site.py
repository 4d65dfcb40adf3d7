"""The site of `make docs` has every page, its links lead to pages that it has, and it asks nothing of the network."""

import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path, PurePosixPath

import pytest

from docs.site import contents, names, pages
from mercer_old.report.gallery import scripts
from support.together import check_each

ROOT = Path(__file__).parents[1]
FIGURES = {"gallery.md", *(f"gallery/{script.stem}.md" for script in scripts())}
PAGES = {**pages.markdown(), **names.pages(), **contents.pages()}
HERE = {*PAGES, *pages.pictures(), *FIGURES}


def test_links_lead_to_pages_of_the_site():
    check_each(sorted(PAGES), leads_to_pages)


def leads_to_pages(page):
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", re.sub(r"```.*?```", "", PAGES[page], flags=re.S)):
        if ":" not in target:
            there = (PurePosixPath("/") / PurePosixPath(page).parent / target).as_posix()
            assert str(Path(there).resolve()).removeprefix("/") in HERE, f"{page} links to {target}"


def test_links_are_moved_with_their_pages():
    assert pages.moved("[a](../../benchmarks/pca/pca.md#b)", "docs/guide/x.md") == "[a](../benchmarks/pca/pca.md#b)"
    assert pages.moved("[a](docs/guide/pca.md)", "CHANGELOG.md") == "[a](guide/pca.md)"
    assert pages.moved("[a](reference/api.md#kernelpca)", "docs/x.md") == "[a](reference/names/mercer.KernelPCA.rst)"
    assert pages.moved("[a](../src/mercer/textbook.py)", "docs/x.md") == "[a](reference/textbook.rst)"
    for same in ("[a](#b)", "[a](https://example.org/x.md)", "```\n[a](../x.md)\n```"):
        assert pages.moved(same, "docs/guide/x.md") == same
    with pytest.raises(ValueError, match="which the site does not show"):
        pages.moved("[a](../src/mercer/blas.py)", "docs/x.md")


def test_every_page_has_one_place_in_the_contents():
    listed = [*contents.TOP.split(), "index"]
    for folder in contents.SECTIONS:
        listed += [str(Path("/", folder, name).resolve()).removeprefix("/") for name in contents.ordered(folder)]
    kept = {name for name in PAGES if not name.startswith(("benchmarks/", "reference/names/"))} | {
        "benchmarks/README.md"
    }
    assert sorted(listed) == sorted({str(Path(name).with_suffix("")) for name in kept})


def test_every_public_name_has_a_page_and_a_line():
    for name in names.public_names():
        assert f"reference/names/{name}.rst" in PAGES
        assert f"(names/{name}.rst)" in PAGES["reference/api.md"]
    assert ".. automethod:: transform\n" in PAGES["reference/names/mercer.KernelPCA.rst"]
    assert "set_output" not in PAGES["reference/names/mercer.KernelPCA.rst"]


@pytest.mark.slow
@pytest.mark.skipif(not find_spec("sphinx"), reason="Sphinx is not there: make docs")
def test_the_site_is_built_without_a_warning_and_asks_nothing_of_the_network(tmp_path):
    command = [sys.executable, "-m", "docs.site", "--only", "1", "--to", tmp_path]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == str(tmp_path / "html" / "index.html")
    built = list((tmp_path / "html").rglob("*.html"))
    assert len(built) > 100
    for page in built:
        tags = re.findall(r"<(?:script|img|link|iframe)\b[^>]*>", page.read_text(encoding="utf-8"))
        assert not [tag for tag in tags if re.search(r"(?:src|href)=\"(?:https?:)?//", tag)], page
