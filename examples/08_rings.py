"""Rings: PCA only turns them, kernel PCA takes them apart

On a circle the two features are uncorrelated already, so PCA has nothing to find. The Gaussian kernel sees who
is near whom: with a bandwidth wider than the gaps within a ring and narrower than the distance between rings, the
first component is one sign on the inner ring and the other sign on the outer one.
"""

from types import SimpleNamespace

import numpy as np

from mercer import KernelPCA
from mercer.datasets import rings
from mercer.kernels import RBF
from mercer.textbook import gram_matrix, kernel_pca, pca_by_svd, project, rbf_kernel_of_length, training_scores
from mercer_old.look import panels, scatter

SLIDES = "004 fig. 8 · 003 · 001"
FORMULA = "k(x, y) = exp(−‖x − y‖² / 2ℓ²),   JKJ vᵢ = ηᵢvᵢ,   scores √ηᵢ vᵢ"
LENGTHS = [0.1, 1.0, 6.0]  # a ring's own spacing; between that and the distance of the rings, 2; far beyond


def compute():
    X, ring = rings(100, radii=(1, 3), seed=1)
    linear = project(X, pca_by_svd(X)[1], X.mean(axis=0))
    kernel = [KernelPCA(2, kernel=RBF.from_length_scale(length)).fit_transform(X) for length in LENGTHS]
    textbook = training_scores(*kernel_pca(gram_matrix(rbf_kernel_of_length(LENGTHS[1]), X), 2))
    return SimpleNamespace(X=X, ring=ring, linear=linear, kernel=np.array(kernel), textbook=textbook)


def gap(scores, ring):
    """How far one threshold on the first score keeps the rings apart, in units of its range; negative: not."""
    inner, outer = scores[ring == 0, 0], scores[ring == 1, 0]
    return max(inner.min() - outer.max(), outer.min() - inner.max()) / np.ptp(scores[:, 0])


def claims(c):
    turned = np.linalg.norm(c.linear, axis=1), np.linalg.norm(c.X - c.X.mean(axis=0), axis=1)
    gaps = [gap(scores, c.ring) for scores in c.kernel]
    return {
        "PCA keeps every distance from the centre: a rotation": np.allclose(*turned),
        "no threshold on the first principal component separates the rings": gap(c.linear, c.ring) < 0,
        f"with ℓ = {LENGTHS[1]} one threshold does, with room to spare ({gaps[1]:.0%} of the range)": gaps[1] > 0.3,
        "a bandwidth that is too small or too large does not": max(gaps[0], gaps[2]) < 0,
        "KernelPCA and the textbook agree": np.allclose(c.kernel[1], c.textbook, atol=1e-8),
    }


def draw(c):
    figure, axes = panels(1, 5, width=12, height=3.1)
    titles = ["the data", "PCA", *(f"kernel PCA, ℓ = {length:g}" for length in LENGTHS)]
    for ax, title, points in zip(axes, titles, [c.X, c.linear, *c.kernel], strict=True):
        scatter(ax, points, c.ring, ["inner ring", "outer ring"])
        ax.set(title=title, xlabel="$x_1$" if points is c.X else "component 1")
        ax.set_ylabel("$x_2$" if points is c.X else "component 2")
        ax.set_box_aspect(1)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure


if __name__ == "__main__":
    from mercer_old.report.gallery import run_script

    run_script(__file__)
