"""Pictures of comparisons: digits as six methods see them, and the numbers of ten real data sets.

The first fits t-SNE and UMAP (half a minute); the second draws the figures that `make bench SUITE=compare` keeps.
"""

import json

import numpy as np

from benchmarks.readings.compare import STUDY
from mercer_old import look

METHODS = ["pca", "kernel-pca", "lle", "ica", "t-sne", "umap"]
PANELS = {"trustworthiness": "trustworthiness", "distances": "rank correlation of distances", "moved": "moved"}


def digits():
    from sklearn.datasets import load_digits

    import mercer

    X, y = load_digits(return_X_y=True)
    found = mercer.compare(X[:700], y[:700], methods=METHODS, repeats=0, apart=False)
    trust = {row["method"]: row["trustworthiness"] for row in found.table}
    assert min(trust["t-sne"], trust["umap"]) > trust["lle"] > trust["pca"]
    return found.plot()._repr_png_()


def ten():
    figures = json.loads(STUDY.path.with_suffix(".json").read_text(encoding="utf-8"))
    names, shown = list(figures), list(dict.fromkeys(m for found in figures.values() for m in found["table"]))
    figure, axes = look.panels(1, 3, width=11, height=6.4, sharey=True)
    for ax, (measure, title) in zip(axes, PANELS.items(), strict=True):
        for number, method in enumerate(shown):
            rows = [figures[name]["table"].get(method, {}) for name in names]
            values = np.array([row.get(measure) or np.nan for row in rows], dtype=float)
            errors = np.array([row.get(f"{measure}_error") or 0.0 for row in rows])
            at = np.arange(len(names)) + 0.09 * (number - (len(shown) - 1) / 2)
            style = {
                "color": look.COLOURS[number % 7],
                "marker": look.MARKERS[(number + number // 7) % 7],
                "markersize": 5,
            }
            style |= {"markerfacecolor": look.paper()} if number >= 7 else {}  # hollow, as colours come again
            label = next(row["title"] for row in rows if row)
            ax.errorbar(values, at, xerr=2 * errors, linestyle="none", elinewidth=1, label=label, **style)
        ax.set(title=f"{title} ({'smaller' if measure == 'moved' else 'larger'} is better)")
        ax.title.set_fontsize(9.5)
        ax.grid(axis="x", alpha=0.5)
        if measure == "moved":
            ax.set_xlim(-0.02, 0.62)
    axes[0].set_yticks(
        range(len(names)), [f"{name}\n{figures[name]['rows']} × {figures[name]['columns']}" for name in names]
    )
    axes[0].invert_yaxis()
    axes[0].tick_params(axis="y", labelsize=8)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=5, fontsize=9)
    return figure


PICTURES = {"compare": digits, "choose_ten": lambda: look.as_png(ten)}
