"""The order of the site: its sections, and the pages of each."""

from docs.site.pages import place, sources

#: Sections that are a page of their own in the line at the top: the folder, the title, and the pages in their order.
#: `…` stands for all others of the folder.
SECTIONS = {
    "guide": (
        "Guides",
        "How to do things, each page by examples that run.",
        "pca kernel_pca lle landmarks … tables texts fingerprints series anything "
        "how_many which_kernel what_drives_it how_sure back what_is_new report ../traps/lle",
    ),
    "from": ("Coming from", "Calls of other software, and ours beside them.", "scikit_learn …"),
    "reference": ("Reference", "Names, options and errors, written from the code.", "api cli errors textbook datasets"),
    "theory": ("Theory", "What is computed, and why it can be believed.", "../lectures ../notation ../design/rounding"),
    "project": (
        "Project",
        "How it is made, and how to take part.",
        "../design/house ../CONTRIBUTING ../CODE_OF_CONDUCT ../RELEASING ../SECURITY ../CHANGELOG",
    ),
}
#: The line at the top.
TOP = (
    "installation tour choose guide/index from/index reference/index "
    "gallery theory/index benchmarks/README project/index"
)


def pages() -> dict[str, str]:
    """A page for every section."""
    return {f"{folder}/index.md": section(folder, title, about) for folder, (title, about, _) in SECTIONS.items()}


def section(folder: str, title: str, about: str) -> str:
    return "\n".join([f"# {title}", "", about, "", *tree(ordered(folder), ":maxdepth: 1"), ""])


def ordered(folder: str) -> list[str]:
    named = SECTIONS[folder][2].split()
    here = [place(path).removesuffix(".md") for path in sources()]
    others = [name.removeprefix(f"{folder}/") for name in here if name.startswith(f"{folder}/")]
    rest = [name for name in others if name not in named and "/" not in name]
    return [page for name in named for page in (rest if name == "…" else [name])]


def trees() -> dict[str, str]:
    """What pages have in addition, out of sight: the front page the line at the top, the benchmarks their pages."""
    here = [place(path).removesuffix(".md") for path in sources()]
    measured = [name.removeprefix("benchmarks/") for name in here if name.startswith("benchmarks/")]
    below = {"index.md": TOP.split(), "benchmarks/README.md": [name for name in measured if name != "README"]}
    return {page: "\n".join(["", *tree(pages, ":hidden:"), ""]) for page, pages in below.items()}


def tree(pages: list[str], option: str) -> list[str]:
    return ["```{toctree}", option, "", *pages, "```"]
