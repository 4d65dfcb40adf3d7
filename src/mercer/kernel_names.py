"""The kernels that have a name: `kernel="rbf"`, `--kernel rbf`. Models, commands and messages read this table.

It is plain data, so that a command line can be shown before numpy is loaded; `mercer.kernels.resolve` makes kernels.
"""

from dataclasses import dataclass

from mercer.errors import joined

__all__ = ["BY_NAME", "NAMES", "in_words", "usual_gamma"]


@dataclass(frozen=True)
class _Named:
    """A name, the class of `mercer.kernels` that it stands for, and which parameters of KernelPCA it takes."""

    name: str
    kernel: str
    takes: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()  # that resolve_kernel and check_kernel know as well
    usual_gamma: str = "1/columns"  # if it takes a gamma and none is said


NAMED = (
    _Named("linear", "Linear"),
    _Named("poly", "Polynomial", ("gamma", "degree", "coef0"), aliases=("polynomial",)),
    _Named("rbf", "RBF", ("gamma",)),
    _Named("sigmoid", "Sigmoid", ("gamma", "coef0")),
    _Named("cosine", "Cosine"),
    _Named("laplacian", "Laplacian", ("gamma",)),
    _Named("chi2", "ChiSquared", ("gamma",), usual_gamma="1"),
    _Named("precomputed", "Precomputed"),
)
NAMES = tuple(entry.name for entry in NAMED)
OF_ROWS = tuple(name for name in NAMES if name != "precomputed")  # what a file holds
BY_NAME = {name: entry for entry in NAMED for name in (entry.name, *entry.aliases)}


def in_words(names: tuple[str, ...] = OF_ROWS, usual: str = "") -> str:
    """ "linear, rbf (if left out) or cosine"."""
    words = [f"{name} (if left out)" if name == usual else name for name in names]
    return joined(words, "or")


def usual_gamma() -> str:
    """ "1/columns if left out", and which kernels have another one."""
    others = [f"{entry.usual_gamma} of {entry.name}" for entry in NAMED if entry.usual_gamma != "1/columns"]
    return f"1/columns{''.join(f', {other},' for other in others)} if left out"
