"""Denoising: the pre-image of a kernel projection is cleaner than linear PCA

Components found on clean digits keep what digits have in common, and noise has little of it. Linear PCA can only
choose how many axes to keep; here it gets the number that is best for these very images (as γ was tried out on
such images, too). Kernel PCA projects in feature space, where one has to look for the image that fits best: by a way
back that was learned from the clean digits, or by iterating to a fixed point. `denoise` compares that point with its
neighbours among the clean digits, and takes off what they do not have. The error is the mean of ‖x̂ − x‖² over the ten
images.
"""

from types import SimpleNamespace

import numpy as np

from mercer import PCA, KernelPCA
from mercer import textbook as tb
from mercer_old.look import ink, panels, paper, ramp, without_axes

SLIDES = "001, last page · 004 § 3.1.3"
FORMULA = "Pφ(x) = Σᵢ cᵢφ(xᵢ),   z ← Σᵢ cᵢk(z, xᵢ)xᵢ / Σᵢ cᵢk(z, xᵢ),   or   x̂ = k_y(y)ᵀ(K_Y + αI)⁻¹X"
GAMMA, COMPONENTS = 0.05, 64


def compute():
    from sklearn.datasets import load_digits

    rng = np.random.default_rng(0)
    images, digit = load_digits(return_X_y=True)
    order = rng.permutation(len(images))
    X, rest = images[order[:800]] / 16, order[800:]
    clean = images[[rest[digit[rest] == d][0] for d in range(10)]] / 16  # one of each digit, none of them in X
    noisy = clean + 0.3 * rng.normal(size=clean.shape)

    linear = [PCA(k).fit(X).denoise(noisy) for k in range(1, 65)]
    model = KernelPCA(COMPONENTS, kernel="rbf", gamma=GAMMA).fit(X)
    scores = model.transform(noisy)
    ways = {method: model.set_params(preimage=method).inverse_transform(scores) for method in ("ridge", "fixed-point")}
    calm = model.set_params(preimage="auto").denoise(noisy)
    untouched = model.denoise(clean)

    C = [tb.projection_coefficients(model.eigenvectors_, y / np.sqrt(model.eigenvalues_)) for y in scores]
    further = [tb.preimage_by_fixed_point(X, c, GAMMA, z, steps=9) for c, z in zip(C, ways["fixed-point"], strict=True)]
    found = {"linear": np.array(linear), "ridge": ways["ridge"], "fixed": ways["fixed-point"], "calm": calm}
    return SimpleNamespace(clean=clean, noisy=noisy, untouched=untouched, further=np.array(further), **found)


def error(c, images):
    """Mean over the digits of ‖x̂ − x‖²."""
    return np.mean(np.sum((images - c.clean) ** 2, axis=-1), axis=-1)


def claims(c):
    noisy, best, fixed, calm = error(c, c.noisy), error(c, c.linear).min(), error(c, c.fixed), error(c, c.calm)
    return {
        f"linear PCA removes most of the noise: {noisy:.2f} → {best:.2f} at best": best < noisy / 2,
        f"the fixed point leaves less than that: {fixed:.2f}": fixed < best,
        f"without what neighbours do not have, less than two thirds of it is left: {calm:.2f}": calm < best * 2 / 3,
        f"digits without noise hardly change: {error(c, c.untouched):.2f}": error(c, c.untouched) < calm / 4,
        "the textbook's iteration stays at our fixed points": np.allclose(c.further, c.fixed, atol=1e-4),
    }


def draw(c):
    figure, axes = panels(6, 1, width=10.5, height=5.6)
    grey = ramp(paper(), ink())
    k = error(c, c.linear).argmin()
    shown = {
        "clean": c.clean,
        "noisy": c.noisy,
        f"PCA, $k$ = {k + 1}": c.linear[k],
        "kernel PCA, learned": c.ridge,
        "kernel PCA, fixed point": c.fixed,
        "kernel PCA, denoise": c.calm,
    }
    for ax, (label, images) in zip(axes, shown.items(), strict=True):
        strip = np.hstack([np.pad(image.reshape(8, 8), [(0, 0), (1, 1)]) for image in images])
        ax.imshow(strip, cmap=grey, vmin=0, vmax=1)
        label += "" if images is c.clean else f"\nerror {error(c, images):.2f}"
        ax.set_ylabel(label, rotation=0, ha="right", va="center", linespacing=1.4)
        without_axes(ax)
    return figure


if __name__ == "__main__":
    from mercer_old.report.gallery import run_script

    run_script(__file__)
