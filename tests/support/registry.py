"""One line per class: the contract tests loop over these."""

import numpy as np
import pyarrow as pa
from pyarrow import csv, feather, parquet
from scipy import sparse
from scipy.sparse.linalg import aslinearoperator

from mercer.kernels import (
    RBF,
    Blockwise,
    Constant,
    Cosine,
    Laplacian,
    Linear,
    Matern,
    Pairwise,
    Polynomial,
    Sigmoid,
)
from mercer.operators.centering import Centered
from mercer.operators.features import FeatureGram
from mercer.operators.gram import HeldGram, RecomputedGram
from mercer.operators.held import BlackBox, HeldMatrix
from mercer.solvers.dense import Dense
from mercer.solvers.krylov import BlockKrylov
from mercer.solvers.landmarks import Landmarks
from mercer.solvers.shift_invert import DenseBottom, ShiftInvert
from mercer.solvers.warm import WarmKrylov


def minimum(x, y):
    return np.minimum(np.abs(x), np.abs(y)).sum()


def minimum_of_blocks(X, Y):
    return np.minimum(np.abs(X[:, None]), np.abs(Y[None])).sum(axis=2)


MERCER_KERNELS = [
    Linear(),
    Polynomial(degree=2, gamma=0.5, coef0=1.0),
    Polynomial(degree=3, gamma=0.3, coef0=0.5),
    Polynomial(degree=5, gamma=0.1, coef0=1.0),
    Cosine(),
    RBF(gamma=0.4),
    RBF(gamma=1e-6),
    RBF.from_length_scale(0.7),
    Laplacian(gamma=0.3),
    Matern(nu=0.5),
    Matern(nu=1.5, length_scale=2.0),
    Matern(nu=2.5, length_scale=0.5),
    Constant(2.0),
    RBF(gamma=1.0) + 0.5 * Linear(),
    RBF(gamma=0.2) * Polynomial(degree=2, gamma=0.1, coef0=1.0),
    2.0 * (Linear() + 1.0),
    Pairwise(minimum),
    Blockwise(minimum_of_blocks),
]
ALL_KERNELS = [*MERCER_KERNELS, Sigmoid(gamma=0.1, coef0=0.2)]
SPARSE_KERNELS = [
    Linear(),
    Polynomial(degree=3, gamma=0.3, coef0=0.5),
    Cosine(),
    RBF(gamma=0.4),
    Sigmoid(gamma=0.1, coef0=0.2),
]

# Makers of one and the same matrix, X Xᵀ, in every way it can be held.
ALL_OPERATORS = {
    "gram": lambda X: HeldGram(Linear(), X),
    "gram, two threads": lambda X: HeldGram(Linear(), X, threads=2),
    "recomputed": lambda X: RecomputedGram(Linear(), X),
    "recomputed, two threads": lambda X: RecomputedGram(Linear(), X, threads=2),
    "features": lambda X: FeatureGram(X),
    "features, two threads": lambda X: FeatureGram(X, threads=2),
    "sparse features": lambda X: FeatureGram(sparse.csr_array(X)),
    "given": lambda X: HeldMatrix(X @ X.T),
    "given, sparse": lambda X: HeldMatrix(sparse.csr_array(X @ X.T)),
    "black box": lambda X: BlackBox(aslinearoperator(X @ X.T)),
}
ALL_OPERATORS |= {f"centred {name}": lambda X, make=make: Centered(make(X)) for name, make in ALL_OPERATORS.items()}

# Files with the columns a, b, c, … and the rows of one matrix, in every way they can be stored.
ALL_FILES = {
    ".npy": lambda path, X: np.save(path, X),
    ".npy, Fortran order": lambda path, X: np.save(path, np.asfortranarray(X)),
    ".parquet": lambda path, X: parquet.write_table(table(X), path, row_group_size=700),
    ".arrow": lambda path, X: feather.write_feather(table(X), str(path), compression="uncompressed", chunksize=300),
    ".feather": lambda path, X: feather.write_feather(table(X), str(path)),
    ".csv": lambda path, X: csv.write_csv(table(X), path),
    ".csv, semicolons": lambda path, X: csv.write_csv(table(X), path, csv.WriteOptions(delimiter=";")),
    ".csv, no header": lambda path, X: csv.write_csv(table(X), path, csv.WriteOptions(include_header=False)),
    ".tsv": lambda path, X: csv.write_csv(table(X), path, csv.WriteOptions(delimiter="\t")),
}


def table(X):
    return pa.table({"abcdefghij"[j]: X[:, j] for j in range(X.shape[1])})


def write_file(kind, folder, X):
    """A file of this kind, and its path."""
    path = folder / f"rows{kind.partition(',')[0]}"
    ALL_FILES[kind](path, X)
    return path


ALL_SOLVERS = [
    Dense(),
    BlockKrylov(block=4),
    BlockKrylov(block=16, tol=1e-10),
    WarmKrylov(block=4, rank=15, tol=1e-10),
    WarmKrylov(block=4, rank=15, tol=1e-8, precondition=False),
    Landmarks(15, refine=300, tol=1e-10),
]

# Those for the other end of the spectrum, of matrices that send constants to zero.
BOTTOM_SOLVERS = {"lapack": DenseBottom(), "sparse": ShiftInvert("sparse"), "dense": ShiftInvert("dense")}
