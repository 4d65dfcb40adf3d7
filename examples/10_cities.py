"""Population and advertising: one axis tells nearly all

The first axis runs through the mean, the way the cities spread most; a cross is the point of the axis nearest to its
city, a dashed line the distance given up. The scores z₁ follow both features closely, the scores z₂ are small and
follow neither: one number per city will do.
"""

from types import SimpleNamespace

import numpy as np

from mercer import PCA
from mercer.datasets import cities
from mercer.textbook import pca_by_svd, project
from mercer_old.look import BLUE, GREEN, PINK, faint, ink, panels, scatter

SLIDES = "004 fig. 2–3"
FORMULA = "zₙₗ = wₗᵀ(xₙ − x̄),   x̂ₙ = x̄ + zₙ₁w₁"
FEATURES = ["population", "ad spending"]


def compute():
    X = cities(seed=0)
    both, one = PCA().fit(X), PCA(1).fit(X)
    return SimpleNamespace(
        X=X,
        mean=both.mean_,
        W=both.components_.T,
        Z=both.transform(X),
        share=both.explained_variance_ratio_,
        feet=one.inverse_transform(one.transform(X)),
        textbook=project(X, pca_by_svd(X)[1], X.mean(axis=0)),
    )


def claims(c):
    w, r = c.W[:, 0], np.corrcoef(c.Z.T, c.X.T)[:2, 2:]  # r: scores × features
    return {
        f"the loadings are those of the notes, {w[0]:.3f} and {w[1]:.3f}": np.allclose(w, [0.839, 0.544], atol=5e-4),
        "every dashed line meets the axis at a right angle": np.allclose((c.X - c.feet) @ w, 0),
        f"z₁ follows both features (correlations {r[0, 0]:.2f}, {r[0, 1]:.2f}), z₂ hardly ({r[1, 0]:.2f}, "
        f"{r[1, 1]:.2f})": min(abs(r[0])) > 0.95 and max(abs(r[1])) < 0.3,
        f"z₁ alone holds {c.share[0]:.0%} of the variance": c.share[0] > 0.95,
        "PCA and the textbook agree": np.allclose(c.Z, c.textbook, atol=1e-8),
    }


def draw(c):
    figure, axes = panels(2, 3, width=11.5, height=4.8, width_ratios=[2.2, 1, 1])
    axes[1, 0].remove()
    plane = axes[0, 0]
    plane.set_subplotspec(plane.get_gridspec()[:, 0])
    plane.axline(c.mean, c.mean + c.W[:, 0], color=GREEN, label="first axis")
    plane.plot(*np.stack([c.X, c.feet]).transpose(2, 0, 1), color=ink(), linewidth=0.8, linestyle="--")
    plane.plot(*c.feet.T, "x", color=ink(), markersize=5, label="projections")
    scatter(plane, c.X, labels=["cities"], color=PINK, s=26, zorder=2)
    scatter(plane, c.mean[None], labels=["mean"], color=BLUE, s=110, zorder=3)
    plane.set(xlabel=FEATURES[0], ylabel=FEATURES[1], aspect="equal", ylim=(0, 40))
    plane.set_title(f"$w_1$ = ({c.W[0, 0]:.3f}, {c.W[1, 0]:.3f}),  {c.share[0]:.0%} of the variance")
    plane.legend(loc="upper left")
    for (l, i), ax in np.ndenumerate(axes[:, 1:]):
        ax.axhline(0, color=faint(), linewidth=1.2)
        scatter(ax, np.column_stack([c.X[:, i], c.Z[:, l]]), color=PINK)
        ax.set(ylim=(-35, 35), xlabel=FEATURES[i], ylabel=f"score $z_{l + 1}$")
    return figure


if __name__ == "__main__":
    from mercer_old.report.gallery import run_script

    run_script(__file__)
