"""The playground: one page on which points are dragged, and PCA, kernel PCA and LLE follow in the page's own script."""

from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

from mercer_old import __version__
from mercer_old.outlets import write_whole
from mercer_old.report.presets import Preset, own_points, presets
from mercer_old.report.scripts import data_block, page_script
from mercer_old.report.templates import check_page, page_file, template

__all__ = ["playground", "playground_page"]


def playground(X: Any = None, labels: Any = None, *, path: str | Path | None = None) -> str:
    """A page on which points of the plane are dragged, while PCA, kernel PCA and LLE follow.

    It is one HTML file that asks nothing of the network: it computes by itself, with the numbers of `PCA`,
    `KernelPCA` and `LocallyLinearEmbedding`. The lectures' examples are on it, with fixed seeds.

    Parameters
    ----------
    X : array-like of shape (n_samples, 2), default=None
        Points of your own, 300 at most, to begin with; coordinates are rounded to a millionth of their spread. None:
        the lectures' examples alone.
    labels : array-like of shape (n_samples,), default=None
        Their classes, seven at most, which become colours.
    path : path, default=None
        A file whose name ends in .html, to write the page to as well. It appears when it is complete, or not at all.

    Returns
    -------
    page : str
        The page.

    Examples
    --------
    >>> from mercer import playground
    >>> page = playground([[0, 0], [1, 1], [2, 3]])
    >>> page.startswith("<!doctype html>")
    True
    """
    place = None if path is None else check_page(path, "a playground")
    own = [] if X is None else [own_points(X, labels)]
    page = playground_page([*own, *presets()])
    if place is not None:
        write_whole(place, page.encode())
    return page


def playground_page(examples: Sequence[Preset]) -> str:
    """The page as text; the first of the examples is there when it opens."""
    script = page_script("shared", "playground")
    return template("playground.html").substitute(
        policy=script.policy,
        style=page_file("style.css") + page_file("playground.css"),
        version=escape(__version__),
        presets=data_block("presets", [example.record() for example in examples]),
        script=script.text,
    )
