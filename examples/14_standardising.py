"""With and without standardising: the same data, two answers

x₁ has 25 times the variance of x₂, perhaps only because of its unit. As measured, the first axis therefore runs nearly
along x₁ and seems to hold all there is. With both features scaled to variance one their correlation decides: the first
axis weighs them equally, and a tenth of the variance is left to the second. The lines reach two standard deviations.
"""

from types import SimpleNamespace

import numpy as np

from mercer import PCA
from mercer.datasets import unequal_gaussian
from mercer.textbook import pca_by_svd, spectral_decomposition, standardise
from mercer_old.look import RED, SKY, ink, panels, scatter

SLIDES = "004 ex. 5"
FORMULA = "Σ = [[25, 4], [4, 1]]: λ = 13 ± √160 ≈ 25.65, 0.35;   R = [[1, 0.8], [0.8, 1]]: λ = 1 ± 0.8 = 1.8, 0.2"


def compute():
    X = unequal_gaussian(500, seed=0)
    n, raw, scaled = len(X), PCA().fit(X), PCA(standardize=True).fit(X)
    return SimpleNamespace(
        X=X,
        Z=(X - scaled.mean_) / scaled.scale_,
        raw=raw.explained_variance_ * (n - 1) / n,  # Σ of the notes divides by n
        U=raw.components_.T,
        scaled=scaled.explained_variance_,  # correlations are the same with n and n − 1
        V=scaled.components_.T,
        first=np.column_stack([model.transform(X)[:, 0] for model in (raw, scaled)]),
        textbook=np.array([pca_by_svd(X)[0], pca_by_svd(standardise(X))[0]]),
    )


def claims(c):
    (l1, l2), W = spectral_decomposition([[25, 4], [4, 1]])
    n, angle = len(c.X), np.arccos(min(1, abs(W[:, 0] @ c.U[:, 0])))
    r = np.corrcoef(c.first.T, c.X.T)[:2, 2:]  # first scores × features
    return {
        f"as measured, λ = {c.raw[0]:.1f} and {c.raw[1]:.2f}: theory says {l1:.1f} and {l2:.2f}, give or take three "
        "standard errors": np.allclose(c.raw, [l1, l2], atol=0, rtol=3 * np.sqrt(2 / n)),
        f"as measured, w₁ = ({c.U[0, 0]:.2f}, {c.U[1, 0]:.2f}), theory says ({abs(W[0, 0]):.2f}, {abs(W[1, 0]):.2f})": (
            angle < 3 * np.sqrt(l1 * l2 / n) / (l1 - l2)
        ),
        f"standardised, λ = {c.scaled[0]:.2f} and {c.scaled[1]:.2f}, in theory 1.8 and 0.2, and w₁ = (1, 1)/√2": (
            np.allclose(c.scaled, [1.8, 0.2], atol=3 * 0.36 / np.sqrt(n)) and np.allclose(c.V[:, 0], np.sqrt(0.5))
        ),
        f"the first score is x₁ as measured (correlation {r[0, 0]:.3f}), and as near to x₁ as to x₂ standardised "
        f"({r[1, 0]:.2f}, {r[1, 1]:.2f})": r[0, 0] > 0.995 and np.isclose(*r[1]),
        "PCA and the textbook agree": np.allclose([c.raw, c.scaled], c.textbook, atol=1e-8),
    }


def draw(c):
    figure, axes = panels(1, 2, width=7.8, height=3.9)
    cases = [("as measured", c.X, c.raw, c.U, 18), ("standardised", c.Z, c.scaled, c.V, 3.6)]
    for ax, (name, points, values, W, reach) in zip(axes, cases, strict=True):
        scatter(ax, points, color=SKY, s=12)
        for i, colour in enumerate([RED, ink()]):
            ends = points.mean(axis=0) + np.outer([-2, 2], np.sqrt(values[i]) * W[:, i])
            label = f"{values[i] / values.sum():.1%} along ({W[0, i]:.2f}, {W[1, i]:.2f})"
            ax.plot(*ends.T, color=colour, linewidth=3, label=label.replace("-", "−"))
        ax.set(title=name, xlabel="$x_1$", ylabel="$x_2$", xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal")
        ax.legend(loc="upper left")
    return figure


if __name__ == "__main__":
    from mercer_old.report.gallery import run_script

    run_script(__file__)
