"""What a comparison of kernels leaves behind: a record to read, print and draw."""

from dataclasses import dataclass, field
from typing import Any

from mercer_old.errors import MissingPart
from mercer_old.kernels import Kernel
from mercer_old.models.kernel_pca import KernelPCA
from mercer_old.readings.tuning.comparing import Comparison, about_sample
from mercer_old.readings.tuning.search import Trial
from mercer_old.readings.tuning.wording import kernel_in_words, reason

__all__ = ["Tuning", "as_record"]

_DASHES = "--", ":", "-.", (0, (5, 5)), (0, (1, 4))  # of kernels without a bandwidth


@dataclass(frozen=True)
class Tuning:
    """What `tune` found: the kernel, its bandwidth, how many components, and why."""

    kernel: Kernel
    gamma: float | None
    n_components: int
    reason: str
    table: list[dict[str, Any]] = field(repr=False)
    by_components: list[dict[str, Any]] = field(repr=False)
    criterion: str  # "error", "alignment" or "score": the column of the table that decided
    passes: float  # entries of matrices between rows that were evaluated or multiplied, over those of all rows
    rows: str  # how many were looked at
    warnings: tuple[str, ...] = ()
    standardize: bool = False

    def estimator(self, **params: Any) -> KernelPCA:
        """An unfitted `KernelPCA` with this kernel and so many components.

        Parameters
        ----------
        **params : dict
            Other parameters of it.

        Returns
        -------
        model : KernelPCA
            Fit it.
        """
        ours: dict[str, Any] = {"kernel": self.kernel, "standardize": self.standardize}
        return KernelPCA(**{"n_components": self.n_components} | ours | params)

    def plot(self, ax: Any = None) -> Any:
        """Draw the criterion over bandwidths, a line for every kernel; those without one are level.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where; None: a new figure.

        Returns
        -------
        ax : matplotlib Axes
            Its ``figure`` can be saved.
        """
        try:
            from matplotlib.figure import Figure
        except ModuleNotFoundError as missing:
            raise MissingPart("A picture", missing.name or "matplotlib", "app") from None
        ax = Figure(figsize=(6.4, 4.0), layout="constrained").subplots() if ax is None else ax
        _draw(self, ax)
        return ax

    def __str__(self) -> str:
        heads = ("kernel", "gamma", self.criterion, "±", "stability", "effective rank", "")
        body = [heads, *(_as_cells(row, self.criterion) for row in self.table)]
        widths = [max(len(row[column]) for row in body) for column in range(len(heads))]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in body]
        return "\n".join([*lines, f"{self.reason} ({self.rows}, {self.passes:.3g} passes over their kernel matrix.)"])


def as_record(compared: Comparison, said: tuple[str, ...], standardize: bool, n: int, sampled: int) -> Tuning:
    found, sign, word = compared.found, compared.judge.sign, compared.judge.word
    chosen = found.chosen.candidate
    losses = zip(found.numbers, sign * found.losses.mean(axis=1), strict=True)
    return Tuning(
        kernel=chosen.kernel,
        gamma=chosen.gamma,
        n_components=found.number,
        reason=reason(compared),
        table=[_as_row(trial, sign, word, trial is found.chosen) for trial in found.trials],
        by_components=[{"n_components": number, word: float(value)} for number, value in losses],
        criterion=word,
        passes=found.entries / n**2,
        rows=about_sample(n, sampled),
        warnings=said,
        standardize=standardize,
    )


def _as_row(trial: Trial, sign: float, word: str, chosen: bool) -> dict[str, Any]:
    return {
        "kernel": trial.candidate.name,
        "gamma": trial.candidate.gamma,
        "factor": trial.candidate.factor,
        word: None if trial.pruned else sign * trial.loss,
        "standard_error": None if trial.pruned else trial.standard_error,
        "stability": trial.stability,
        "effective_rank": trial.effective_rank,
        "pruned": trial.pruned,
        "chosen": chosen,
        "in_words": kernel_in_words(trial.candidate),
    }


def _as_cells(row: dict[str, Any], word: str) -> tuple[str, ...]:
    def number(value: float | None, form: str) -> str:
        return "" if value is None else format(value, form)

    verdict = row["pruned"] or ("<- chosen" if row["chosen"] else "")
    name = row["kernel"] if row["factor"] is not None else row["in_words"]
    return (
        name,
        number(row["gamma"], ".3g"),
        number(row[word], ".4f"),
        number(row["standard_error"], ".4f"),
        number(row["stability"], ".2f"),
        number(row["effective_rank"], ".1f"),
        verdict,
    )


def _draw(tuning: Tuning, ax: Any) -> None:
    word, judged = tuning.criterion, [row for row in tuning.table if not row["pruned"]]
    curves = [row for row in judged if row["factor"] is not None]
    for name in dict.fromkeys(row["kernel"] for row in curves):
        own = [row for row in curves if row["kernel"] == name]
        columns = ([row[column] for row in own] for column in ("factor", word, "standard_error"))
        ax.errorbar(*columns, label=name, capsize=2)
    for number, row in enumerate(row for row in judged if row["factor"] is None):
        ax.axhline(
            row[word], linestyle=_DASHES[number % len(_DASHES)], color="grey", linewidth=1, label=row["in_words"]
        )
    chosen = next(row for row in tuning.table if row["chosen"])
    if chosen["factor"] is not None:
        ax.plot(chosen["factor"], chosen[word], "o", color="black", label=chosen["in_words"])
    ax.set(xscale="log", xlabel="gamma × median distance", ylabel=word)
    ax.legend(fontsize="small")
