"""An outlier is where the feature-space projections are small

F(x) adds up how far φ(x) reaches along the first ten components. Close to the data the kernel sees neighbours and F
is large; away from them every k(x, xⱼ) dies out, and F with it. The stray point took part in finding the components,
and still has by far the lowest F. How low is too low? The F of rows that were held out tell: one in twenty of them is
outside of the line, and of new rows like them as many will be, whatever they look like.
"""

from types import SimpleNamespace

import numpy as np

from mercer import KernelPCA, NoveltyDetector
from mercer.datasets import moons
from mercer.kernels import RBF
from mercer.textbook import gram_matrix, kernel_pca, rbf_kernel_of_length, sum_of_projections
from mercer_old.look import ORANGE, SKY, grid_over, ink, panels, paper, ramp, scatter

SLIDES = "000 p. 77–78"
FORMULA = "F(x) = Σᵢ |fᵢ(x)|,   fᵢ(x) = Σⱼ k(x, xⱼ)(vᵢ)ⱼ,   i = 1 … 10;   p(x) = (1 + #{j : Fⱼ ≤ F(x)})/(m + 1)"
ALPHA = 0.05


def compute():
    X = np.vstack([moons(50, noise=0.05, seed=0)[0], [1.1, 0.8]])  # the stray point comes last
    held_out, new = (moons(500, noise=0.05, seed=seed)[0] for seed in (1, 2))
    grid = grid_over(X, margin=0.2)
    angle = np.linspace(0, 2 * np.pi, 24, endpoint=False)
    far = 6 * np.column_stack([np.cos(angle), np.sin(angle)])
    model = KernelPCA(10, kernel=RBF.from_length_scale(0.3)).fit(X)
    detector = NoveltyDetector(model, statistic="lecture", alpha=ALPHA, prefit=True).fit(held_out)
    F, field, F_far = (detector.score_samples(points) for points in (X, grid, far))
    p, p_new = detector.p_values(X), detector.p_values(new)
    K = gram_matrix(rbf_kernel_of_length(0.3), X)
    textbook = sum_of_projections(K, kernel_pca(K, 10)[1])
    return SimpleNamespace(
        X=X, grid=grid, F=F, field=field, F_far=F_far, p=p, p_new=p_new, textbook=textbook, least=detector.offset_
    )


def claims(c):
    outlier, others, m = c.F[-1], c.F[:-1], len(c.p_new)  # as many new rows as were held out
    alarms, chance = np.sum(c.p_new <= ALPHA), np.sqrt(2 * m * ALPHA * (1 - ALPHA))
    as_promised = abs(alarms - ALPHA * m) < 4 * chance
    return {
        "the outlier has the lowest F of all points": c.F.argmin() == len(c.F) - 1,
        f"its F, {outlier:.2f}, is under a tenth of the next lowest, {others.min():.2f}": outlier < others.min() / 10,
        "on a circle far outside the data F is zero to twelve digits": c.F_far.max() < 1e-12 * others.mean(),
        "KernelPCA and the textbook agree": np.allclose(c.F, c.textbook, atol=1e-8),
        "the outlier has the smallest p-value there is": np.isclose(c.p[-1], 1 / (m + 1)),
        f"of {m} new rows on the moons {alarms} are called novel: {ALPHA:.0%}, as far as chance allows": as_promised,
    }


def draw(c):
    figure, (data, field, ranked) = panels(1, 3, width=12.5, height=3.1)
    figure.get_layout_engine().set(w_pad=0.12)
    x, y = np.unique(c.grid[:, 0]), np.unique(c.grid[:, 1])
    heights = c.field.reshape(len(y), len(x))
    filled = field.contourf(x, y, heights, levels=12, cmap=ramp(paper(), SKY))
    field.contour(x, y, heights, levels=[c.least], colors=[ORANGE], linewidths=1.6)
    figure.colorbar(filled, cax=field.inset_axes([1.03, 0, 0.04, 1]), ticks=[0, 1, 2])
    by_rank = np.column_stack([c.F.argsort().argsort() + 1, c.F])
    ranked.axhline(c.least, color=ORANGE, linewidth=1.6)
    ranked.annotate(f"α = {ALPHA:g}", (len(c.F), c.least), (0, -12), textcoords="offset points", ha="right")
    for ax, points in ((data, c.X), (field, c.X), (ranked, by_rank)):
        scatter(ax, points[:-1], color=ink(), s=14)
        scatter(ax, points[-1:], color=ORANGE, edgecolors=ink(), marker="D", s=54)
        ax.annotate("outlier", points[-1], (8, 8), textcoords="offset points")
        ax.set_box_aspect(np.ptp(y) / np.ptp(x))
    for ax in (data, field):
        ax.set(xlim=(x[0], x[-1]), ylim=(y[0], y[-1]), xlabel="$x_1$", ylabel="$x_2$")
    data.set_title("the data")
    field.set_title("$F(x)$, and where it is too low")
    ranked.set(title="$F$ of every point, sorted", xlabel="rank", ylabel="$F(x_j)$", ylim=(0, None))
    return figure


if __name__ == "__main__":
    from mercer_old.report.gallery import run_script

    run_script(__file__)
