"""Kernels on strings: common n-grams, subsequences, and the edit distance."""

from mercer.kernels.strings.counting import GappedKmer, Mismatch, Spectrum, WeightedDegree
from mercer.kernels.strings.edit import EditDistance
from mercer.kernels.strings.subsequence import Subsequence

__all__ = ["EditDistance", "GappedKmer", "Mismatch", "Spectrum", "Subsequence", "WeightedDegree"]
