"""An outlier is where the feature-space projections are small

F(x) adds up how far φ(x) reaches along the first ten components. Close to the data the kernel sees neighbours and F
is large; away from them every k(x, xⱼ) dies out, and F with it. One number per point is then enough: the stray point
took part in finding the components, and still has by far the lowest F.
"""

from types import SimpleNamespace

import numpy as np

from mercer import KernelPCA
from mercer.datasets import moons
from mercer.kernels import RBF
from mercer.report.look import ORANGE, SKY, grid_over, ink, panels, paper, ramp, scatter
from mercer.textbook import gram_matrix, kernel_pca, rbf_kernel_of_length, sum_of_projections

SLIDES = "000 p. 77–78"
FORMULA = "F(x) = Σᵢ |fᵢ(x)|,   fᵢ(x) = Σⱼ k(x, xⱼ)(vᵢ)ⱼ,   i = 1 … 10"


def compute():
    X = np.vstack([moons(50, noise=0.05, seed=0)[0], [1.1, 0.8]])  # the stray point comes last
    grid = grid_over(X, margin=0.2)
    angle = np.linspace(0, 2 * np.pi, 24, endpoint=False)
    far = 6 * np.column_stack([np.cos(angle), np.sin(angle)])
    model = KernelPCA(10, kernel=RBF.from_length_scale(0.3)).fit(X)
    F, field, F_far = (np.abs(model.component_functions(points)).sum(axis=1) for points in (X, grid, far))
    K = gram_matrix(rbf_kernel_of_length(0.3), X)
    textbook = sum_of_projections(K, kernel_pca(K, 10)[1])
    return SimpleNamespace(X=X, grid=grid, F=F, field=field, F_far=F_far, textbook=textbook)


def claims(c):
    outlier, others = c.F[-1], c.F[:-1]
    return {
        "the outlier has the lowest F of all points": c.F.argmin() == len(c.F) - 1,
        f"its F, {outlier:.2f}, is under a tenth of the next lowest, {others.min():.2f}": outlier < others.min() / 10,
        "on a circle far outside the data F is zero to twelve digits": c.F_far.max() < 1e-12 * others.mean(),
        "KernelPCA and the textbook agree": np.allclose(c.F, c.textbook, atol=1e-8),
    }


def draw(c):
    figure, (data, field, ranked) = panels(1, 3, width=12.5, height=3.1)
    figure.get_layout_engine().set(w_pad=0.12)
    x, y = np.unique(c.grid[:, 0]), np.unique(c.grid[:, 1])
    filled = field.contourf(x, y, c.field.reshape(len(y), len(x)), levels=12, cmap=ramp(paper(), SKY))
    figure.colorbar(filled, cax=field.inset_axes([1.03, 0, 0.04, 1]), ticks=[0, 1, 2])
    by_rank = np.column_stack([c.F.argsort().argsort() + 1, c.F])
    for ax, points in ((data, c.X), (field, c.X), (ranked, by_rank)):
        scatter(ax, points[:-1], color=ink(), s=14)
        scatter(ax, points[-1:], color=ORANGE, edgecolors=ink(), marker="D", s=54)
        ax.annotate("outlier", points[-1], (8, 8), textcoords="offset points")
        ax.set_box_aspect(np.ptp(y) / np.ptp(x))
    for ax in (data, field):
        ax.set(xlim=(x[0], x[-1]), ylim=(y[0], y[-1]), xlabel="$x_1$", ylabel="$x_2$")
    data.set_title("the data")
    field.set_title("$F(x)$ over the plane")
    ranked.set(title="$F$ of every point, sorted", xlabel="rank", ylabel="$F(x_j)$", ylim=(0, None))
    return figure


if __name__ == "__main__":
    from mercer.report.gallery import run_script

    run_script(__file__)
