"""Our PCA or kernel PCA before another method: where it starts, and what it is spared of.

A start that knows the data makes t-SNE and UMAP arrange groups by where they lie, and makes runs repeat; components
beyond the first fifty or so are mostly noise, which disturbs who is near whom.
"""

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from mercer_old.arrays import Array
from mercer_old.errors import in_short
from mercer_old.models.kernel_pca import KernelPCA
from mercer_old.models.pca import PCA

__all__ = ["Cleaned", "check_denoise", "cleaned", "start"]

STARTS = ("pca", "kernel-pca")
_USUAL = 50  # components that are kept, if only the model is named
_SMALL = 1e-4  # the deviation of a start of t-SNE: larger ones hold on to what they are


@dataclass(frozen=True)
class Cleaned:
    """Rows without what was taken for noise, and the model that does the same to new ones."""

    rows: Array
    model: Any = None

    def __call__(self, X: Any) -> Array:
        return np.asarray(X if self.model is None else self.model.transform(X))


def check_denoise(denoise: Any) -> None:
    number = isinstance(denoise, Integral) and not isinstance(denoise, bool) and int(denoise) >= 1
    if not (denoise is None or number or denoise in STARTS or hasattr(denoise, "fit_transform")):
        raise ValueError(
            "denoise must be a number of components of PCA, 'pca', 'kernel-pca', or a model such as "
            f"PCA(50, standardize=True); got {in_short(denoise)}."
        )


def cleaned(X: Array, denoise: Any) -> Cleaned:
    """The scores of a model: as many components of PCA, fifty of a model by name, or those of a model that is given."""
    if denoise is None:
        return Cleaned(X)
    model = _model(denoise, X.shape)
    return Cleaned(np.asarray(model.fit_transform(X), dtype=np.float64), model)


def _model(denoise: Any, shape: tuple[int, int]) -> Any:
    if hasattr(denoise, "fit_transform"):
        from sklearn.base import clone

        return clone(denoise)
    if denoise == "kernel-pca":
        return KernelPCA(min(_USUAL, shape[0] - 1), kernel="rbf", gamma="median")
    wanted = _USUAL if denoise == "pca" else int(denoise)
    return PCA(min(wanted, *shape))


def start(X: Array, init: Any, n_components: int, *, small: bool = False) -> Any:
    """Scores of PCA or kernel PCA by name, or what was given, as it is; `small` for methods that have to grow them."""
    if init == "pca":
        found = PCA(min(n_components, *X.shape)).fit_transform(X)
    elif init == "kernel-pca":
        found = KernelPCA(n_components, kernel="rbf", gamma="median").fit_transform(X)
    else:
        return init
    found = np.asarray(found, dtype=np.float64)
    if found.shape[1] < n_components:
        raise ValueError(
            f"init={init!r} gives {found.shape[1]} coordinates of {X.shape[1]} columns, and {n_components} are needed."
        )
    spread = float(np.std(found[:, 0]))
    return np.ascontiguousarray(found * (_SMALL / spread)) if small and spread > 0 else found
