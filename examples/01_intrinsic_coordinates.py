"""The data's own coordinates, and the plane in which three layers overlap least

Above: a point high on e₁ tends to be high on e₂; along the data's own axes u₁ and u₂ that is no longer so. Below:
three layers in space, seen from three sides. In the coordinate planes they cover each other, in the plane of the first
two principal axes they lie apart; a point counts as mixed if its nearest neighbour there is of another layer.
"""

from types import SimpleNamespace

import numpy as np

from mercer import PCA
from mercer.datasets import correlated_cloud, three_layers
from mercer.textbook import nearest_neighbours, pca_by_svd, project
from mercer_old.look import RED, SKY, ink, panels, scatter, without_axes

SLIDES = "000 p. 7–8"
FORMULA = "C = UΛUᵀ,   Y = JXU (all axes: a rotation),   Yₖ = JXUₖ (k axes: a projection)"


def compute():
    cloud = correlated_cloud(seed=0)
    model = PCA().fit(cloud)
    S, layer = three_layers(seed=0)
    views = np.array([S[:, [0, 1]], S[:, [1, 2]], PCA(2).fit_transform(S)])
    mixed = np.array([[layer[nearest_neighbours(p, view, 2)[1]] for p in view] for view in views]) != layer
    return SimpleNamespace(
        X=cloud - model.mean_,
        U=model.components_.T,
        Y=model.decorrelate(cloud),
        views=views,
        layer=layer,
        mixed=mixed,
        textbook=project(S, pca_by_svd(S, 2)[1], S.mean(axis=0)),
    )


def claims(c):
    before, after = np.corrcoef(c.X.T)[0, 1], np.corrcoef(c.Y.T)[0, 1]
    naive, other, principal = c.mixed.mean(axis=1)
    in_order = c.layer[np.argsort(c.views[2, :, 0])]
    return {
        f"the correlation is {before:.2f} along e₁, e₂ and 0 along u₁, u₂": before > 0.8 and abs(after) < 1e-9,
        "the new coordinates only turn the cloud: every point is where it was": np.allclose(c.Y @ c.U.T, c.X),
        f"{naive:.0%} and {other:.0%} of the points are mixed in two coordinate planes, none in the principal one": (
            principal == 0 < min(naive, other)
        ),
        "sorted by u₁ᵀx alone, the layers come one after the other": np.all(np.diff(in_order) >= 0),
        "PCA and the textbook agree": np.allclose(c.views[2], c.textbook, atol=1e-8),
    }


def draw(c):
    figure, axes = panels(2, 3, width=9.6, height=6.2)
    I, titles = np.eye(2), ["correlated", "axes of their own", "uncorrelated"]
    for ax, title, points, e, u in zip(axes[0], titles, [c.X, c.X, c.Y], [I, I, c.U], [[], c.U.T, I], strict=True):
        scatter(ax, points, color=SKY, s=12)
        for name, tips, colour in [("e", e, ink()), ("u", u, RED)]:
            arrow = {"arrowstyle": "<|-", "color": colour, "linewidth": 1.8}
            for i, tip in enumerate(tips):
                text = ax.annotate(f"${name}_{i + 1}$", (0, 0), 2.7 * tip, arrowprops=arrow, ha="center", va="center")
                text.set(color=colour, fontsize=13)
        ax.set(title=title, xlim=(-3.1, 3.1), ylim=(-2.3, 2.9), aspect="equal")
        without_axes(ax)
    titles = ["a coordinate plane", "another", "the principal plane"]
    names = [("$x_1$", "$x_2$"), ("$x_2$", "$x_3$"), (r"$u_1^\top x$", r"$u_2^\top x$")]
    for ax, title, points, (x, y), mixed in zip(axes[1], titles, c.views, names, c.mixed.mean(axis=1), strict=True):
        scatter(ax, points, c.layer)
        ax.set(title=f"{title}: {mixed:.0%} mixed", xlabel=x, ylabel=y, aspect="equal")
        ax.set(xlim=(-2.8, 2.8), ylim=(-2.8, 3.3))
    return figure


if __name__ == "__main__":
    from mercer_old.report.gallery import run_script

    run_script(__file__)
