"""The edit distance as a similarity, which is not positive semi-definite."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.compat.optional import import_optional
from mercer.data.dataset import Dataset
from mercer.kernels.base import Kernel, PreparedKernel, check_positive
from mercer.kernels.strings.counting import count_lengths, mean_over
from mercer.kernels.strings.ngrams import check_same_type, check_strings
from mercer.kernels.strings.subsequence import check_length
from mercer.storable import storable

_WORD = 64  # symbols that one step of rapidfuzz compares


@storable
@dataclass(frozen=True)
class EditDistance(Kernel):
    """exp(−γ·d(s, t)) with the Levenshtein distance d: the fewest characters to insert, delete or substitute.

    Needs the package rapidfuzz (``pip install "mercer[strings]"``).

    Parameters
    ----------
    gamma : float, default=0.2
        γ, the cost of one character.

    Notes
    -----
    This similarity is **not positive semi-definite**: the matrix of all words of a and b of up to three characters has
    the eigenvalue −0.11 for ``gamma=0.2``. Kernel PCA uses the positive eigenvalues and warns. `Subsequence` and
    `Spectrum` are kernels that tolerate misspellings too.

    Examples
    --------
    >>> from mercer.kernels.strings import EditDistance
    >>> EditDistance(gamma=1.0)(["kitten"], ["kitten", "sitting", ""]).round(4)  # e⁰, e⁻³, e⁻⁶
    array([[1.    , 0.0498, 0.0025]])
    """

    gamma: float = 0.2
    input_kind = "strings"
    max_value = 1.0

    def __post_init__(self) -> None:
        check_positive("gamma", self.gamma)

    def validate(self, samples: Any, name: str = "X") -> None:
        check_strings(samples, name)

    def diag(self, X: Any) -> NDArray:
        return np.ones(len(check_strings(X)))

    def prepare(self, Y: Any, *, shift: float | None = 0.0) -> PreparedKernel:
        strings = check_strings(Y)
        return PreparedEdits(self, strings, strings, shift)

    def entry_cost(self, data: Dataset) -> float:
        mean = mean_over(count_lengths(data), float)
        return 15.0 + mean * (1 + mean / _WORD)


class PreparedEdits(PreparedKernel):
    """Tiles of exp(−γ·d) − shift."""

    def __init__(self, kernel: EditDistance, X: NDArray, Y: NDArray, shift: float | None = 0.0) -> None:
        check_length(kernel, 1 / _WORD, X, Y)
        import_optional("rapidfuzz", "strings", "EditDistance")
        self.gamma = float(kernel.gamma)
        super().__init__(kernel, X, Y, shift)

    def fill(self, rows: slice, columns: slice, out: NDArray) -> None:
        from rapidfuzz.distance import Levenshtein
        from rapidfuzz.process import cdist

        distances = cdist(self.X[rows], self.Y[columns], scorer=Levenshtein.distance, dtype=np.int32)
        values = np.exp(-self.gamma * np.arange(distances.max(initial=0) + 1)) - self.shift
        np.take(values, distances, out=out, mode="clip")

    def against(self, X: Any) -> PreparedKernel:
        strings = check_strings(X)
        if len(self.Y):
            check_same_type(strings, isinstance(self.Y[0], bytes))
        return PreparedEdits(self.kernel, strings, self.Y, self.shift)  # type: ignore[arg-type]
