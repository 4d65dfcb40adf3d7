"""The two component functions of PCA as fields over the plane

fᵢ(x) = uᵢᵀx is positive where x makes an acute angle with uᵢ, negative where the angle is obtuse, and zero on the
line drawn at right angles to it. Its contours are straight and evenly spaced: all that PCA can say about a point is
how far it lies along a fixed direction.
"""

from types import SimpleNamespace

import numpy as np

from mercer import PCA
from mercer.datasets import correlated_cloud
from mercer.textbook import centre, pca_by_covariance, project
from mercer_old.look import field, grid_over, ink, panels, paper, scatter, without_axes

SLIDES = "000 p. 44–45"
FORMULA = "fᵢ(x) = uᵢᵀx,   C uᵢ = λᵢuᵢ"


def compute():
    X = centre(correlated_cloud(seed=0))
    n, model = len(X), PCA().fit(X)
    grid = grid_over(X)
    return SimpleNamespace(
        X=X,
        values=model.explained_variance_ * (n - 1) / n,  # C of the slides divides by n
        U=model.components_.T,
        f=model.transform(X),
        grid=grid,
        fields=model.transform(grid),
        textbook=project(grid, pca_by_covariance(X)[1], mean=0),
    )


def claims(c):
    angle = [np.arctan2(*c.X.T[::-1]) - np.arctan2(*u[::-1]) for u in c.U.T]
    steps, rises = np.diff(c.grid, axis=0), np.diff(c.fields, axis=0)
    return {
        "fᵢ > 0 exactly for the points within 90° of uᵢ": np.array_equal(c.f.T > 0, np.cos(angle) > 0),
        "a step along uᵢ raises fᵢ by its length and leaves the other as it is": np.allclose(steps @ c.U, rises),
        "f₁ and f₂ are uncorrelated on the data, with variances λ₁ and λ₂": np.allclose(
            c.f.T @ c.f / len(c.f), np.diag(c.values)
        ),
        "PCA and the textbook agree": np.allclose(c.fields, c.textbook, atol=1e-8),
    }


def draw(c):
    figure, axes = panels(1, 2, width=7.8, height=3.2)
    for i, ax in enumerate(axes):
        filled = field(ax, c.grid, c.fields[:, i])
        scatter(ax, c.X, color=paper(), edgecolors=ink(), s=12)
        arrow = {"arrowstyle": "<|-", "color": ink(), "linewidth": 2.5, "mutation_scale": 16}
        ax.annotate(f"$u_{i + 1}$", (0, 0), 2.75 * c.U[:, i], arrowprops=arrow, fontsize=14, ha="center", va="center")
        ax.set_title(f"$f_{i + 1}(x) = u_{i + 1}^\\top x$,  $\\lambda_{i + 1}$ = {c.values[i]:.2f}")
        figure.colorbar(filled, ax=ax, ticks=range(-4, 5, 2), shrink=0.9)
        without_axes(ax)
    return figure


if __name__ == "__main__":
    from mercer_old.report.gallery import run_script

    run_script(__file__)
