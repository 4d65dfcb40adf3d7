"""Small rows, models of every kind, and every display of each."""

from functools import cache

import numpy as np
import pytest

from mercer import PCA, KernelPCA, LocallyLinearEmbedding, NoveltyDetector
from mercer_old.displays.kinds import KINDS, display_of

RNG = np.random.default_rng(0)
GROUPS = np.repeat(["ash", "birch", "cedar"], [12, 14, 14])
ROWS = RNG.normal(size=(40, 5)) @ RNG.normal(size=(5, 5)) + 2.0 * (GROUPS == "cedar")[:, None]
COLUMNS = ["length", "width", "height", "weight", "age"]
IMAGES = RNG.normal(size=(30, 64)) @ np.diag(np.linspace(2, 0.2, 64))


@cache
def model(name):
    """Fitted once for all tests, none of which changes it."""
    makers = {
        "pca": lambda: PCA(4, standardize=True).fit(ROWS),
        "kpca": lambda: KernelPCA(4, kernel="rbf", gamma=0.1).fit(ROWS),
        "lle": lambda: LocallyLinearEmbedding(n_neighbors=8, n_components=2).fit(ROWS),
        "detector": lambda: NoveltyDetector(PCA(2), alpha=0.2).fit(ROWS),
        "images": lambda: PCA(5).fit(IMAGES),
    }
    return makers[name]()


METADATA = {"tree": GROUPS, "size": ROWS[:, 0]}
#: What each display is asked for: a model, and what is given besides.
USES = {
    "scores": ("pca", {"X": ROWS, "y": GROUPS}),
    "scree": ("pca", {"X": ROWS, "rules": False}),
    "biplot": ("pca", {"X": ROWS}),
    "loadings": ("pca", {}),
    "pairs": ("pca", {"X": ROWS, "y": GROUPS, "components": (0, 1)}),
    "circle": ("pca", {"X": ROWS}),
    "contribution": ("pca", {"X": ROWS}),
    "cos2": ("pca", {"X": ROWS, "kind": "cos2"}),
    "metadata": ("pca", {"X": ROWS, "metadata": METADATA}),
    "novelty": ("detector", {"X": ROWS}),
    "spectrum": ("kpca", {}),
    "reconstruction": ("kpca", {}),
    "field": ("kpca", {"components": (0,), "resolution": 8}),
    "preimage": ("pca", {"X": ROWS, "side": 3}),
    "neighborhood": ("lle", {}),
    "eigenimages": ("images", {"components": (0, 1)}),
}


def drawn(kind, **more):
    name, given = USES[kind]
    return display_of(kind).from_estimator(model(name), **(given | more))


@cache
def shown(kind):
    """Drawn once for all tests that only look at it."""
    return drawn(kind)


@pytest.fixture(params=KINDS)
def kind(request):
    return request.param
