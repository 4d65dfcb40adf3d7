"""The spiral: LLE unrolls it, kernel PCA cannot

Colour is the place along the spiral. LLE keeps only what each point's 12 neighbours say about it, and its first
coordinate runs through the spiral from end to end; new points are placed between their neighbours. A Gaussian kernel
compares places by their distance in the plane, and no bandwidth brings the points into order.
"""

from types import SimpleNamespace

import numpy as np
from scipy.stats import spearmanr

from mercer import KernelPCA, LocallyLinearEmbedding
from mercer.datasets import spiral
from mercer.kernels import RBF
from mercer.textbook import lle_embedding, lle_new_point, lle_weight_matrix
from mercer_old.look import BLUE, ORANGE, PINK, SKY, ink, panels, paper, ramp, scatter

SLIDES = "003, last pages"
FORMULA = "xᵢ ≈ Σⱼ wᵢⱼxⱼ,   M = (I − W)ᵀ(I − W),   z: bottom eigenvectors of M but 1,   z_new = Σⱼ wⱼzⱼ"
LENGTHS = np.geomspace(0.2, 20, 61)


def compute():
    X, place = spiral(300, 2)
    X_new, place_new = (a[1::2] for a in spiral(599, 2))  # halfway between each point and the next
    model = LocallyLinearEmbedding(n_neighbors=12, n_components=1).fit(X)
    kernel = [KernelPCA(2, kernel=RBF.from_length_scale(length)).fit_transform(X) for length in LENGTHS]
    by_book = lle_embedding(lle_weight_matrix(X, 12), 1)
    return SimpleNamespace(
        X=X,
        place=place,
        Z=model.embedding_,
        X_new=X_new,
        place_new=place_new,
        Z_new=model.transform(X_new),
        kernel=np.array(kernel),
        textbook=np.concatenate([by_book, [lle_new_point(x, X, by_book, 12) for x in X_new]]),
    )


def order(z, place):
    """The rank correlation with the place along the spiral: 1 for perfect order in either direction."""
    return abs(spearmanr(z, place).statistic)


def claims(c):
    best = max(order(component, c.place) for scores in c.kernel for component in scores.T)
    Z = np.concatenate([c.Z, c.Z_new])
    together = order(Z[:, 0], np.append(c.place, c.place_new))
    apart = min(np.abs(Z - sign * c.textbook).max() for sign in (1, -1))
    return {
        "the rank correlation of LLE with the place along the spiral is 1": order(c.Z[:, 0], c.place) > 1 - 1e-12,
        f"that of kernel PCA is {best:.2f} at best, over {len(LENGTHS)} bandwidths and two components": best < 0.9,
        f"all {len(c.Z_new)} new points fall between the right two neighbours": together > 1 - 1e-12,
        "LocallyLinearEmbedding and the textbook agree, but for the sign": apart < 1e-6,
    }


def draw(c):
    figure, (data, unrolled, kernel, sweep) = panels(1, 4, width=13, height=3.4)
    found = np.array([[order(component, c.place) for component in scores.T] for scores in c.kernel])
    best = found[:, 0].argmax()
    along = {"c": c.place, "cmap": ramp(BLUE, PINK, ORANGE), "s": 12}
    data.scatter(*c.X.T, **along)
    unrolled.scatter(c.place, c.Z[:, 0], **along)
    kernel.scatter(*c.kernel[best].T, **along)
    for ax, points in ((data, c.X_new), (unrolled, np.column_stack([c.place_new, c.Z_new]))):
        scatter(ax, points[5::17], labels=["new points"], color=paper(), edgecolors=ink(), linewidths=1, marker="D")
    for i, style in enumerate(["-", "--"]):
        sweep.semilogx(LENGTHS, found[:, i], style, color=[SKY, PINK][i])
        sweep.text(LENGTHS[0], found[0, i] - 0.03, f"component {i + 1}", va="top")
    sweep.axhline(1, color=ORANGE)
    sweep.text(LENGTHS[-1], 0.98, "LLE", ha="right", va="top")
    data.set(title="the data", xlabel="$x_1$", ylabel="$x_2$", aspect="equal")
    unrolled.set(title="LLE", xlabel="place along the spiral", ylabel="$z$", yticks=[-0.1, 0, 0.1])
    unrolled.legend()
    kernel.set(title=f"kernel PCA at its best, ℓ = {LENGTHS[best]:.1f}", xlabel="component 1", ylabel="component 2")
    sweep.set(title="order found", xlabel="length scale ℓ", ylabel="|rank correlation|", ylim=(0, 1.05))
    for ax in (data, unrolled, kernel, sweep):
        ax.set_box_aspect(1)
    return figure


if __name__ == "__main__":
    from mercer_old.report.gallery import run_script

    run_script(__file__)
