"""The picture of the page that helps to choose: three kinds of data, and what three methods make of each."""

import numpy as np
from scipy.stats import spearmanr

from mercer import PCA, KernelPCA, LocallyLinearEmbedding
from mercer.datasets import correlated_cloud, rings, spiral
from mercer.kernels import RBF
from mercer_old import look


def data():
    cloud = correlated_cloud(200)
    circles, ring = rings(100)
    rolled, along = spiral(300)
    return {
        "a cloud": (cloud, PCA(1).fit_transform(cloud)[:, 0]),
        "two rings": (circles, ring),
        "a spiral": (rolled, along),
    }


def answers(X):
    models = {
        "PCA": PCA(2),
        "kernel PCA": KernelPCA(2, kernel=RBF.from_length_scale(1.0)),
        "LLE": LocallyLinearEmbedding(n_neighbors=8, n_components=2, method="modified", on_disconnected="separate"),
    }
    return {name: model.fit_transform(X) for name, model in models.items()}


def order(scores, truth):
    return abs(spearmanr(scores[:, 0], truth).statistic)


def separated(scores, ring):
    inner, outer = scores[ring == 0, 0], scores[ring == 1, 0]
    return inner.min() > outer.max() or outer.min() > inner.max()


def draw():
    sets = data()
    found = {name: answers(X) for name, (X, _) in sets.items()}
    ring, along = sets["two rings"][1], sets["a spiral"][1]
    assert separated(found["two rings"]["kernel PCA"], ring) and not separated(found["two rings"]["PCA"], ring)
    assert order(found["a spiral"]["LLE"], along) > 0.99 > 0.9 > order(found["a spiral"]["kernel PCA"], along)
    assert order(found["a cloud"]["PCA"], sets["a cloud"][1]) > 0.99
    figure, axes = look.panels(3, 4, width=9, height=6.6)
    for line, (name, (X, colour)) in zip(np.reshape(axes, (3, 4)), sets.items(), strict=True):
        for ax, (title, points) in zip(line, {name: X, **found[name]}.items(), strict=True):
            ax.scatter(*points[:, :2].T, c=colour, cmap="cividis", s=8)
            ax.set(title=title, xticks=[], yticks=[], box_aspect=1)
            ax.margins(0.08)
    return figure


PICTURES = {"choose": lambda: look.as_png(draw)}
