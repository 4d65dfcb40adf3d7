"""Names in the plane by a string kernel, and three that come later.

The kernel counts the three-letter pieces two names share, so no number is ever attached to a name, and still each
has a place. Families stay together: five Simpsons span the first axis, three Flanders the second; Carlson leans towards
"-son", Smithers and Chalmers towards "-ers". Names that were not there at the start land beside their relatives.
"""

from types import SimpleNamespace

import numpy as np

from mercer.datasets import OOV, VOC, family
from mercer.report.figures import COLOURS, MARKERS, ink, panels, scatter
from mercer.textbook import gram_matrix, kernel_pca, ngram_kernel, normalised_kernel, scores, training_scores

SLIDES = "000 p. 79–81"
FORMULA = "k(s, t) = φ(s)ᵀφ(t) / ‖φ(s)‖‖φ(t)‖,   φ counts the 3-grams,   fᵢ(s) = Σⱼ k(s, sⱼ)(vᵢ)ⱼ"


def compute():
    kernel = normalised_kernel(ngram_kernel(3))
    K = gram_matrix(kernel, VOC)
    eta, V = kernel_pca(K, 2)
    return SimpleNamespace(known=training_scores(eta, V), new=scores(gram_matrix(kernel, OOV, VOC), K, V))


def claims(c):
    families = np.array([family(name) for name in VOC])
    distance = np.linalg.norm(c.known[:, None] - c.known, axis=2)
    same = families[:, None] == families
    within, between = distance[same & ~np.eye(len(VOC), dtype=bool)].mean(), distance[~same].mean()
    nearest = [families[np.linalg.norm(c.known - z, axis=1).argmin()] for z in c.new]
    right, top = families[c.known[:, 0].argsort()[-5:]], families[c.known[:, 1].argsort()[-3:]]
    return {
        f"names of one family are {between / within:.0f} times closer than others, on average": within < between / 10,
        "the five names furthest right are the Simpsons": set(right) == {"simpson"},
        "the three furthest up are the Flanders": set(top) == {"flanders"},
        "each newcomer's nearest name is of its own family": nearest == [family(name) for name in OOV],
    }


def spread(heights, gap):
    """The heights in their order, pushed apart until neighbours are `gap` from each other."""
    order, free = np.argsort(heights), np.array(heights)
    for _ in range(400):
        short = np.maximum(gap - np.diff(free[order]), 0) / 3
        free[order] += np.append(0, short) - np.append(short, 0)
    return free


def draw(c):
    figure, (named, placed) = panels(1, 2, width=13, height=5.2, width_ratios=[2.3, 1.4])
    families = np.array([family(name) for name in VOC])
    relatives = [name for name in np.unique(families) if np.sum(families == name) > 1]
    style = {name: {"color": COLOURS[i], "marker": MARKERS[i], "alpha": 1} for i, name in enumerate(relatives)}
    alone = {"color": ink(), "marker": ".", "alpha": 0.5}
    for ax in (named, placed):
        for name in np.unique(families):
            scatter(
                ax, c.known[families == name], s=34, **style.get(name, alone), label=name if name in style else None
            )
        ax.set(xlabel="$f_1(s)$", ylabel="$f_2(s)$", aspect="equal", ylim=(-0.62, 0.8))
    middle = np.median(c.known[:, 0])
    left = np.array([c.known[families == name, 0].mean() < middle for name in families])
    for side, x, align in ((left, -0.55, "right"), (~left, 0.85, "left")):
        for i, height in zip(np.flatnonzero(side), spread(c.known[side, 1], 0.062), strict=True):
            look = style.get(families[i], alone)
            named.plot(
                [c.known[i, 0], x], [c.known[i, 1], height], color=look["color"], lw=0.7, alpha=0.6 * look["alpha"]
            )
            named.text(x, height, f" {VOC[i]} ", ha=align, va="center", fontsize=8.5, alpha=0.3 + 0.7 * look["alpha"])
    for name, z, offset in zip(OOV, c.new, [(30, 14), (-60, -34), (60, -40)], strict=True):
        scatter(placed, z[None], s=80, edgecolors=ink(), linewidths=1.2, **style[family(name)])
        arrow = {"arrowstyle": "-", "color": ink()}
        placed.annotate(name, z, offset, textcoords="offset points", weight="bold", ha="center", arrowprops=arrow)
    named.set(title=f"the {len(VOC)} names", xlim=(-1.05, 1.3))
    placed.set(title=f"{len(OOV)} new names among them", xlim=(-0.5, 0.85))
    placed.legend(ncols=2)
    return figure


if __name__ == "__main__":
    from mercer.report.gallery import run_script

    run_script(__file__)
