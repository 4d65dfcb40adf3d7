"""What two texts have in common: letters in a row, with some of them open or exchanged, at a place, or with gaps.

Most kernels count features: `grams` numbers them exactly, `columns` makes sparse matrices of them, `counted` is what
all such kernels share. `gaps` and `followed` are the other ways to count subsequences.
"""

from mercer_old.kernels.texts.edit import Edit
from mercer_old.kernels.texts.gapped import GappedKmer
from mercer_old.kernels.texts.mismatch import Mismatch
from mercer_old.kernels.texts.spectrum import Spectrum
from mercer_old.kernels.texts.subsequence import Subsequence
from mercer_old.kernels.texts.weighted_degree import WeightedDegree

__all__ = ["Edit", "GappedKmer", "Mismatch", "Spectrum", "Subsequence", "WeightedDegree"]
