"""Counts of an attack, and the table at its end."""

from collections import Counter, defaultdict
from dataclasses import dataclass, field

import numpy as np

from attack.judge import KINDS


@dataclass(repr=False)
class Tally:
    """What a number of verdicts come to."""

    problems: Counter = field(default_factory=Counter)  # by family
    statements: Counter = field(default_factory=Counter)  # by kind
    wrong: Counter = field(default_factory=Counter)  # by kind
    refused: Counter = field(default_factory=Counter)  # by family
    refusals: Counter = field(default_factory=Counter)  # by what was said
    violated: dict = field(default_factory=lambda: defaultdict(list))  # by family: (name, words, violations)
    widths: dict = field(default_factory=lambda: defaultdict(list))  # by family
    sines: dict = field(default_factory=lambda: defaultdict(list))
    used: dict = field(default_factory=lambda: defaultdict(float))  # by family: of an interval, at most

    def add(self, family, name, words, verdict):
        self.problems[family] += 1
        self.refused[family] += bool(verdict.refused)
        self.refusals.update([f"{family}: {verdict.refused[:150]}"] if verdict.refused else [])
        self.statements.update(verdict.statements)
        self.wrong.update(v.kind for v in verdict.violations)
        if verdict.violations:
            self.violated[family].append((name, words, verdict.violations))
        self.widths[family] += verdict.widths
        self.sines[family] += verdict.sines
        self.used[family] = max(self.used[family], verdict.used)

    @property
    def failures(self):
        """Problems with a violated statement."""
        return sum(map(len, self.violated.values()))

    def __str__(self):
        parts = self.by_problem(), self.by_refusal(), self.by_family(), self.sharpness(), self.by_kind()
        return "\n\n".join("\n".join(part) for part in parts)

    def by_problem(self):
        for family in sorted(self.violated):
            for name, words, violations in self.violated[family]:
                yield f"{name}  {words}"
                for violation in violations[:4]:
                    yield f"    {violation}"
                if len(violations) > 4:
                    yield f"    … and {len(violations) - 4} more"

    def by_refusal(self):
        for words, count in self.refusals.most_common(12):
            yield f"{count} refused, {words}"

    def by_family(self):
        names = f"{'problems':>8} {'refused':>8} {'used':>8} {'violated':>8} {'u‖A‖':>10} {'half widths':>12}"
        yield f"{'family':<26} {names}"
        for family in sorted(self.problems):
            wrong = [v for _, _, violations in self.violated.get(family, []) for v in violations]
            units = f"{max(v.units for v in wrong):10.3g} {max(v.halves for v in wrong):12.3g}" if wrong else ""
            counts = f"{self.problems[family]:8d} {self.refused[family]:8d} {self.used[family]:8.3f}"
            yield f"{family:<26} {counts} {len(self.violated.get(family, [])):8d} {units}".rstrip()

    def sharpness(self):
        yield f"{'ordinary rows':<26} {'median width':>13} {'worst':>10} {'median sine':>13}"
        for family in sorted(self.widths):
            widths = self.widths[family]
            if "ordinary" in family and widths:
                middle, worst, sine = np.median(widths), np.max(widths), np.median(self.sines[family] or [np.nan])
                yield f"{family:<26} {middle:13.2e} {worst:10.1e} {sine:13.2e}"

    def by_kind(self):
        yield f"{'statement':<50} {'checked':>9} {'wrong':>7}"
        for kind, words in KINDS.items():
            yield f"{words:<50} {self.statements[kind]:9d} {self.wrong[kind]:7d}"
        every, wrong = self.statements.total(), self.wrong.total()
        yield f"{'all':<50} {every:9d} {wrong:7d}"
        yield f"{self.problems.total():,} problems, {every:,} statements: {self.failures} problems with a violated one."
