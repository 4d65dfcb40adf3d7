"""What is lost is the sum of the dropped eigenvalues

Left, the spectrum of 1797 handwritten digits of 64 pixels; right, the mean squared error when each digit is rebuilt
from k components. The errors as measured lie on the curve of the dropped eigenvalues; where a tenth of the spectrum is
left over, k is large enough for the 90% rule. Keeping the k pixels that vary most instead loses far more.
"""

from types import SimpleNamespace

import numpy as np

from mercer import PCA
from mercer.textbook import pca_by_covariance
from mercer_old.look import BLUE, GREEN, ORANGE, faint, ink, panels

SLIDES = "000 p. 41–43"
FORMULA = "1/n Σⱼ ‖xⱼ − x̃ⱼ‖² = Σ_{i>k} λᵢ,   smallest k with Σ_{i≤k} λᵢ / Σᵢ λᵢ ≥ 0.9"


def left_over(parts):
    """The sum of all parts but the first k, for k = 0, 1, 2, …"""
    return parts.sum() - np.concatenate([[0], np.cumsum(parts)])


def compute():
    from sklearn.datasets import load_digits

    X = load_digits().data
    n, ks = len(X), np.arange(1, 64, 4)
    models = [PCA(k).fit(X) for k in ks]
    rebuilt = [model.denoise(X) for model in models]
    values = PCA().fit(X).explained_variance_ * (n - 1) / n  # λ of the slides divide by n
    return SimpleNamespace(
        ks=ks,
        measured=np.array([np.mean(np.sum((X - digits) ** 2, axis=1)) for digits in rebuilt]),
        known=np.array([model.reconstruction_error_ for model in models]),
        values=values,
        lost=left_over(values),
        lost_pixels=left_over(np.sort(X.var(axis=0))[::-1]),
        k=PCA(0.9).fit(X).n_components_,
        textbook=pca_by_covariance(X)[0],
    )


def claims(c):
    dropped = [c.values[int(k) :].sum() for k in c.ks]
    return {
        "the error as measured is the sum of the dropped eigenvalues, for every k": np.allclose(c.measured, dropped),
        "PCA knows it without rebuilding a digit, as reconstruction_error_": np.allclose(c.measured, c.known),
        f"{c.k} of 64 components are the fewest that leave over a tenth or less": (
            c.lost[c.k] <= 0.1 * c.lost[0] < c.lost[c.k - 1]
        ),
        "pixels never lose less than as many components": np.all(c.lost_pixels >= c.lost - 1e-9),
        f"{c.k} pixels lose {c.lost_pixels[c.k] / c.lost[c.k]:.1f} times as much": c.lost_pixels[c.k] > 3 * c.lost[c.k],
        "PCA and the textbook agree": np.allclose(c.values, c.textbook, atol=1e-8),
    }


def draw(c):
    figure, (spectrum, error) = panels(1, 2, width=10, height=3.8)
    i = np.arange(1, len(c.values) + 1)
    for part, colour, label in [(i <= c.k, BLUE, f"the first {c.k}: 90%"), (i > c.k, ORANGE, "the rest: 10%")]:
        spectrum.bar(i[part], c.values[part], color=colour, label=label)
    spectrum.set(title="the spectrum", xlabel="$i$", ylabel=r"eigenvalue $\lambda_i$", xlim=(0, 65))
    error.axvline(c.k, color=faint(), linewidth=3, zorder=0, label=f"$k$ = {c.k}")
    error.plot(c.lost_pixels, color=GREEN, linestyle="--", label="$k$ pixels instead")
    error.plot(c.lost, color=ORANGE, label=r"$\lambda_{k+1} + \ldots + \lambda_{64}$")
    error.plot(c.ks, c.measured, "o", color=ink(), markersize=5, label="error as measured")
    error.set(
        title="the error", xlabel="components kept, $k$", ylabel="mean squared error", xlim=(0, 65), ylim=(0, None)
    )
    for ax in (spectrum, error):
        ax.legend()
    return figure


if __name__ == "__main__":
    from mercer_old.report.gallery import run_script

    run_script(__file__)
