"""Scree plot: how many components are enough?

Four figures on each of the US states, three of them about crime, each scaled to variance one. Left, the share of the
variance that each component explains: the elbow is the point farthest below the line from the first to the last.
Right, the shares added up, and the line of 90%. Minka's evidence asks under which k the data are most probable. The
rules need not agree.
"""

from types import SimpleNamespace

import numpy as np

from mercer import PCA
from mercer.datasets import us_arrests
from mercer.report.look import BLUE, ink, panels
from mercer.textbook import pca_by_svd, proportion_of_variance, standardise

SLIDES = "004 fig. 5 · 000 p. 43"
FORMULA = "PVEₗ = λₗ / Σⱼ λⱼ,   smallest k with PVE₁ + … + PVEₖ ≥ 0.9"


def elbow(share):
    """The k whose point (k, PVEₖ) is farthest below the chord from the first to the last."""
    chord = np.linspace(share[0], share[-1], len(share))
    return int(np.argmax(chord - share)) + 1


def compute():
    X = us_arrests()[0]
    every, ninety, minka = (PCA(rule, standardize=True).fit(X) for rule in (None, 0.9, "mle"))
    share = every.explained_variance_ratio_
    return SimpleNamespace(
        share=share,
        total=np.cumsum(share),
        ninety=ninety.n_components_,
        elbow=elbow(share),
        minka=minka.n_components_,
        textbook=proportion_of_variance(pca_by_svd(standardise(X))[0]),
    )


def claims(c):
    return {
        "the shares are those of An Introduction to Statistical Learning: 62.0%, 24.7%, 8.9%, 4.3%": (
            np.array_equal(np.round(100 * c.share, 1), [62.0, 24.7, 8.9, 4.3])
        ),
        f"90% takes {c.ninety} components: two hold {c.total[1]:.1%}, three {c.total[2]:.1%}": (
            c.ninety == 3 and np.array_equal(c.total >= 0.9, [False, False, True, True])
        ),
        "the elbow comes after the second, as the notes say, and Minka's evidence agrees": c.elbow == c.minka == 2,
        "PCA and the textbook agree": np.allclose(c.share, c.textbook, atol=1e-8),
    }


def draw(c):
    figure, (each, summed) = panels(1, 2, width=9.5, height=3.6)
    k = np.arange(1, len(c.share) + 1)
    each.plot(k[[0, -1]], c.share[[0, -1]], color=ink(), linestyle=":", linewidth=1.2)
    summed.axhline(0.9, color=ink(), linestyle=":", linewidth=1.2)
    for ax, y, title in [
        (each, c.share, "proportion of variance explained"),
        (summed, c.total, "cumulative proportion"),
    ]:
        ax.plot(k, y, "o-", color=BLUE, markersize=7)
        ax.set(title=title, xlabel="component", xticks=k, ylim=(0, 1.05))
        ax.yaxis.set_major_formatter("{x:.0%}")
    arrow = {"arrowstyle": "->", "color": ink(), "shrinkB": 6}
    each.annotate(f"elbow: k = {c.elbow}", (c.elbow, c.share[c.elbow - 1]), (1, 0.08), arrowprops=arrow)
    each.annotate(f"Minka's evidence: k = {c.minka}", (c.minka, c.share[c.minka - 1]), (2.1, 0.6), arrowprops=arrow)
    summed.annotate(f"90%: k = {c.ninety}", (c.ninety, c.total[c.ninety - 1]), (3, 0.6), arrowprops=arrow, ha="center")
    return figure


if __name__ == "__main__":
    from mercer.report.gallery import run_script

    run_script(__file__)
