"""The shapes of two kernels: Gaussian and polynomial.

The Gaussian kernel depends on the distance alone: 1 for a point with itself, 0.61 at the length scale ℓ, then nothing.
The polynomial kernel depends on the scalar product: b moves the curve sideways, γ makes it steeper, and the degree M
sets its shape.
"""

from types import SimpleNamespace

import numpy as np

from mercer.report.figures import faint, panels
from mercer.textbook import gram_matrix, polynomial_kernel, rbf_kernel_of_length

SLIDES = "004 fig. 6–7"
FORMULA = "k(x, x′) = exp(−‖x − x′‖² / 2ℓ²),   k(x, x′) = (γ xᵀx′ + b)ᴹ"
LENGTHS, BS, GAMMAS, DEGREES = [0.5, 1.0, 2.0], [0.0, 1.0, 2.0], [0.5, 1.0, 2.0], [1, 2, 3]


def compute():
    distance, product = np.linspace(0, 6, 121), np.linspace(-3, 3, 121)  # both in steps of 0.05

    def curves(kernels, t, other):  # on the line, |t − 0| is the distance of t from 0, and t·1 its product with 1
        return np.array([gram_matrix(k, t[:, None], np.array([[other]]))[:, 0] for k in kernels])

    return SimpleNamespace(
        distance=distance,
        product=product,
        by_length=curves([rbf_kernel_of_length(length) for length in LENGTHS], distance, 0),
        by_b=curves([polynomial_kernel(1, b, 3) for b in BS], product, 1),
        by_gamma=curves([polynomial_kernel(gamma, 1, 3) for gamma in GAMMAS], product, 1),
        by_degree=curves([polynomial_kernel(1, 1, degree) for degree in DEGREES], product, 1),
    )


def claims(c):
    at_length = [np.interp(length, c.distance, curve) for length, curve in zip(LENGTHS, c.by_length, strict=True)]
    slopes = [np.interp(0, c.product, np.gradient(curve, c.product)) for curve in c.by_gamma]
    steps = round(BS[2] / (c.product[1] - c.product[0]))
    return {
        "every Gaussian curve starts at 1 and is e^−½ = 0.61 at its ℓ": np.allclose(c.by_length[:, 0], 1)
        and np.allclose(at_length, np.exp(-0.5)),
        "b = 2 is the curve of b = 0, two further left": np.allclose(c.by_b[2, :-steps], c.by_b[0, steps:]),
        "the slope at 0 is 3γ": np.allclose(slopes, 3 * np.array(GAMMAS), rtol=0.01),
        "only the even degree is never negative": np.all(
            (c.by_degree.min(axis=1) >= 0) == [m % 2 == 0 for m in DEGREES]
        ),
    }


def draw(c):
    figure, axes = panels(1, 4, width=13, height=3.4)
    looks = ["-", "--", "-."]
    rows = [
        ("Gaussian", "distance $\\|x - x'\\|$", c.distance, c.by_length, [f"ℓ = {v:g}" for v in LENGTHS]),
        ("$(x^T x' + b)^3$", "", c.product, c.by_b, [f"b = {v:g}" for v in BS]),
        ("$(γ\\, x^T x' + 1)^3$", "", c.product, c.by_gamma, [f"γ = {v:g}" for v in GAMMAS]),
        ("$(x^T x' + 1)^M$", "", c.product, c.by_degree, [f"M = {v}" for v in DEGREES]),
    ]
    for ax, (title, xlabel, t, curves, labels) in zip(axes, rows, strict=True):
        ax.axhline(0, color=faint(), lw=1)
        for curve, label, look in zip(curves, labels, looks, strict=True):
            ax.plot(t, curve, look, label=label)
        ax.set(title=title, xlabel=xlabel or "scalar product $x^T x'$", ylabel="$k(x, x')$")
        ax.legend()
    for ax in axes[1:]:
        ax.axvline(0, color=faint(), lw=1, zorder=0)
        ax.set_ylim(-10, 20)
    return figure


if __name__ == "__main__":
    from mercer.report.gallery import run_script

    run_script(__file__)
