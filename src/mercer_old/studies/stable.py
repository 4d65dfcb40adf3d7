"""What draws of rows say about components: a record to read and print, with a verdict in plain words."""

from dataclasses import dataclass, field

import numpy as np

from mercer_old.arrays import Array
from mercer_old.errors import are, counted, joined
from mercer_old.readings.stability import OFTEN, Group

__all__ = ["KINDS_IN_WORDS", "Stability", "in_plain_words"]


@dataclass(frozen=True)
class Stability:
    """What `stability` found, for components in the order of the model."""

    verdict: str
    groups: list[Group]
    angles: Array = field(repr=False)  # draws × k: degrees by which the first j components turn
    variances: Array = field(repr=False)  # (k,) of the components
    variance_errors: Array = field(repr=False)  # (k,) their standard deviations over draws
    scores: Array = field(repr=False)  # (n × k) of the rows
    spread: Array = field(repr=False)  # (n × k) standard deviation of each over draws, aligned
    axes: Array | None = field(default=None, repr=False)  # (k × d) as `components_`, of linear models
    axes_low: Array | None = field(default=None, repr=False)  # 95 % intervals of their entries
    axes_high: Array | None = field(default=None, repr=False)
    rows: str = ""  # how many were drawn from
    seen: float = 1.0  # share of the variance that the features see

    @property
    def draws(self) -> int:
        """How many."""
        return len(self.angles)

    @property
    def n_stable(self) -> int:
        """How many of the first components are worth reading, by themselves or together."""
        return max((group.last for group in self.groups if group.kind != "noise"), default=0)

    def __str__(self) -> str:
        often = np.quantile(self.angles, OFTEN, axis=0)
        words = {number: KINDS_IN_WORDS[group.kind] for group in self.groups for number in group.numbers}
        heads = ("component", "variance", "±", "turns by", f"{OFTEN:.0%} below", "")
        body = [
            (
                str(j + 1),
                f"{self.variances[j]:.4g}",
                f"{self.variance_errors[j]:.2g}",
                f"{np.median(self.angles[:, j]):.0f}°",
                f"{often[j]:.0f}°",
                words[j + 1],
            )
            for j in range(len(self.variances))
        ]
        widths = [max(len(row[column]) for row in (heads, *body)) for column in range(len(heads))]
        lines = [
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in (heads, *body)
        ]
        lost = f", by features that see {self.seen:.1%} of the variance" if self.seen < 0.9995 else ""
        return "\n".join([*lines, f"{self.verdict} ({counted(self.draws, 'draw')} of {self.rows}{lost}.)"])


KINDS_IN_WORDS = {"axis": "stable", "together": "stable together", "rest": "rest of the space", "noise": "noise"}


def in_plain_words(groups: list[Group]) -> str:
    """In the order of components; those that are sure by themselves share a sentence."""
    alone = [group.first for group in groups if group.kind == "axis"]
    said = {group.first: _about(group) for group in groups if group.kind != "axis"}
    if alone:
        said[alone[0]] = f"{_which(alone)} {are(len(alone))} stable"
    sentence = "; ".join(said[first] for first in sorted(said))
    return f"{sentence[:1].upper()}{sentence[1:]}."


def _about(group: Group) -> str:
    which, count = _which(group.numbers), len(group.numbers)
    if group.kind == "together" and count == 2:
        return f"{which} exchange places: read them as a plane"
    if group.kind == "together":
        return f"{which} turn into each other: read them as one space of {count} dimensions"
    if group.kind == "rest":
        return f"{which} fill up what is left of the space, and no direction in it stands out"
    other = "another direction" if count == 1 else "other directions"
    return f"{which} {are(count)} noise: other rows of the same kind would give {other}"


def _which(numbers: list[int]) -> str:
    """ "component 1", "components 1, 2 and 5", "components 1–3 and 5"."""
    runs = list[list[int]]()
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    words = [word for run in runs for word in ([f"{run[0]}–{run[-1]}"] if len(run) > 2 else map(str, run))]
    return f"component{'s' if len(numbers) > 1 else ''} {joined(words)}"
