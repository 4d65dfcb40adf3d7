"""The figure of the README: kernel PCA of the sizes that people reported, from the last `make bench SUITE=large`."""

import json

from benchmarks.kernel_pca.suites import LARGE
from mercer import look

# Rows and minutes as reported in scikit-learn/scikit-learn#18013 (30 features, radial kernel); 50 000 rows were killed.
REPORTED = {10_000: 5, 20_000: 6, 30_000: 52}


def of(results, system):
    named = [systems[system] for systems in results.values() if system in systems]
    chosen = [r for r in named if r["k"] == 20 and "d = 30" in r["data"] and "times" in r]
    return [r["n"] for r in chosen], [min(r["times"]) for r in chosen], [r["peak"] / 1e9 for r in chosen]


def draw():
    results = json.loads(LARGE.path.with_suffix(".json").read_text(encoding="utf-8"))
    figure, (left, right) = look.panels(1, 2, width=9, height=3.6)
    systems = {
        "mercer": (look.BLUE, "o", "mercer, certified"),
        "scikit-learn arpack": (look.ORANGE, "s", "scikit-learn, arpack"),
    }
    for system, (colour, marker, label) in systems.items():
        n, seconds, memory = of(results, system)
        left.loglog(n, seconds, marker=marker, color=colour, label=label)
        right.loglog(n, memory, marker=marker, color=colour, label=label)
    left.loglog(list(REPORTED), [60 * m for m in REPORTED.values()], "^", color=look.RED, label="reported (#18013)")
    for n, words, side in ((50_000, "killed ", "right"), (80_000, " MemoryError\n (#19479)", "left")):
        left.axvline(n, color=look.faint(), zorder=0)
        left.annotate(words, (n, 6000), ha=side, va="top", color=look.RED, fontsize=8)
    sizes = [10_000, 20_000, 50_000, 100_000, 200_000]
    right.loglog(sizes, [8 * n**2 / 1e9 for n in sizes], "--", color=look.GREY, label="the kernel matrix")
    left.set(title="time", ylabel="seconds", ylim=(1, 7000))
    right.set(title="peak memory beyond the data", ylabel="GB")
    for ax in (left, right):
        ax.set_xlabel("rows")
        ax.set_xticks(sizes, [f"{n // 1000}k" for n in sizes])
        ax.minorticks_off()
        ax.yaxis.set_major_formatter("{x:g}")
        ax.grid(axis="y")
    left.legend(fontsize=8, loc="lower right")
    right.legend(fontsize=8, loc="upper left")
    return figure


PICTURES = {"wall": lambda: look.as_png(draw)}
