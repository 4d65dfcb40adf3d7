"""The spiral: LLE unrolls it, kernel PCA cannot.

Colour is the place along the spiral. LLE keeps only what each point's 12 neighbours say about it, and its first
coordinate runs through the spiral from end to end; new points are placed between their neighbours. A Gaussian kernel
compares places by their distance in the plane, and no bandwidth brings the points into order.
"""

from types import SimpleNamespace

import numpy as np
from scipy.stats import spearmanr

from mercer.datasets import spiral
from mercer.report.figures import BLUE, ORANGE, SKY, ink, panels, scatter
from mercer.textbook import gram_matrix, kernel_pca, lle_embedding, lle_new_point, lle_weight_matrix
from mercer.textbook import rbf_kernel_of_length, training_scores

SLIDES = "003, last pages"
FORMULA = "xᵢ ≈ Σⱼ wᵢⱼxⱼ,   M = (I − W)ᵀ(I − W),   z: bottom eigenvectors of M but 1,   z_new = Σⱼ wⱼzⱼ"
LENGTHS = np.geomspace(0.3, 30, 13)


def compute():
    X, place = spiral(300, 2)
    Z = lle_embedding(lle_weight_matrix(X, 12), 1)
    X_new, place_new = (a[1::2] for a in spiral(599, 2))  # halfway between each point and the next
    Z_new = np.array([lle_new_point(x, X, Z, 12) for x in X_new])
    widest = gram_matrix(rbf_kernel_of_length(LENGTHS[-1]), X)  # its powers are the narrower kernels
    kernel = [training_scores(*kernel_pca(widest ** (LENGTHS[-1] / length) ** 2, 2)) for length in LENGTHS]
    return SimpleNamespace(
        X=X, place=place, Z=Z, X_new=X_new, place_new=place_new, Z_new=Z_new, kernel=np.array(kernel)
    )


def order(scores, place):
    """The rank correlation with the place along the spiral, 1 for perfect order in either direction."""
    return abs(spearmanr(scores, place).statistic)


def claims(c):
    z, place = np.append(c.Z, c.Z_new), np.append(c.place, c.place_new)
    best = max(order(scores, c.place) for scores in np.vstack([c.kernel[:, :, 0], c.kernel[:, :, 1]]))
    return {
        "the rank correlation of LLE with the place along the spiral is 1": order(c.Z[:, 0], c.place) > 1 - 1e-12,
        f"that of neither kernel component ever exceeds {best:.2f}, in {len(LENGTHS)} bandwidths": best < 0.8,
        f"all {len(c.Z_new)} new points fall between the right two neighbours": order(z, place) > 1 - 1e-12,
    }


def draw(c):
    figure, (data, unrolled, kernel, sweep) = panels(1, 4, width=13, height=3.5)
    ordered = np.array([[order(scores, c.place) for scores in pair.T] for pair in c.kernel])
    best = ordered[:, 0].argmax()
    new = slice(5, None, 17)
    data.scatter(*c.X.T, c=c.place, cmap="cividis", s=12)
    scatter(data, c.X_new[new], color=ORANGE, edgecolors=ink(), marker="D", s=26)
    data.set(title="the data", xlabel="$x_1$", ylabel="$x_2$", aspect="equal")
    unrolled.scatter(c.place, c.Z[:, 0], c=c.place, cmap="cividis", s=12)
    scatter(unrolled, np.column_stack([c.place_new, c.Z_new])[new], color=ORANGE, edgecolors=ink(), marker="D", s=26)
    unrolled.set(title="LLE", xlabel="place along the spiral", ylabel="$z_1$")
    kernel.scatter(*c.kernel[best].T, c=c.place, cmap="cividis", s=12)
    kernel.set(title=f"kernel PCA, ℓ = {LENGTHS[best]:.1f}", xlabel="component 1", ylabel="component 2")
    sweep.axhline(1, color=ORANGE, label="LLE")
    for i, style in enumerate(["o-", "s--"]):
        sweep.semilogx(LENGTHS, ordered[:, i], style, color=[BLUE, SKY][i], ms=4, label=f"component {i + 1}")
    sweep.set(title="order found, by bandwidth", xlabel="length scale ℓ", ylabel="|rank correlation|", ylim=(0, 1.05))
    sweep.legend()
    return figure


if __name__ == "__main__":
    from mercer.report.gallery import run_script

    run_script(__file__)
