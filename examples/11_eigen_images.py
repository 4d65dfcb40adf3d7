"""Eigen-images: every digit is the mean plus a few patterns

An axis of PCA has one entry per pixel, so it can be looked at: red pixels are added, blue ones taken away (or the
other way round, a sign is a convention). A digit is the mean image plus its scores times these patterns. With a
growing number k of them the digit appears, first what it shares with others, then what is its own.
"""

from types import SimpleNamespace

import numpy as np

from mercer import PCA
from mercer.textbook import pca_by_svd, project, reconstruct
from mercer_old.look import ink, panels, paper, ramp, without_axes

SLIDES = "004 fig. 4"
FORMULA = "x̃ = μ + Σᵢ zᵢuᵢ,   zᵢ = uᵢᵀ(x − μ),   i = 1 … k"
KS = [1, 2, 4, 8, 16, 32, 64]


def compute():
    from sklearn.datasets import load_digits

    X = load_digits().data
    digits, models = X[[0, 22, 15]], [PCA(k).fit(X) for k in KS]
    U, mean, share = models[-1].components_.T, models[-1].mean_, models[-1].explained_variance_ratio_
    rebuilt = np.array([model.inverse_transform(model.transform(digits)) for model in models])
    eight = pca_by_svd(X, 8)[1]
    textbook = reconstruct(project(digits, eight, X.mean(axis=0)), eight, X.mean(axis=0))
    return SimpleNamespace(mean=mean, share=share, U=U, digits=digits, rebuilt=rebuilt, textbook=textbook)


def claims(c):
    error = np.linalg.norm(c.rebuilt - c.digits, axis=2)
    return {
        "the eigen-images are orthonormal": np.allclose(c.U.T @ c.U, np.eye(64)),
        f"seven of 64 hold {c.share[:7].sum():.0%} of the variance": c.share[:7].sum() > 0.6,
        "each doubling of k brings every digit closer": np.all(np.diff(error, axis=0) < 0),
        "with all 64 the digits are back exactly": np.allclose(c.rebuilt[-1], c.digits),
        "PCA and the textbook agree": np.allclose(c.rebuilt[KS.index(8)], c.textbook, atol=1e-8),
    }


def draw(c):
    figure, axes = panels(4, 8, width=9.5, height=5.6)
    grey = ramp(paper(), ink())
    pictures = np.concatenate([c.digits[:, None], c.rebuilt.swapaxes(0, 1)], axis=1)
    for ax, picture in zip([axes[0, 0], *axes[1:].flat], [c.mean, *pictures.reshape(-1, 64)], strict=True):
        ax.imshow(picture.reshape(8, 8), cmap=grey, vmin=0, vmax=16)
    for i, ax in enumerate(axes[0, 1:]):
        top = np.abs(c.U[:, i]).max()
        ax.imshow(c.U[:, i].reshape(8, 8), vmin=-top, vmax=top)
        ax.set_title(f"$u_{i + 1}$: {c.share[i]:.0%}")
    axes[0, 0].set_title("mean μ")
    for ax, title in zip(axes[1], ["digit", *(f"$k$ = {k}" for k in KS)], strict=True):
        ax.set_title(title)
    for ax in axes.flat:
        without_axes(ax)
    return figure


if __name__ == "__main__":
    from mercer_old.report.gallery import run_script

    run_script(__file__)
