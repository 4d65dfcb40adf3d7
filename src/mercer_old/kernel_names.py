"""The kernels that have a name: `kernel="rbf"`, `--kernel rbf`. Models, commands and messages read this table.

It is plain data, so that a command line can be shown before numpy is loaded; `mercer.kernels.resolve` makes kernels.
"""

from dataclasses import dataclass

from mercer_old.errors import joined

__all__ = ["BY_NAME", "NAMES", "OF_ROWS", "OF_TABLES", "OF_TEXTS", "in_words", "takers", "usual_gamma"]


@dataclass(frozen=True)
class _Named:
    """A name, the class of `mercer.kernels` that it stands for, and which parameters it takes.

    Those of kernels of rows are parameters of KernelPCA; those of others are given as `kernel_params`, or as options.
    """

    name: str
    kernel: str
    takes: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()  # that resolve_kernel and check_kernel know as well
    usual_gamma: str = "1/columns"  # if it takes a gamma and none is said
    compares: str = "rows"  # in the word of `Kernel.takes`


NAMED = (
    _Named("linear", "Linear"),
    _Named("poly", "Polynomial", ("gamma", "degree", "coef0"), aliases=("polynomial",)),
    _Named("rbf", "RBF", ("gamma",)),
    _Named("sigmoid", "Sigmoid", ("gamma", "coef0")),
    _Named("cosine", "Cosine"),
    _Named("laplacian", "Laplacian", ("gamma",)),
    _Named("chi2", "ChiSquared", ("gamma",), usual_gamma="1"),
    _Named("precomputed", "Precomputed"),
    _Named("table", "TableKernel", compares="tables"),
    _Named("spectrum", "Spectrum", ("n", "shortest", "by", "counts", "normalize"), compares="texts"),
    _Named("gapped_kmer", "GappedKmer", ("length", "wildcards", "normalize"), compares="texts"),
    _Named("mismatch", "Mismatch", ("n", "m", "alphabet", "normalize"), compares="texts"),
    _Named("weighted_degree", "WeightedDegree", ("n", "normalize"), compares="texts"),
    _Named("subsequence", "Subsequence", ("length", "decay", "up_to", "normalize"), compares="texts"),
)
NAMES = tuple(entry.name for entry in NAMED)
OF_ROWS = tuple(entry.name for entry in NAMED if entry.compares == "rows" and entry.name != "precomputed")
OF_TABLES = tuple(entry.name for entry in NAMED if entry.compares == "tables")
OF_TEXTS = tuple(entry.name for entry in NAMED if entry.compares == "texts")
BY_NAME = {name: entry for entry in NAMED for name in (entry.name, *entry.aliases)}


def in_words(names: tuple[str, ...] = OF_ROWS, usual: str = "") -> str:
    """ "linear, rbf (if left out) or cosine"."""
    words = [f"{name} (if left out)" if name == usual else name for name in names]
    return joined(words, "or")


def takers(parameter: str) -> str:
    """ "spectrum and mismatch": the kernels of texts that take a parameter of this name."""
    return joined([entry.name for entry in NAMED if entry.compares == "texts" and parameter in entry.takes])


def usual_gamma() -> str:
    """ "1/columns if left out", and which kernels have another one."""
    others = [f"{entry.usual_gamma} of {entry.name}" for entry in NAMED if entry.usual_gamma != "1/columns"]
    return f"1/columns{''.join(f', {other},' for other in others)} if left out"
