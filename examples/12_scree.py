"""Scree plot: how many components are enough?

Four figures on each of the US states, three of them about crime, each scaled to variance one. Left, the share of the
variance that each component explains, and what some rules ask of it: a component below a line is no more than that
rule takes for noise. The elbow of the notes is the point farthest below the chord from the first to the last. Middle,
the shares added up, and the line of 90%. Right, what every rule says, filled if it tells signal from noise, and the
consensus of those that bear noise of different sizes. The rules need not agree: each answers another question.
"""

from types import SimpleNamespace

import numpy as np

from mercer import PCA, suggest
from mercer.datasets import us_arrests
from mercer.report.look import BLUE, GREEN, ORANGE, PINK, RED, faint, ink, panels, paper
from mercer.textbook import pca_by_svd, proportion_of_variance, standardise

SLIDES = "004 fig. 5 · 000 p. 43"
FORMULA = "PVEₗ = λₗ / Σⱼ λⱼ,   smallest k with PVE₁ + … + PVEₖ ≥ 0.9"
LINES = {"kaiser": (GREEN, ":"), "broken-stick": (ORANGE, "--"), "parallel": (RED, "-"), "horn": (PINK, "-.")}


def below_the_chord(share):
    """The k whose point (k, PVEₖ) is farthest below the chord from the first to the last."""
    chord = np.linspace(share[0], share[-1], len(share))
    return int(np.argmax(chord - share)) + 1


def compute():
    X = us_arrests()[0]
    every = PCA(standardize=True).fit(X)
    rules = suggest(every, X)
    return SimpleNamespace(
        share=every.explained_variance_ratio_,
        total=rules.cumulative,
        by_eye=below_the_chord(every.explained_variance_ratio_),
        said={one.rule: one.k for one in rules.opinions if one.k is not None},
        noise={one.rule for one in rules.opinions if rules.rules[one.rule].tells_noise},
        limits={rule: rules[rule].limits / every.total_variance_ for rule in LINES},
        consensus=rules.k,
        unequal=rules.unequal,
        ninety=PCA(0.9, standardize=True).fit(X).n_components_,
        fitted=PCA("parallel", standardize=True).fit(X).n_components_,
        textbook=proportion_of_variance(pca_by_svd(standardise(X))[0]),
    )


def claims(c):
    return {
        "the shares are those of An Introduction to Statistical Learning: 62.0%, 24.7%, 8.9%, 4.3%": (
            np.array_equal(np.round(100 * c.share, 1), [62.0, 24.7, 8.9, 4.3])
        ),
        f"90% takes {c.ninety} components: two hold {c.total[1]:.1%}, three {c.total[2]:.1%}": (
            c.ninety == c.said["share"] == 3 and np.array_equal(c.total >= 0.9, [False, False, True, True])
        ),
        "by eye the elbow comes after the second, as the notes say, and Minka's evidence agrees": (
            c.by_eye == c.said["mle"] == 2
        ),
        "the elbow of Zhu and Ghodsi, Kaiser, the broken stick and parallel analysis keep one": (
            {c.said[rule] for rule in ("elbow", "kaiser", "broken-stick", "parallel", "horn")} == {1}
        ),
        "a component that exceeds its line is kept, and no other": all(
            c.said[rule] == int(np.sum(np.cumprod(c.share > limits[:4]))) for rule, limits in c.limits.items()
        ),
        f'the consensus is {c.consensus}, and PCA("parallel") keeps as many': c.consensus == c.fitted == 1,
        "noise differs from column to column, so rules of equal noise have no say in it": "noise differs" in c.unequal,
        "PCA and the textbook agree": np.allclose(c.share, c.textbook, atol=1e-8),
    }


def draw(c):
    figure, (each, summed, rules) = panels(1, 3, width=12.5, height=4.4, gridspec_kw={"width_ratios": [1.15, 0.85, 1.1]})
    k = np.arange(1, len(c.share) + 1)
    each.plot(k[[0, -1]], c.share[[0, -1]], color=ink(), linestyle=(0, (1, 3)), linewidth=1, label="chord")
    for rule, (colour, style) in LINES.items():
        each.plot(k, c.limits[rule][:4], color=colour, linestyle=style, linewidth=1.4, label=rule)
    summed.axhline(0.9, color=ink(), linestyle=":", linewidth=1.2)
    for ax, y, title in [
        (each, c.share, "proportion of variance explained"),
        (summed, c.total, "cumulative proportion"),
    ]:
        ax.plot(k, y, "o-", color=BLUE, markersize=7, zorder=3)
        ax.set(title=title, xlabel="component", xticks=k, ylim=(0, 1.05))
        ax.yaxis.set_major_formatter("{x:.0%}")
    each.set_ylim(0, 0.7)
    each.legend(loc="upper right", fontsize=9)
    arrow = {"arrowstyle": "->", "color": ink(), "shrinkB": 6}
    each.annotate(f"by eye: k = {c.by_eye}", (c.by_eye, c.share[c.by_eye - 1]), (1, 0.05), arrowprops=arrow)
    summed.annotate(f"90%: k = {c.ninety}", (c.ninety, c.total[c.ninety - 1]), (3, 0.6), arrowprops=arrow, ha="center")
    _draw_rules(rules, c, k)
    return figure


def _draw_rules(ax, c, k):
    """Every rule a line, with its number as a point."""
    for row, (rule, kept) in enumerate(c.said.items()):
        ax.axhline(row, color=faint(), linewidth=0.8, zorder=0)
        face = BLUE if rule in c.noise else paper()
        ax.plot(kept, row, "o", color=BLUE, markerfacecolor=face, markersize=8)
    ax.axvline(c.consensus, color=RED, linewidth=1.4, zorder=1)
    ax.set(title=f"every rule; consensus {c.consensus}", xlabel="components kept", xticks=[0, *k], xlim=(-0.4, 4.4))
    ax.set_yticks(range(len(c.said)), c.said, fontsize=9)
    ax.invert_yaxis()
    ax.tick_params(axis="y", length=0)


if __name__ == "__main__":
    from mercer.report.gallery import run_script

    run_script(__file__)
