"""Denoising: the pre-image of a kernel projection is cleaner than linear PCA

Components found on clean digits keep what digits have in common, and noise has little of it. Linear PCA can only
choose how many axes to keep; here it gets the number that is best for these very images (as γ was tried out on
such images, too). Kernel PCA projects in
feature space, where one has to look for the image that fits best: by iterating to a fixed point, or by learning the
way back from the clean digits. The error is the mean of ‖x̂ − x‖² over the ten images.
"""

from types import SimpleNamespace

import numpy as np

from mercer import textbook as tb
from mercer.report.look import ink, panels, paper, ramp, without_axes

SLIDES = "001, last page · 004 § 3.1.3"
FORMULA = "Pφ(x) = Σᵢ cᵢφ(xᵢ),   z ← Σᵢ cᵢk(z, xᵢ)xᵢ / Σᵢ cᵢk(z, xᵢ),   or   x̂ = k_y(y)ᵀ(K_Y + αI)⁻¹X"
GAMMA = 0.07


def compute():
    from sklearn.datasets import load_digits

    rng = np.random.default_rng(0)
    images, digit = load_digits(return_X_y=True)
    order = rng.permutation(len(images))
    X, rest = images[order[:400]] / 16, order[400:]
    clean = images[[rest[digit[rest] == d][0] for d in range(10)]] / 16  # one of each digit, none of them in X
    noisy = clean + 0.3 * rng.normal(size=clean.shape)

    U, mean = tb.pca_by_svd(X)[1], X.mean(axis=0)
    linear = [tb.reconstruct(tb.project(noisy, U[:, :k], mean), U[:, :k], mean) for k in range(1, 65)]

    kernel = tb.rbf_kernel(GAMMA)
    K = tb.gram_matrix(kernel, X)
    eta, V = tb.kernel_pca(K, 60)
    Y = tb.scores(tb.gram_matrix(kernel, noisy, X), K, V)
    C = [tb.projection_coefficients(V, y) for y in Y]
    fixed = [tb.preimage_by_fixed_point(X, c, GAMMA, z, steps=12) for c, z in zip(C, noisy, strict=True)]
    ridge = tb.preimage_by_ridge(tb.rbf_kernel(0.5), tb.training_scores(eta, V), X, Y, ridge=0.3)
    return SimpleNamespace(clean=clean, noisy=noisy, linear=np.array(linear), fixed=np.array(fixed), ridge=ridge)


def error(c, images):
    """Mean over the digits of ‖x̂ − x‖²."""
    return np.mean(np.sum((images - c.clean) ** 2, axis=-1), axis=-1)


def claims(c):
    noisy, best, fixed, ridge = error(c, c.noisy), error(c, c.linear).min(), error(c, c.fixed), error(c, c.ridge)
    return {
        f"linear PCA removes most of the noise: {noisy:.2f} → {best:.2f} at best": best < noisy / 2,
        f"the fixed point leaves a third less than that: {fixed:.2f}": fixed < best * 2 / 3,
        f"the learned way back, {ridge:.2f}, lies between the two": fixed < ridge < best,
    }


def draw(c):
    figure, axes = panels(5, 1, width=10.5, height=4.7)
    grey = ramp(paper(), ink())
    k = error(c, c.linear).argmin()
    labels = ["clean", "noisy", f"PCA, $k$ = {k + 1}", "kernel PCA, fixed point", "kernel PCA, learned"]
    for ax, label, images in zip(axes, labels, [c.clean, c.noisy, c.linear[k], c.fixed, c.ridge], strict=True):
        strip = np.hstack([np.pad(image.reshape(8, 8), [(0, 0), (1, 1)]) for image in images])
        ax.imshow(strip, cmap=grey, vmin=0, vmax=1)
        label += "" if images is c.clean else f"\nerror {error(c, images):.2f}"
        ax.set_ylabel(label, rotation=0, ha="right", va="center", linespacing=1.4)
        without_axes(ax)
    return figure


if __name__ == "__main__":
    from mercer.report.gallery import run_script

    run_script(__file__)
