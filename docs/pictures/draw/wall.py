"""Time and memory of kernel PCA against the number of rows, from the last `make bench SUITE=large`."""

import json

from benchmarks.kernel_pca.suites import LARGE
from mercer_old import look


def of(results, system):
    named = [systems[system] for systems in results.values() if system in systems]
    chosen = [r for r in named if r["k"] == 20 and "d = 30" in r["data"] and "times" in r]
    return [r["n"] for r in chosen], [min(r["times"]) for r in chosen], [r["peak"] / 1e9 for r in chosen]


def draw():
    results = json.loads(LARGE.path.with_suffix(".json").read_text(encoding="utf-8"))
    figure, (left, right) = look.panels(1, 2, width=9, height=3.6)
    systems = {
        "mercer": (look.BLUE, "o", "mercer"),
        "scikit-learn arpack": (look.ORANGE, "s", 'scikit-learn, eigen_solver="arpack"'),
    }
    for system, (colour, marker, label) in systems.items():
        n, seconds, memory = of(results, system)
        left.loglog(n, seconds, marker=marker, color=colour, label=label)
        right.loglog(n, memory, marker=marker, color=colour, label=label)
    sizes = [10_000, 20_000, 50_000, 100_000, 200_000]
    right.loglog(sizes, [8 * n**2 / 1e9 for n in sizes], "--", color=look.GREY, label="the kernel matrix alone")
    left.set(title="Time of fit", ylabel="seconds", ylim=(1, 1000))
    right.set(title="Peak memory in addition to the data", ylabel="GB")
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
