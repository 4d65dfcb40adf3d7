"""Scree plot: how many components are enough?

Four figures on each of the US states, three of them about crime, each scaled to variance one. Left, the share of the
variance that each component explains, and what some rules ask of it: a component below its line is taken for noise.
The elbow of the notes is the point farthest below the chord. Middle, the shares added up, and the line of 90%. Right,
what every rule says, filled if it tells signal from noise, and the consensus. The rules need not agree.
"""

from types import SimpleNamespace

import numpy as np

from mercer import PCA, suggest
from mercer.datasets import us_arrests
from mercer.textbook import pca_by_svd, proportion_of_variance, standardise
from mercer_old.look import BLUE, GREEN, ORANGE, PINK, RED, faint, ink, panels, paper

SLIDES = "004 fig. 5 · 000 p. 43"
FORMULA = "PVEₗ = λₗ / Σⱼ λⱼ,   smallest k with PVE₁ + … + PVEₖ ≥ 0.9"
LINES = {"kaiser": (GREEN, ":"), "broken-stick": (ORANGE, "--"), "parallel": (RED, "-"), "horn": (PINK, "-.")}


def compute():
    X = us_arrests()[0]
    every = PCA(standardize=True).fit(X)
    found, share = suggest(every, X), every.explained_variance_ratio_
    said = [one for one in found.opinions if one.k is not None]
    return SimpleNamespace(
        share=share,
        total=found.cumulative,
        by_eye=int(np.argmax(np.linspace(share[0], share[-1], len(share)) - share)) + 1,
        rules=[one.rule for one in said],
        kept=np.array([one.k for one in said]),
        noise=np.array([found.rules[one.rule].tells_noise for one in said]),
        limits=np.array([found[rule].limits[:4] for rule in LINES]) / every.total_variance_,
        consensus=found.k,
        fitted=PCA("parallel", standardize=True).fit(X).n_components_,
        ninety=PCA(0.9, standardize=True).fit(X).n_components_,
        textbook=proportion_of_variance(pca_by_svd(standardise(X))[0]),
    )


def claims(c):
    said = dict(zip(c.rules, c.kept, strict=True))
    above = np.cumprod(c.share > c.limits, axis=1).sum(axis=1)
    return {
        "the shares are those of An Introduction to Statistical Learning: 62.0%, 24.7%, 8.9%, 4.3%": (
            np.array_equal(np.round(100 * c.share, 1), [62.0, 24.7, 8.9, 4.3])
        ),
        f"90% takes {c.ninety} components: two hold {c.total[1]:.1%}, three {c.total[2]:.1%}": (
            c.ninety == 3 and np.array_equal(c.total >= 0.9, [False, False, True, True])
        ),
        "by eye the elbow comes after the second, as the notes say, and Minka's evidence agrees": (
            c.by_eye == said["mle"] == 2
        ),
        "a component above its line is kept by that rule, and no other": [said[rule] for rule in LINES]
        == above.tolist(),
        f'the consensus is {c.consensus}, and PCA("parallel") keeps as many': c.consensus == c.fitted == 1,
        "PCA and the textbook agree": np.allclose(c.share, c.textbook, atol=1e-8),
    }


def draw(c):
    figure, (each, summed, rules) = panels(1, 3, width=12.5, height=4.4)
    k, arrow = np.arange(1, len(c.share) + 1), {"arrowstyle": "->", "color": ink(), "shrinkB": 6}
    each.plot(k[[0, -1]], c.share[[0, -1]], color=ink(), linestyle=(0, (1, 3)), linewidth=1, label="chord")
    for (rule, (colour, style)), limits in zip(LINES.items(), c.limits, strict=True):
        each.plot(k, limits, color=colour, linestyle=style, linewidth=1.4, label=rule)
    summed.axhline(0.9, color=ink(), linestyle=":", linewidth=1.2)
    for ax, y, most, title in [(each, c.share, 0.7, "proportion of variance"), (summed, c.total, 1.05, "cumulative")]:
        ax.plot(k, y, "o-", color=BLUE, markersize=7, zorder=3)
        ax.set(title=title, xlabel="component", xticks=k, ylim=(0, most))
        ax.yaxis.set_major_formatter("{x:.0%}")
    each.legend(loc="upper right", fontsize=9)
    each.annotate(f"by eye: k = {c.by_eye}", (c.by_eye, c.share[c.by_eye - 1]), (1, 0.05), arrowprops=arrow)
    summed.annotate(f"90%: k = {c.ninety}", (c.ninety, c.total[c.ninety - 1]), (3, 0.6), arrowprops=arrow, ha="center")
    for row, (kept, filled) in enumerate(zip(c.kept, c.noise, strict=True)):
        rules.axhline(row, color=faint(), linewidth=0.8, zorder=0)
        rules.plot(kept, row, "o", color=BLUE, markerfacecolor=BLUE if filled else paper(), markersize=8)
    rules.axvline(c.consensus, color=RED, linewidth=1.4, zorder=1)
    rules.set(title=f"every rule; consensus {c.consensus}", xlabel="components kept", xticks=[0, *k], xlim=(-0.4, 4.4))
    rules.set_yticks(range(len(c.rules)), c.rules, fontsize=9)
    rules.invert_yaxis()
    return figure


if __name__ == "__main__":
    from mercer_old.report.gallery import run_script

    run_script(__file__)
