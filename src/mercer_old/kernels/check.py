"""Is it a kernel? Symmetry, diagonal and positive semi-definiteness on a sample, with a verdict in words."""

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from mercer_old.arrays import Array, dense
from mercer_old.errors import BadData, counted, in_short
from mercer_old.inputs import table, told_where
from mercer_old.kernels.base import Held, Kernel, kind_of_items, n_rows
from mercer_old.kernels.given import Blockwise, Pairwise, Precomputed
from mercer_old.kernels.resolve import resolve_kernel
from mercer_old.sources.kinds import KINDS
from mercer_old.sources.things import things_in

__all__ = ["KernelVerdict", "check_kernel", "refuse_non_finite"]


@dataclass(frozen=True)
class KernelVerdict:
    """What `check_kernel` found on a sample. True if nothing speaks against a Mercer kernel."""

    kernel: str
    n_sampled: int
    finite: bool
    asymmetry: float  # largest |k(x, y) − k(y, x)|, relative to the largest |k|
    diagonal_error: float  # largest |diag − diagonal of the block|, relative to the largest |k|
    smallest_eigenvalue: float
    largest_eigenvalue: float

    @property
    def positive_semidefinite(self) -> bool:
        return self.finite and self.smallest_eigenvalue >= -1e-10 * max(abs(self.largest_eigenvalue), 1e-300)

    def __bool__(self) -> bool:
        return self.positive_semidefinite and max(self.asymmetry, self.diagonal_error) < 1e-8

    def __str__(self) -> str:
        rows = f"on {counted(self.n_sampled, 'row')}"
        if not self.finite:
            return f"{self.kernel} is not a kernel: it returned values that are not finite {rows}."
        if self.asymmetry >= 1e-8:
            size = f"{self.asymmetry:.1e} of its size {rows}"
            return f"{self.kernel} is not a kernel: k(x, y) and k(y, x) differ by up to {size}."
        if self.diagonal_error >= 1e-8:
            size = f"{self.diagonal_error:.1e} of its size {rows}"
            return f"{self.kernel} contradicts itself: its diagonal differs from its block by up to {size}."
        values = f"from {self.smallest_eigenvalue:.2e} to {self.largest_eigenvalue:.2e}"
        spectrum = f"eigenvalues of its Gram matrix {rows} {values}"
        if not self.positive_semidefinite:
            return f"{self.kernel} is not a Mercer kernel: {spectrum}. Kernel PCA can only use the positive ones."
        return f"{self.kernel} passes: symmetric and positive semi-definite, {spectrum}. A sample cannot prove more."


def check_kernel(kernel: Any, X: Held, *, n_sampled: int = 200, random_state: int = 0) -> KernelVerdict:
    """Check a kernel on a sample of the rows of X: any kernel `KernelPCA` takes, a name or a function included.

    With "precomputed", X is the kernel matrix, and some of its rows and columns are looked at.
    """
    if isinstance(n_sampled, bool) or not isinstance(n_sampled, Integral) or n_sampled < 2:
        raise ValueError(f"n_sampled must be a whole number from 2 on; got {in_short(n_sampled)}.")
    if isinstance(random_state, bool) or not isinstance(random_state, Integral) or random_state < 0:
        raise ValueError(f"random_state must be a whole number from 0 on; got {in_short(random_state)}.")
    rng, X = np.random.default_rng(int(random_state)), _checked(kernel, X)
    resolved = resolve_kernel(kernel, X, rng)
    size = min(int(n_sampled), n_rows(X))
    if size < 2:
        raise ValueError(f"check_kernel needs at least two rows to compare; X has {n_rows(X)}.")
    chosen = np.sort(rng.choice(n_rows(X), size=size, replace=False))
    resolved, rows = _part_of(X, chosen) if isinstance(resolved, Precomputed) else (resolved, X[chosen])
    half = size // 2
    K = resolved.block(rows, rows)
    finite = bool(np.isfinite(K).all())
    top = float(np.abs(K).max()) or 1.0 if finite else 1.0
    values = np.linalg.eigvalsh((K + K.T) / 2) if finite else np.array([np.nan])
    other_way = resolved.block(rows[half:], rows[:half])  # asked separately: a block may hide what a pair shows
    return KernelVerdict(
        kernel=repr(kernel) if isinstance(kernel, str) else repr(resolved),
        n_sampled=size,
        finite=finite,
        asymmetry=float(max(np.abs(K - K.T).max(), np.abs(K[:half, half:] - other_way.T).max()) / top),
        diagonal_error=float(np.abs(resolved.diag(rows) - np.diag(K)).max() / top),
        smallest_eigenvalue=float(values[0]),
        largest_eigenvalue=float(values[-1]),
    )


def _checked(kernel: Any, X: Any) -> Any:
    """Rows of numbers; texts and the like, if the kernel takes them; items of any kind for a function of the user's."""
    if (kind := kind_of_items(kernel)) in KINDS:
        return KINDS[kind](X).load()
    if isinstance(kernel, (Pairwise, Blockwise)) or (callable(kernel) and not isinstance(kernel, Kernel)):
        things = things_in(X)
        return things.load() if things is not None else np.asarray(X) if isinstance(X, list) else X
    from sklearn.utils import check_array

    X = table(X)
    with told_where(X):
        return check_array(X, accept_sparse="csr")


def _part_of(K: Any, items: Array) -> tuple[Kernel, Held]:
    """Some items of a kernel matrix, and the kernel that looks them up by their numbers."""
    if K.shape[0] != K.shape[1]:
        raise ValueError(f"A precomputed kernel matrix must be square; its shape is {K.shape}.")
    part = dense(K[items][:, items])
    return Blockwise(lambda one, other: part[np.ix_(one[:, 0], other[:, 0])]), np.arange(len(items))[:, None]


def refuse_non_finite(values: Array, kernel: Any) -> None:
    """One sentence for a kernel that left the numbers behind: values (n, …) of so many rows."""
    bad = np.flatnonzero(~np.isfinite(values).reshape(len(values), -1).all(axis=1))
    if not len(bad):
        return
    raise BadData(
        f"The kernel {'' if kernel is None else in_short(kernel, 120) + ' '}gave values that are not finite, first for "
        f"row index {bad[0]} ({len(bad)} of {len(values)} rows): an overflow, or a kernel function that returns nan. "
        "Scale the data down (StandardScaler) or check the function with mercer.kernels.check_kernel."
    )
