"""What a comparison of kernels says to people: the reason in a sentence, and what speaks against it."""

from mercer_old.errors import counted, shortened
from mercer_old.readings.tuning.candidates import Candidate
from mercer_old.readings.tuning.comparing import Comparison
from mercer_old.readings.tuning.search import Trial

__all__ = ["doubts", "kernel_in_words", "reason"]

_LONG = 80  # letters of a kernel that are shown


def kernel_in_words(candidate: Candidate) -> str:
    """The kernel as it is written in Python, with three digits."""
    numbers = {
        name: f"{value:.3g}" if isinstance(value, float) else repr(value)
        for name, value in candidate.kernel.get_params(deep=False).items()
    }
    if candidate.name != repr(candidate.kernel) and all("__" not in name for name in numbers):
        said = f"{type(candidate.kernel).__name__}({', '.join(f'{name}={value}' for name, value in numbers.items())})"
        return shortened(said, _LONG)
    return shortened(repr(candidate.kernel), _LONG)


def reason(compared: Comparison) -> str:
    """Why this kernel: its value beside those of the others."""
    found, judge = compared.found, compared.judge
    chosen, what = found.chosen, _WHAT[judge.word]
    said = f"{kernel_in_words(chosen.candidate)}: {what} {_value(compared, chosen)}"
    others = [trial for trial in _best_of_each(found.trials) if trial.candidate.name != chosen.candidate.name]
    if others:
        said += f", against {', '.join(f'{_value(compared, trial)} of {trial.candidate.name}' for trial in others)}"
    if chosen.stability is not None:
        said += f"; the subspaces of different folds agree to {chosen.stability:.0%}"
    if chosen is not found.best:
        rivals = counted(len(found.as_good), "candidate")
        said += (
            f". {rivals} are within a standard error of the best, {kernel_in_words(found.best.candidate)}; "
            "of those that are as stable it is the first in the order of kernels"
        )
    return f"{said}."


def doubts(compared: Comparison) -> list[str]:
    """What a user should know before trusting it."""
    found, said = compared.found, list[str]()
    if found.flat:
        what = "bandwidths" if len({trial.candidate.name for trial in found.trials}) == 1 else "kernels"
        said.append(
            f"All {what} that were compared are within two standard errors of the best in "
            f"{_WHAT[compared.judge.word]}: the data do not say which is better."
        )
    if compared.judge.word == "error" and found.best.loss >= 1:
        said.append(
            "No kernel leads rows that were left out any nearer than their mean is: so many components find nothing "
            "that the rows have in common."
        )
    elif found.chosen.candidate.at_edge and not found.flat:
        side = "widest" if (found.chosen.candidate.factor or 1.0) < 1 else "narrowest"
        said.append(
            f"The best bandwidth of {found.chosen.candidate.name}, gamma={found.chosen.candidate.gamma:.3g}, is the "
            f"{side} that was tried: one beyond may be better, or a kernel without one."
        )
    return said


_WHAT = {
    "error": "cross-validated error of the way back to rows",
    "alignment": "alignment with the labels",
    "score": "cross-validated score",
}


def _value(compared: Comparison, trial: Trial) -> str:
    value, error = compared.judge.sign * trial.loss, trial.standard_error
    by_digits = compared.judge.finest > 0 or 1e-2 < abs(value) < 10  # a scorer may have any unit
    return f"{value:.3f} ± {error:.3f}" if by_digits and abs(value) < 10 else f"{value:.4g} ± {error:.2g}"


def _best_of_each(trials: list[Trial]) -> list[Trial]:
    """The best trial of every kernel that was judged, in the order of kernels."""
    best: dict[str, Trial] = {}
    for trial in trials:
        if not trial.pruned and trial.loss < best.get(trial.candidate.name, Trial(trial.candidate, 0.0)).loss:
            best[trial.candidate.name] = trial
    return list(best.values())
