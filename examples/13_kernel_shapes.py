"""The shapes of two kernels: Gaussian and polynomial

The Gaussian kernel depends on the distance alone: 1 for a point with itself, 0.61 at the length scale ℓ, then nothing.
The polynomial kernel depends on the scalar product: b moves the curve sideways, γ makes it steeper, and the degree M
sets its shape.
"""

from types import SimpleNamespace

import numpy as np

from mercer.textbook import gram_matrix, polynomial_kernel, rbf_kernel_of_length
from mercer_old.look import faint, ink, panels

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
    at_length = [np.interp([0, length], c.distance, k) for length, k in zip(LENGTHS, c.by_length, strict=True)]
    slopes = [np.interp(0, c.product, np.gradient(curve, c.product)) for curve in c.by_gamma]
    even, never_negative = np.array(DEGREES) % 2 == 0, c.by_degree.min(axis=1) >= 0
    return {
        "every Gaussian curve starts at 1 and is exp(−½) = 0.61 at its ℓ": np.allclose(at_length, [1, np.exp(-0.5)]),
        "b = 2 is the curve of b = 0, two further left": np.allclose(c.by_b[2, :-40], c.by_b[0, 40:]),
        "the slope at 0 is 3γ": np.allclose(slopes, 3 * np.array(GAMMAS), rtol=0.01),
        "only the even degree is never negative": np.array_equal(even, never_negative),
    }


def draw(c):
    figure, axes = panels(1, 4, width=13, height=3.3)
    product = "scalar product $x^T x'$"
    shown = [
        ("Gaussian", "distance $\\|x - x'\\|$", c.distance, "ℓ", LENGTHS, c.by_length),
        ("$(x^T x' + b)^3$", product, c.product, "$b$", BS, c.by_b),
        ("$(γ\\, x^T x' + 1)^3$", product, c.product, "$γ$", GAMMAS, c.by_gamma),
        ("$(x^T x' + 1)^M$", product, c.product, "$M$", DEGREES, c.by_degree),
    ]
    for ax, (title, xlabel, t, letter, values, curves) in zip(axes, shown, strict=True):
        ax.axhline(0, color=faint(), lw=1)
        for value, curve, style in zip(values, curves, ["-", "--", "-."], strict=True):
            ax.plot(t, curve, style, label=f"{letter} = {value:g}")
        ax.set(title=title, xlabel=xlabel, ylabel="$k(x, x')$", ylim=(-0.05, 1.05) if t is c.distance else (-10, 20))
        ax.legend()
    axes[0].plot(LENGTHS, np.full(3, np.exp(-0.5)), "o", color=ink(), ms=5)
    return figure


if __name__ == "__main__":
    from mercer_old.report.gallery import run_script

    run_script(__file__)
