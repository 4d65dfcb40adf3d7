"""`make docs`: the documents as a site that opens offline.

    python -m docs.site [--to FOLDER] [--only FIGURE ...]

Figures are drawn anew only if their scripts or the package have changed. A warning of Sphinx is an error.
"""

import argparse
import subprocess
import sys
from pathlib import Path

from docs.site import contents, figures, names, pages
from mercer_old.report.gallery import scripts

HERE = Path(__file__).parent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--to", type=Path, default=pages.ROOT / "build" / "docs", metavar="FOLDER")
    parser.add_argument("--only", type=int, action="append", default=[], metavar="FIGURE")
    asked = parser.parse_args()
    built = asked.to / "html"
    write(gathered(asked.to / "figures", asked.only), asked.to / "source")
    command = [sys.executable, "-m", "sphinx", "-b", "html", "-q", "-W", "--keep-going", "-c", str(HERE)]
    done = subprocess.run([*command, "-d", str(asked.to / "read"), str(asked.to / "source"), str(built)])
    if done.returncode:
        sys.exit(done.returncode)
    print(built / "index.html")


def gathered(kept: Path, only: list[int]) -> dict[str, bytes]:
    """Every file that Sphinx reads, by its place in the site; `kept` is where figures are kept between builds."""
    drawn = [figures.figure(script, kept) for script in scripts(only)]
    found = pages.markdown() | names.pages() | contents.pages() | figures.pages(drawn)
    found |= {page: found[page] + tree for page, tree in contents.trees().items()}
    return pages.pictures() | figures.pictures(drawn) | {name: text.encode() for name, text in found.items()}


def write(files: dict[str, bytes], folder: Path) -> None:
    """These files and no others; those that are the same already stay untouched, so that Sphinx need not read them."""
    for path in [path for path in folder.rglob("*") if path.is_file()]:
        if path.relative_to(folder).as_posix() not in files:
            path.unlink()
    for name, content in files.items():
        path = folder / name
        if not path.exists() or path.read_bytes() != content:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)


if __name__ == "__main__":
    main()
