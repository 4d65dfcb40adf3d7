"""The closed lists: every kernel, kind of column, solver and certificate that a model file may name.

A name in a file is looked up here and nowhere else; nothing is ever imported by a name from a file.
"""

from mercer import kernels
from mercer.certificates.filling import FillingCertificate
from mercer.certificates.gaps import GapCertificate, PartsCertificate
from mercer.certificates.intervals import IntervalCertificate
from mercer.certificates.optima import LocalOptimum
from mercer.certificates.placed import PlacedCertificate
from mercer.certificates.residuals import Certificate
from mercer.certificates.sketches import SketchCertificate
from mercer.kernels.algebra import Product, Scaled, Sum
from mercer.solvers.among import AmongLandmarks
from mercer.solvers.dense import Dense
from mercer.solvers.expectation import Expectation
from mercer.solvers.feature_side import Factored, FactoredKrylov
from mercer.solvers.krylov import BlockKrylov
from mercer.solvers.landmarks import Landmarks
from mercer.solvers.shift_invert import DenseBottom, ShiftInvert
from mercer.solvers.svd import Svd
from mercer.solvers.warm import WarmKrylov

__all__ = ["CERTIFICATES", "COLUMNS", "KERNELS", "SOLVERS"]

KERNELS: dict[str, type] = {
    kernel.__name__: kernel
    for kernel in (
        kernels.AdditiveChiSquared,
        kernels.ChiSquared,
        kernels.Constant,
        kernels.Cosine,
        kernels.Edit,
        kernels.GappedKmer,
        kernels.GlobalAlignment,
        kernels.HistogramIntersection,
        kernels.Laplacian,
        kernels.Linear,
        kernels.Matern,
        kernels.MinMax,
        kernels.Mismatch,
        kernels.Polynomial,
        kernels.Precomputed,
        kernels.RationalQuadratic,
        kernels.RBF,
        kernels.Sigmoid,
        kernels.Spectrum,
        kernels.Subsequence,
        kernels.TableKernel,
        kernels.Tanimoto,
        kernels.WeightedDegree,
        Product,
        Scaled,
        Sum,
    )
}
COLUMNS: dict[str, type] = {
    column.__name__: column
    for column in (
        kernels.Category,
        kernels.Date,
        kernels.Numeric,
        kernels.Ordinal,
        kernels.Sets,
        kernels.Text,
    )
}
SOLVERS: dict[str, type] = {
    solver.__name__: solver
    for solver in (
        AmongLandmarks,
        BlockKrylov,
        Dense,
        DenseBottom,
        Expectation,
        Factored,
        FactoredKrylov,
        Landmarks,
        ShiftInvert,
        Svd,
        WarmKrylov,
    )
}
CERTIFICATES: dict[str, type] = {
    proof.__name__: proof
    for proof in (
        Certificate,
        FillingCertificate,
        GapCertificate,
        IntervalCertificate,
        LocalOptimum,
        PartsCertificate,
        PlacedCertificate,
        SketchCertificate,
    )
}
