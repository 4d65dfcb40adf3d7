"""Names in the plane by a string kernel, and three that come later

The kernel counts the three-letter pieces two names share, so no number is ever attached to a name, and still each
has a place. Families stay together: five Simpsons span the first axis, three Flanders the second; Carlson leans towards
"-son", Smithers and Chalmers towards "-ers". Names that were not there at the start land beside their relatives. The
textbook counts pairs of names one by one; KernelPCA(kernel=Spectrum(3)) finds the same places without that matrix.
"""

from itertools import cycle
from types import SimpleNamespace

import numpy as np

from mercer import KernelPCA
from mercer.datasets import OOV, VOC, family
from mercer.kernels import Spectrum
from mercer.textbook import gram_matrix, kernel_pca, ngram_kernel, normalised_kernel, scores, training_scores
from mercer_old.look import COLOURS, MARKERS, ink, panels, scatter

SLIDES = "000 p. 79–81"
FORMULA = "k(s, t) = φ(s)ᵀφ(t) / ‖φ(s)‖‖φ(t)‖,   φ counts the 3-grams,   fᵢ(s) = Σⱼ k(s, sⱼ)(vᵢ)ⱼ − mean"


def compute():
    kernel = normalised_kernel(ngram_kernel(3))
    K = gram_matrix(kernel, VOC)
    eta, V = kernel_pca(K, 2)
    known, new = training_scores(eta, V), scores(gram_matrix(kernel, OOV, VOC), K, V)
    model = KernelPCA(2, kernel=Spectrum(3)).fit(VOC)
    alike = [model.similar(name, 1, by="kernel").items[0] for name in OOV]
    return SimpleNamespace(known=known, new=new, fast=model.transform([*VOC, *OOV]), alike=alike)


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
        "and so is the name that has most in common with it": [family(name) for name in c.alike] == nearest,
        "the fast class finds the same places, of all names": same_places(c.fast, c.known, c.new),
    }


def same_places(found, known, new):
    """Up to the directions of the axes, which are nobody's to choose."""
    signs = np.sign(np.sum(found[: len(VOC)] * known, axis=0))
    return np.allclose(found * signs, np.vstack([known, new]), atol=1e-9)


def draw(c):
    figure, (named, placed) = panels(1, 2, width=13, height=5.2, width_ratios=[2.4, 1.35])
    families = np.array([family(name) for name in VOC])
    relatives = [name for name in np.unique(families) if np.sum(families == name) > 1]
    colour = dict.fromkeys([*families, *map(family, OOV)], ink()) | dict(zip(relatives, cycle(COLOURS), strict=False))
    marker = dict.fromkeys([*families, *map(family, OOV)], ".") | dict(zip(relatives, cycle(MARKERS), strict=False))
    for ax in (named, placed):
        for name in np.unique(families):
            look = {"color": colour[name], "marker": marker[name], "label": name if name in relatives else None}
            scatter(ax, c.known[families == name], s=40, **look)
        ax.set(xlabel="$f_1(s)$", ylabel="$f_2(s)$", aspect="equal", ylim=(-0.65, 0.8), xticks=[-0.4, 0, 0.4, 0.8])
    left = np.array([c.known[families == name, 0].mean() for name in families]) < np.median(c.known[:, 0])
    for side, x, top, align in ((left, -0.5, 0.72, "right"), (~left, 0.8, 0.36, "left")):
        members = np.flatnonzero(side)[c.known[side, 1].argsort()]  # the labels stand in two columns, in this order
        for i, y in zip(members, np.linspace(-0.6, top, len(members)), strict=True):
            alpha = 1 if families[i] in relatives else 0.65
            named.plot([c.known[i, 0], x], [c.known[i, 1], y], color=colour[families[i]], lw=0.8, alpha=0.6 * alpha)
            named.text(x, y, f" {VOC[i]} ", ha=align, va="center", fontsize=9, alpha=alpha)
    for name, z, offset in zip(OOV, c.new, cycle([(60, -24), (-20, -40), (64, -44)]), strict=False):
        own = {"color": colour[family(name)], "marker": marker[family(name)]}
        scatter(placed, z[None], s=90, edgecolors=ink(), linewidths=1.2, **own)
        line = {"arrowstyle": "-", "color": ink()}
        placed.annotate(name, z, offset, textcoords="offset points", weight="bold", ha="center", arrowprops=line)
    named.set(title=f"the {len(VOC)} names", xlim=(-1, 1.4))
    placed.set(title=f"{len(OOV)} new names among them", xlim=(-0.5, 0.85))
    placed.legend(loc="upper right", borderaxespad=0)
    return figure


if __name__ == "__main__":
    from mercer_old.report.gallery import run_script

    run_script(__file__)
