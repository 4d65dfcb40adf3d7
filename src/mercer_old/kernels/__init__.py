"""What similarity means: kernels as values, with one formula each.

A kernel is asked for blocks of similarities, and says what it knows of itself: its diagonal, exact features, what an
entry costs. It holds parameters and no data, and computes nothing that nobody asked for. Sums and products of kernels
are kernels.

>>> from mercer.kernels import RBF, Linear
>>> 0.5 * Linear() + RBF(gamma=2.0)
0.5 * Linear() + RBF(gamma=2.0)
"""

from mercer_old.kernel_names import NAMES
from mercer_old.kernels.algebra import Constant
from mercer_old.kernels.base import Kernel
from mercer_old.kernels.check import KernelVerdict, check_kernel
from mercer_old.kernels.distance import RBF, Laplacian, Matern, RationalQuadratic
from mercer_old.kernels.dot import Cosine, Linear, Polynomial, Sigmoid
from mercer_old.kernels.given import Blockwise, Pairwise, Precomputed
from mercer_old.kernels.histograms import AdditiveChiSquared, ChiSquared, HistogramIntersection, MinMax
from mercer_old.kernels.resolve import resolve_kernel
from mercer_old.kernels.series import GlobalAlignment
from mercer_old.kernels.tables import Category, Date, Numeric, Ordinal, Sets, TableKernel, Text
from mercer_old.kernels.tanimoto import Tanimoto
from mercer_old.kernels.texts import Edit, GappedKmer, Mismatch, Spectrum, Subsequence, WeightedDegree

__all__ = [
    "NAMES",
    "RBF",
    "AdditiveChiSquared",
    "Blockwise",
    "Category",
    "ChiSquared",
    "Constant",
    "Cosine",
    "Date",
    "Edit",
    "GappedKmer",
    "GlobalAlignment",
    "HistogramIntersection",
    "Kernel",
    "KernelVerdict",
    "Laplacian",
    "Linear",
    "Matern",
    "MinMax",
    "Mismatch",
    "Numeric",
    "Ordinal",
    "Pairwise",
    "Polynomial",
    "Precomputed",
    "RationalQuadratic",
    "Sets",
    "Sigmoid",
    "Spectrum",
    "Subsequence",
    "TableKernel",
    "Tanimoto",
    "Text",
    "WeightedDegree",
    "check_kernel",
    "resolve_kernel",
]
