"""flashpca's files: scores, eigenvectors, eigenvalues, shares of the variance, loadings, means and deviations.

They are those of ``flashpca --div none``: eigenvalues are of the centred matrix of the rows itself, and not divided by
the number of columns, so that principal components are the scores of the model.
"""

from pathlib import Path
from typing import Any

import numpy as np

from mercer_old.arrays import Array, to_numpy
from mercer_old.conversions.rows import ComponentsOfRows, components_of_rows, table_of
from mercer_old.errors import BadData, in_short
from mercer_old.models.linear import LinearModel

__all__ = ["flashpca_files"]

_UNKNOWN = "."  # an allele that nobody has named


def flashpca_files(
    model: Any, path: Path, X: Any = None, ids: Any = None, scores: bool = False
) -> tuple[dict[Path, bytes], str]:
    """All that the model knows; without eigenvectors if `scores` of any rows are asked for."""
    found = components_of_rows(model, X, ids, scores)
    tables = _of_rows(found) | _of_spectrum(found, model)
    words = "Principal components are the model's scores, and eigenvalues those of flashpca --div none."
    if isinstance(model, LinearModel):
        tables |= _of_columns(model)
        words += f" Reference alleles are not known to the model, and written as '{_UNKNOWN}'."
    else:
        words += " A kernel model has no loadings, means and deviations of columns."
    return {path.with_name(f"{path.name}.{name}.txt"): content for name, content in tables.items()}, (
        f"{words} {found.ids.words}".strip()
    )


def _of_rows(found: ComponentsOfRows) -> dict[str, bytes]:
    """A family is the individual itself, where there is none: flashpca's files have both columns."""
    ids, k = found.ids, len(found.eigenvalues)
    both = [ids.individuals if ids.families is None else ids.families, ids.individuals]
    tables = {"pcs": table_of(["FID", "IID", *found.names], *both, numbers=found.scores)}
    if found.eigenvectors is not None:
        heading = ["FID", "IID", *(f"U{i + 1}" for i in range(k))]
        tables["eigenvectors"] = table_of(heading, *both, numbers=found.eigenvectors)
    return tables


def _of_spectrum(found: ComponentsOfRows, model: Any) -> dict[str, bytes]:
    shares = to_numpy(model.explained_variance_ratio_)
    return {
        "eigenvalues": table_of([], numbers=found.eigenvalues[:, None]),
        "pve": table_of([], numbers=np.asarray(shares, dtype=np.float64)[:, None]),
    }


def _of_columns(model: Any) -> dict[str, bytes]:
    axes, names = model._number("components_"), _names_of_columns(model)
    unknown = [_UNKNOWN] * len(names)
    heading = ["SNP", "RefAllele"]
    spread: Array = np.column_stack([model._mean(), model._scales()])
    return {
        "loadings": table_of([*heading, *(f"V{i + 1}" for i in range(len(axes)))], names, unknown, numbers=axes.T),
        "meansd": table_of([*heading, "Mean", "SD"], names, unknown, numbers=spread),
    }


def _names_of_columns(model: Any) -> list[str]:
    """Those of the fit, or numbers; white space would end a column."""
    names = [str(name) for name in getattr(model, "feature_names_in_", range(1, model.n_features_in_ + 1))]
    for name in names:
        if name.split() != [name] or not name.isprintable():
            raise BadData(
                f"The column {in_short(name)} has white space in its name, where flashpca ends a column: rename it."
            )
    return names
