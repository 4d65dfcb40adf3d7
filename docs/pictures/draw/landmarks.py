"""How much so many landmarks miss, by who chooses them: from the last `make bench SUITE=choosing_landmarks`."""

import json

import numpy as np

from benchmarks.kernel_pca.choosing_landmarks import COUNTS, DATA, FLOOR, PIVOTS, SEEDS, STUDY, SYSTEMS, K, N
from mercer_old import look


def draw(rows, results):
    figure, axes = look.panels(2, 2, width=9, height=6.4, sharex=True, sharey=True)
    colours = [look.BLUE, look.ORANGE, look.GREEN, look.PINK]
    for ax, (name, columns) in zip(axes.flat, results.items(), strict=True):
        for system, colour, marker in zip(SYSTEMS, colours, look.MARKERS, strict=False):
            errors, front = np.array(columns[system]), 3 if system == PIVOTS else 2
            ax.fill_between(COUNTS, errors.min(axis=1), errors.max(axis=1), color=colour, alpha=0.2, linewidth=0)
            ax.loglog(COUNTS, np.median(errors, axis=1), marker=marker, color=colour, label=system, zorder=front)
        picture = ax.inset_axes((0.02, 0.04, 0.2, 0.36), aspect="equal")
        look.scatter(picture, rows[name][:, :2], s=2, linewidths=0, color=look.GREY)
        look.without_axes(picture)
        ax.set(title=name, xticks=COUNTS, xticklabels=COUNTS)
        ax.set_yticks([1, 1e-3, 1e-6, 1e-9, FLOOR], ["1", "10⁻³", "10⁻⁶", "10⁻⁹", "rounding"])
        ax.minorticks_off()
        ax.grid(axis="y")
    figure.supxlabel(f"landmarks, or features (median and range of {SEEDS} seeds)", fontsize=10)
    figure.supylabel(f"share of the true {K} components' variance that is missed", fontsize=10)
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=len(SYSTEMS), fontsize=9)
    return figure


def landmarks():
    results = json.loads(STUDY.path.with_suffix(".json").read_text(encoding="utf-8"))
    rows = {name: make(N) for name, (make, _) in DATA.items()}
    return look.as_png(lambda: draw(rows, results))


PICTURES = {"landmarks": landmarks}
