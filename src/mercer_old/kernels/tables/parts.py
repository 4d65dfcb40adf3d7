"""What is compared of a table: rows, texts and their gaps, a part for every kernel."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from mercer_old.arrays import Array, Held
from mercer_old.blocks import cut
from mercer_old.kernels.base import Kernel, Preparing, Tiles
from mercer_old.kernels.features import FeatureMap

__all__ = ["Part", "TableMap", "TableTiles", "quadratic"]

_STRIP = 512  # rows of a kernel matrix that are looked at together


@dataclass(frozen=True, eq=False)
class Part:
    """What a kernel compares of some rows: factor·kernel(rows), and nothing where there are gaps."""

    kernel: Kernel
    factor: float
    rows: Held
    gone: Array | None  # which are gaps
    behind: int  # roundings of a number in `rows`

    @property
    def roundings(self) -> int:
        """Behind an entry, beyond those of the kernel: of rows on both sides, and of the factor."""
        return 2 * self.behind + 4

    def own(self, values: Array) -> Array:
        """factor·values, one for every row, and 0 for gaps."""
        values = self.factor * values
        if self.gone is not None:
            values[self.gone] = 0.0
        return values

    def largest(self) -> float:
        return float(self.own(self.kernel.sizes(self.rows)).max(initial=0.0))

    def features(self, learned: FeatureMap) -> Any:
        """√factor·φ, with zeros for gaps."""
        features = learned.features(self.rows)
        if self.factor == 1.0 and self.gone is None:
            return features
        scale = np.full(features.shape[0], np.sqrt(self.factor))
        if self.gone is not None:
            scale[self.gone] = 0.0
        return sparse.diags_array(scale) @ features if sparse.issparse(features) else features * scale[:, None]


@dataclass(frozen=True, eq=False)
class TableMap(FeatureMap):
    """The features of all parts, side by side."""

    kernel: Any  # TableKernel
    maps: tuple[FeatureMap, ...]
    behind: int
    cheap: bool

    def features(self, X: Any) -> Any:
        parts = self.kernel.parts(X)
        found = [part.features(learned) for part, learned in zip(parts, self.maps, strict=True)]
        if self.kernel.sparse_features:
            return sparse.hstack([sparse.csr_array(some) for some in found], format="csr")
        return found[0] if len(found) == 1 else np.hstack(found)

    def n_features(self) -> int:
        return sum(learned.n_features() for learned in self.maps)

    def roundings(self) -> int:
        return self.behind


class TableTiles(Tiles):
    """Tiles of the parts, added up or multiplied."""

    def __init__(
        self, left: list[Part], right: list[Part], ways: Sequence[Preparing], product: bool, shift: float
    ) -> None:
        self.left, self.right, self.product, self.shift = left, right, product, shift
        same = left is right
        self.tiles = [
            prepare(x.rows) if same else prepare(x.rows, y.rows)
            for prepare, x, y in zip(ways, left, right, strict=True)
        ]

    def fill(self, rows: slice, columns: slice, out: Array) -> None:
        whole = np.full(out.shape, 1.0 if self.product else 0.0)
        part = np.empty(out.shape)
        for tiles, x, y in zip(self.tiles, self.left, self.right, strict=True):
            tiles.fill(rows, columns, part)
            part *= x.factor
            if x.gone is not None:
                part[x.gone[rows]] = 0.0
            if y.gone is not None:
                part[:, y.gone[columns]] = 0.0
            if self.product:
                part += 1.0
                whole *= part
            else:
                whole += part
        np.subtract(whole, self.shift, out=out, casting="same_kind")


def quadratic(part: Part, loads: Array) -> Array:
    """zᵀKz of every column z, K the kernel matrix of a part."""
    learned = part.kernel.feature_map(part.rows)
    if learned is not None:
        scale = np.ones(len(loads)) if part.gone is None else 1.0 - part.gone
        features = learned.features(part.rows)
        return np.asarray(np.sum(np.asarray(features.T @ (scale[:, None] * loads)) ** 2, axis=0))
    there = loads if part.gone is None else np.where(part.gone[:, None], 0.0, loads)
    total = np.zeros(loads.shape[1])
    for some in cut(len(loads), _STRIP):
        total += np.sum(there[some] * (part.kernel.block(part.rows[some], part.rows) @ there), axis=0)
    return total
