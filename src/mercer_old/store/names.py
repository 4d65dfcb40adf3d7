"""The closed lists: every kernel, kind of column, solver and certificate that a model file may name.

A name in a file is looked up here and nowhere else; nothing is ever imported by a name from a file.
"""

from mercer_old import kernels
from mercer_old.certificates.filling import FillingCertificate
from mercer_old.certificates.gaps import GapCertificate, PartsCertificate
from mercer_old.certificates.intervals import IntervalCertificate
from mercer_old.certificates.optima import LocalOptimum
from mercer_old.certificates.placed import PlacedCertificate
from mercer_old.certificates.residuals import Certificate
from mercer_old.certificates.sketches import SketchCertificate
from mercer_old.kernels.algebra import Product, Scaled, Sum
from mercer_old.solvers.among import AmongLandmarks
from mercer_old.solvers.dense import Dense
from mercer_old.solvers.expectation import Expectation
from mercer_old.solvers.feature_side import Factored, FactoredKrylov
from mercer_old.solvers.krylov import BlockKrylov
from mercer_old.solvers.landmarks import Landmarks
from mercer_old.solvers.shift_invert import DenseBottom, ShiftInvert
from mercer_old.solvers.svd import Svd
from mercer_old.solvers.warm import WarmKrylov

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
