"""What all rules say of one scree, side by side, and what follows."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer_old.arrays import Array
from mercer_old.errors import counted, joined
from mercer_old.readings.rules.known import Rule
from mercer_old.readings.rules.scree import Opinion, Scree

__all__ = ["Suggestion"]


@dataclass(frozen=True, eq=False)
class Suggestion:
    """How many components, by every rule: print it, or ask ``suggestion.k`` and ``suggestion["parallel"].k``.

    Attributes
    ----------
    opinions : tuple of Opinion
        One for each rule: `rule`, `k` (None if it says nothing), `why`, `at_least` (the fitted variances end before
        the rule does), `limits` (what each variance has to exceed) and `p_values`, where a rule has them.
    scree : Scree
        What the rules looked at.
    unequal : str
        What is said if columns have noise of different sizes; rules that take it as equal are then left out of the
        consensus. Empty if they do not, or if nobody knows.
    """

    opinions: tuple[Opinion, ...]
    scree: Scree
    rules: Mapping[str, Rule]
    unequal: str = ""

    def __getitem__(self, rule: str) -> Opinion:
        for opinion in self.opinions:
            if opinion.rule == rule:
                return opinion
        raise KeyError(f"There is no rule {rule!r} here; there are {joined(list(self))}.")

    def __iter__(self) -> Iterator[str]:
        return iter(opinion.rule for opinion in self.opinions)

    def __len__(self) -> int:
        return len(self.opinions)

    @property
    def k(self) -> int | None:
        """The consensus: the median of the rules that tell signal from noise, the smaller of two in the middle.

        Where noise differs from column to column, of those that do not take it as equal. Where none of them says
        anything, what the elbow says; None if that says nothing either.
        """
        agreed = self._agreed
        return None if agreed is None else agreed.k

    @property
    def at_least(self) -> bool:
        """Whether the consensus is where the fitted variances end, so that more may be asked for."""
        return self._agreed is not None and self._agreed.at_least

    @property
    def consensus(self) -> str:
        """The same in a sentence, with how it was formed."""
        heard, agreed = self.heard, self._agreed
        if agreed is None:
            return "No rule says how many components to keep."
        if not heard:
            return f"Keep {agreed.answer}: the elbow, as no rule that tells signal from noise applies."
        least, most = (_number(choose(heard, key=_number)) for choose in (min, max))
        if len(heard) == 1:
            one = f"by {heard[0].rule}, the one rule here that tells signal from noise"
            return f"Keep {agreed.answer}: {one}.{self._left_out}"
        how = f"{'both' if len(heard) == 2 else f'all {len(heard)}'} rules that tell signal from noise agree"
        if least < most:
            how = (
                f"the median of {counted(len(heard), 'rule')} that tell signal from noise, which say {least} to {most}"
            )
        return f"Keep {agreed.answer}: {how}.{self._left_out}"

    @property
    def _left_out(self) -> str:
        return f" Left out are rules of equal noise: {self.unequal}." if self.unequal else ""

    @property
    def table(self) -> list[dict[str, Any]]:
        """A line for each rule, for a frame or a file: rule, title, k, at_least, needs, why."""
        return [
            {
                "rule": opinion.rule,
                "title": self.rules[opinion.rule].title,
                "k": opinion.k,
                "at_least": opinion.at_least,
                "needs": self.rules[opinion.rule].needs,
                "why": opinion.why,
            }
            for opinion in self.opinions
        ]

    @property
    def cumulative(self) -> Array:
        """The share of the variance that the first 1, 2, … components have."""
        return np.cumsum(self.scree.values) / self.scree.total if self.scree.total > 0 else 0 * self.scree.values

    def __str__(self) -> str:
        cells = [(opinion.rule, opinion.answer, opinion.why) for opinion in self.opinions]
        wide, answers = (max(len(row[i]) for row in [("rule", "k", ""), *cells]) for i in (0, 1))
        lines = [f"{rule:<{wide}}  {k:>{answers}}  {why}" for rule, k, why in [("rule", "k", "why"), *cells]]
        return "\n".join([*lines, self.consensus])

    # ------------------------------------------------------------------ how it is formed

    @property
    def heard(self) -> list[Opinion]:
        """Opinions of which the consensus is made: of rules that tell signal from noise, and say something."""
        said = [(one, self.rules[one.rule]) for one in self.opinions if one.k is not None]
        return [one for one, rule in said if rule.tells_noise and not (rule.white and self.unequal)]

    @property
    def _agreed(self) -> Opinion | None:
        """The opinion in the middle."""
        if heard := self.heard:
            return sorted(heard, key=lambda one: (_number(one), one.at_least))[(len(heard) - 1) // 2]
        return next((one for one in self.opinions if one.rule == "elbow" and one.k is not None), None)


def _number(opinion: Opinion) -> int:
    assert opinion.k is not None
    return opinion.k
