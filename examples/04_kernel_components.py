"""Six component functions of Gaussian kernel PCA as fields over the plane

Each field is fᵢ(x) = Σⱼ k(x, xⱼ)(vᵢ)ⱼ, with the training means removed so that the data average to zero; the line
drawn is fᵢ = 0. The first field tells the two crescents apart, the later ones cut along them: clusters can be read
off the signs.
"""

from types import SimpleNamespace

import numpy as np

from mercer import KernelPCA
from mercer.datasets import moons
from mercer.kernels import RBF
from mercer.textbook import gram_matrix, kernel_pca, rbf_kernel_of_length, training_scores
from mercer_old.look import field, grid_over, ink, panels, paper, scatter, without_axes
from mercer_old.readings.clustering import split_in_two

SLIDES = "000 p. 75–76"
FORMULA = "fᵢ(x) = k(x)ᵀvᵢ − mean,   JKJ vᵢ = ηᵢvᵢ,   vᵢ ← vᵢ / √ηᵢ"


def compute():
    X, moon = moons(50, noise=0.05, seed=0)
    model = KernelPCA(6, kernel=RBF.from_length_scale(0.2)).fit(X)
    grid = grid_over(X)
    eta, V = kernel_pca(gram_matrix(rbf_kernel_of_length(0.2), X), 6)
    return SimpleNamespace(
        X=X,
        moon=moon,
        eta=model.eigenvalues_,
        grid=grid,
        fields=model.transform(grid),
        f=model.transform(X),
        splits=np.array([split_in_two(f)[0] for f in model.transform(X).T]),
        textbook=training_scores(eta, V),
    )


def claims(c):
    first = (c.f[:, 0] > 0).astype(int)
    agreement = max(np.mean(first == c.moon), np.mean(first != c.moon))
    return {
        f"the sign of f₁ alone gives the crescent of {agreement:.0%} of the points": agreement == 1,
        f"but none is constant on a crescent: two values would explain {c.splits.max():.0%} at most, as of a wave": (
            c.splits.max() < 0.85
        ),
        "the six functions are uncorrelated on the data": np.allclose(c.f.T @ c.f, np.diag(c.eta)),
        "each has mean zero on the data": np.allclose(c.f.mean(axis=0), 0),
        "KernelPCA and the textbook agree": np.allclose(c.f, c.textbook, atol=1e-8),
    }


def draw(c):
    figure, axes = panels(2, 3, width=9, height=5.4)
    for i, ax in enumerate(axes.flat):
        field(ax, c.grid, c.fields[:, i])
        scatter(ax, c.X, c.moon, color=paper(), edgecolors=ink(), s=14)
        ax.set_title(f"$f_{i + 1}(x)$,  $\\eta_{i + 1}$ = {c.eta[i]:.1f}")
        without_axes(ax)
    return figure


if __name__ == "__main__":
    from mercer_old.report.gallery import run_script

    run_script(__file__)
