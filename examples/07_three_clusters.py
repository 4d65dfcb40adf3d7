"""Eight component functions on three clusters

Two functions suffice to tell three clusters apart, so two eigenvalues stand out and the signs of f₁ and f₂ name the
cluster. From the third on the functions look inside: each is positive on one part of a cluster and negative on
another. There are more of them than the plane has dimensions.
"""

from types import SimpleNamespace

import numpy as np
from sklearn.base import clone

from mercer import KernelPCA, clusters
from mercer.datasets import three_clusters
from mercer.textbook import gram_matrix, kernel_pca, rbf_kernel, training_scores
from mercer_old.look import field, grid_over, ink, panels, paper, scatter, without_axes

SLIDES = "001, kernel PCA on artificial data"
FORMULA = "k(x, y) = exp(−‖x − y‖² / 0.1),   JKJ vᵢ = ηᵢvᵢ,   fᵢ(x) = Σⱼ k(x, xⱼ)(vᵢ)ⱼ − mean"
PRINTED = np.array([21.72, 21.65, 4.11, 3.93, 3.66, 3.09, 2.60, 2.53])  # the eigenvalues on the slide


def compute():
    X, cluster = three_clusters(30, seed=0)
    model = KernelPCA(8, kernel="rbf", gamma=1 / 0.1)
    others = [clone(model).fit(three_clusters(30, seed=seed)[0]).eigenvalues_ for seed in range(1, 101)]
    f = model.fit_transform(X)
    grid, found = grid_over(X), clusters(model)
    return SimpleNamespace(
        X=X,
        cluster=cluster,
        eta=model.eigenvalues_,
        grid=grid,
        fields=model.transform(grid),
        f=f,
        others=np.array(others),
        labels=found.labels,
        share=found.share,
        textbook=training_scores(*kernel_pca(gram_matrix(rbf_kernel(1 / 0.1), X), 8)),
    )


def claims(c):
    signs = [set(map(tuple, c.f[c.cluster == j, :2] > 0)) for j in range(3)]
    means = np.array([c.f[c.cluster == j].mean(axis=0) for j in range(3)])
    between = (means**2).mean(axis=0) / (c.f**2).mean(axis=0)  # share of the variance of fᵢ, whose mean is 0
    away = np.abs([c.eta, PRINTED] - c.others.mean(axis=0)) / c.others.std(axis=0)
    return {
        f"two eigenvalues stand {c.eta[1] / c.eta[2]:.1f} times above the third": c.eta[1] > 4 * c.eta[2],
        "the signs of f₁ and f₂ name the cluster of every point": len(set.union(*signs)) == sum(map(len, signs)) == 3,
        "f₁ and f₂ vary between the clusters, f₃ to f₈ within them": between[:2].min() > 0.9
        and between[2:].max() < 0.05,
        f"clusters() reads the three off: {c.share:.0%} of the variance of f₁ and f₂ lies between them": c.share > 0.85
        and c.share < 1
        and np.array_equal(c.labels, c.cluster),
        f"our eigenvalues and the slide's are within 4 σ of the mean of {len(c.others)} samples": away.max() < 4,
        "KernelPCA and the textbook agree": np.allclose(c.f, c.textbook, atol=1e-8),
    }


def draw(c):
    figure, axes = panels(2, 4, width=11, height=5.6)
    for i, ax in enumerate(axes.flat):
        field(ax, c.grid, c.fields[:, i])
        scatter(ax, c.X, c.cluster, color=paper(), edgecolors=ink(), s=14)
        ax.set_title(f"$f_{i + 1}$,  eigenvalue = {c.eta[i]:.2f}")
        without_axes(ax)
    return figure


if __name__ == "__main__":
    from mercer_old.report.gallery import run_script

    run_script(__file__)
