"""How Sphinx reads build/docs/source. Nothing here, and nothing in a built page, asks for anything on the network."""

import re
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(ROOT / "src"))

import mercer  # noqa: E402

project = "mercer"
author = "the mercer developers"
project_copyright = author
version = release = mercer.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.viewcode", "numpydoc"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
root_doc = "index"

myst_heading_anchors = 4
myst_links_external_new_tab = False
smartquotes = False  # quotes of code stay what they are
toc_object_entries_show_parents = "hide"
default_role = "literal"  # `name` in a docstring is code, as it is in Markdown
autodoc_typehints = "none"  # types are in the lists of parameters
autodoc_member_order = "alphabetical"
autodoc_inherit_docstrings = True
numpydoc_show_class_members = False  # methods are listed by name in each page
numpydoc_xref_param_type = False
add_module_names = False

#: Links to names of other packages, for those who have their inventories: build/inventories/numpy.inv and so on.
ELSEWHERE = {
    "numpy": "https://numpy.org/doc/stable/",
    "python": "https://docs.python.org/3/",
    "scipy": "https://docs.scipy.org/doc/scipy/",
    "sklearn": "https://scikit-learn.org/stable/",
}
inventories = {name: ROOT / "build" / "inventories" / f"{name}.inv" for name in ELSEWHERE}
intersphinx_mapping = {name: (ELSEWHERE[name], str(path)) for name, path in inventories.items() if path.exists()}
if intersphinx_mapping:
    extensions.append("sphinx.ext.intersphinx")

html_context = {"default_mode": "auto"}
html_theme = "pydata_sphinx_theme"
html_title = "mercer"
html_static_path = [str(HERE / "static")]
html_css_files = ["look.css"]
html_copy_source = False
html_show_sourcelink = False
html_sidebars: dict[str, list[str]] = {"index": [], "tour": [], "choose": [], "gallery": []}
html_theme_options = {
    "header_links_before_dropdown": 9,
    "navigation_with_keys": False,
    "show_prev_next": False,
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}


def setup(app: Any) -> None:
    app.connect("autodoc-process-docstring", keep_bars, priority=900)  # after numpydoc


def keep_bars(_app: Any, _what: str, _name: str, _value: Any, _options: Any, lines: list[str]) -> None:
    """|x − y| in a docstring is a formula, and never a substitution of reStructuredText."""
    for number, line in enumerate(lines):
        if not line.lstrip().startswith(">>>"):
            parts = re.split(r"(`+[^`]+`+)", line)
            lines[number] = "".join(part if part.startswith("`") else part.replace("|", r"\|") for part in parts)
