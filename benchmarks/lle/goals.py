"""Locally linear embedding: what was to be reached, and what was."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Goal:
    """A figure to reach on the first case whose name begins so."""

    case: str
    least: float  # times as fast as scikit-learn; or GB, if `memory`
    memory: bool = False

    def row(self, results):
        name = next((name for name in results if name.startswith(self.case)), None)
        ours = ours_of(results[name]) if name is not None else {"failed": "not measured"}
        if name is None or "failed" in ours:
            return []
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
    Goal("fit in 2GB, swiss roll 500,000 × 3, standard", 2, memory=True),
]
WORST = 1e-3  # of the gap: our residuals are to be smaller


def ours_of(systems):
    """The first line of a case."""
    return next(iter(systems.values()))


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
    fits = [ours_of(systems) for name, systems in results.items() if name.startswith("fit,")]
    known = [ours["residual"] for ours in fits if ours.get("residual") is not None]
    if known:
        lines.append(f"| residual of all our fits | {WORST:.0e} of the gap | {max(known):.0e} at worst | |")
    return [*lines, ""]
