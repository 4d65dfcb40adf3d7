"""The picture of the guide to what drives a component: a kernel biplot of iris, and its two readings."""

import numpy as np
from sklearn.datasets import load_iris

from mercer import KernelPCA, influence
from mercer_old import look


def draw():
    iris = load_iris()
    names = [name.removesuffix(" (cm)") for name in iris.feature_names]
    model = KernelPCA(2, kernel="rbf", gamma=0.3, standardize=True).fit(iris.data)
    found = influence(model, iris.data, names, per_row=True)
    figure, (left, right) = look.panels(1, 2, width=10.5, height=4.3)
    look.scatter(left, found.scores, iris.target, list(iris.target_names), s=10, alpha=0.5)
    cells, colours = found.arrows(regions=4), [look.RED, look.PINK, look.SKY, look.GREY]
    for i, colour in enumerate(colours):
        shown = cells.counts >= 5
        (x, y), (dx, dy) = cells.places[shown].T, cells.arrows[shown, i].T
        left.quiver(x, y, dx, dy, color=colour, angles="xy", scale_units="xy", scale=1, width=0.005, label=names[i])
    left.set(title="scores, and where a column takes them", xlabel="component 0", ylabel="component 1")
    left.margins(0.12)
    places = np.arange(4)
    readings = [(found.values, "at the rows", look.faint()), (found.between, "between rows", look.ink())]
    for offset, (values, label, colour) in enumerate(readings):
        right.barh(places + 0.36 * offset, values[:, 0], 0.34, label=label, color=colour)
    right.set(title="influence on component 0", yticks=places + 0.18, yticklabels=names)
    right.invert_yaxis()
    figure.legend(loc="outside lower center", ncols=5)
    return figure


PICTURES = {"drives": lambda: look.as_png(draw)}
