"""PLINK 2's files of principal components: ``.eigenvec`` and ``.eigenval``."""

from pathlib import Path
from typing import Any

from mercer_old.conversions.rows import Ids, components_of_rows, table_of
from mercer_old.errors import BadData
from mercer_old.terminal import plain

__all__ = ["plink_files"]


def plink_files(
    model: Any, path: Path, X: Any = None, ids: Any = None, scores: bool = False
) -> tuple[dict[Path, bytes], str]:
    """``.eigenvec`` has a line for each row, with columns of length one; ``.eigenval`` one for each component."""
    found = components_of_rows(model, X, ids, scores)
    _refuse_missing(found.ids)
    first = ["#IID"] if found.ids.families is None else ["#FID", "IID"]
    numbers = found.scores if found.eigenvectors is None else found.eigenvectors
    vectors, values = (path.with_name(f"{path.name}.{ending}") for ending in ("eigenvec", "eigenval"))
    files = {
        vectors: table_of([*first, *found.names], *found.ids.columns, numbers=numbers),
        values: table_of([], numbers=found.eigenvalues[:, None]),
    }
    what = (
        f"{plain(vectors.name)} has scores, which PLINK does not write: each is √eigenvalue times PLINK's."
        if scores
        else f"{plain(vectors.name)} has columns of length one, as PLINK's: scores are √eigenvalue times them."
    )
    return (
        files,
        f"{what} {plain(values.name)} has the eigenvalues of the centred matrix of the rows. {found.ids.words}".strip(),
    )


def _refuse_missing(ids: Ids) -> None:
    for row, text in enumerate(ids.individuals):
        if text == "0":
            raise BadData(f"The id of row index {row} is '0', which PLINK takes for a missing one: give another.")
