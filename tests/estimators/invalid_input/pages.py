"""Pages about models: labels, columns, names and places that people give."""

import tempfile
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

from estimators.invalid_input.cases import Case, local_model
from estimators.invalid_input.parameters import BENT, refused
from mercer import PCA, FactorAnalysis, KernelPCA, NoveltyDetector
from mercer_old.errors import CannotWrite, MercerError

FITS = {
    "PCA": lambda: PCA(2),
    "KernelPCA": lambda: KernelPCA(2, kernel="rbf", gamma=0.5),
    "LLE": local_model,
    "NoveltyDetector": lambda: NoveltyDetector(PCA(2), alpha=0.2),
}
KINDS = ["u", "v", "w"] * 10
HTML, ARABIC, COMBINING = "<b onclick=alert(1)>x</b>", "مرحبا \u202eabc", "e\u0301\u0327" * 3


@cache
def fitted(name):
    return FITS[name]().fit(BENT)


def page(name="PCA", X=BENT, **given):
    return lambda: fitted(name).report(X, **given)


def written(text):
    """A page with a map, its words escaped."""
    return text.startswith("<!doctype html>") and "map-cloud" in text and "<b onclick" not in text


def named(names):
    frame = pd.DataFrame(BENT, columns=names)
    return lambda: PCA(2).fit(frame).report(frame, labels={names[0] + "!": KINDS})


LABELS = [
    *[
        refused(f"report of {name}: {what}", page(name, labels=labels), "one label for each of 30 rows", ValueError)
        for name in FITS
        for what, labels in [
            ("labels of another length", KINDS[:29]),
            ("no label", []),
            ("a table of labels", np.zeros((30, 2))),
            ("a text for labels", "species"),
            ("a number for labels", 3),
            ("one of two columns too short", {"a": KINDS, "b": KINDS[:2]}),
        ]
    ],
    *[
        Case(f"report with {what}", page(labels=labels), right=written)
        for what, labels in [
            ("all labels equal", ["same"] * 30),
            ("all labels missing", [None] * 30),
            ("NaN among numbers", [1.5, np.nan, 2.5] * 10),
            ("infinity among numbers", [1.5, np.inf, 2.5] * 10),
            ("numbers and texts", [1, "a", None] * 10),
            ("as many categories as rows", [f"kind {i}" for i in range(30)]),
            ("labels that are HTML", [HTML] * 30),
            ("labels from right to left", [ARABIC] * 30),
            ("labels of combining signs", [COMBINING] * 30),
            ("a name of labels that is HTML", {HTML: KINDS}),
            ("labels in a column", np.array(KINDS)[:, None]),
            ("labels in a frame", pd.DataFrame({"kind": KINDS, "value": BENT[:, 0]})),
            ("dates", pd.date_range("2024-01-01", periods=30)),
            ("truths", [True, False, True] * 10),
        ]
    ],
]
NAMES = [
    Case("report of columns like HTML", named([HTML, "</script>", "<!--", '"']), right=written),
    Case("report of columns from right to left", named([ARABIC, COMBINING, "c", "d"]), right=written),
    Case("report of long columns alike in the beginning", named(["a" * 999, "a" * 998 + "b", "c", "d"]), right=written),
]
ROWS = [
    *[
        refused(f"report of {name}: rows of another width", page(name, BENT[:, :3]), "features", ValueError)
        for name in FITS
    ],
    *[refused(f"report of {name}: no row", page(name, BENT[:0]), "0 sample", ValueError) for name in FITS],
    *[
        refused(f"report of {name}: NaN in rows", page(name, np.where(BENT > 1, np.nan, BENT)), "NaN", ValueError)
        for name in FITS
    ],
    Case("report of a model without rows", page(X=None), right=lambda text: "No rows are shown: the model" in text),
    refused(
        "labels of a model without rows", page(X=None, labels=KINDS), "PCA keeps no rows: give the rows", ValueError
    ),
    Case("report of one row", page(X=BENT[:1]), right=written),
    Case("report of two rows that are the same", page("KernelPCA", BENT[[0, 0]]), right=written),
    refused("report of no such method", lambda: FactorAnalysis(2).fit(BENT).report(BENT), "There is no page about"),
    refused("report of a model that is not fitted", lambda: PCA(2).report(BENT), "not fitted"),
]
PLACES = [
    refused("a page of another kind", page(path="page.pdf"), r"page\.pdf: a report is a page", MercerError),
    refused("a page in a file", page(path=Path(__file__) / "page.html"), "Cannot write", CannotWrite),
    refused("a page without a place", page(path="/proc/nowhere/page.html"), "Cannot write /proc/nowhere", CannotWrite),
    refused("a page that is a folder", lambda: in_folder("page.html"), "it is a folder", CannotWrite),
]


def in_folder(name):
    with tempfile.TemporaryDirectory() as place:
        (Path(place) / name).mkdir()
        return fitted("PCA").report(BENT, path=Path(place) / name)


CASES = [*LABELS, *NAMES, *ROWS, *PLACES]
