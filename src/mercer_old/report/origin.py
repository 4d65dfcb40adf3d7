"""Where a model comes from: its data, its file, and the versions that fitted it."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np

from mercer_old.displays.asking import under
from mercer_old.errors import in_short, listed, shortened
from mercer_old.sources.items import Items
from mercer_old.store.files import versions
from mercer_old.store.headers import inspect
from mercer_old.store.layout import digests_of
from mercer_old.store.trees import sizes_of

__all__ = ["Origin", "digest_of", "origin_of", "written_parameters"]

_PIECE = 1 << 20  # bytes of a file at a time
_LONGEST = 300  # letters of a parameter
_LONGEST_NAME = 150
_MOST_NAMES = 40  # of columns


@dataclass(frozen=True)
class Origin:
    """Of a fitted model."""

    name: str  # of the data, for people
    rows: int | None  # of the fit
    columns: int
    names: str  # of the columns
    drawn: int | None  # rows that are shown, where they are given
    others: bool  # whether those are not the rows of the fit, or of other weights
    data: str | None  # path of the data, as it was named
    sha256: str | None
    hashed: str  # what that is of: the file, or the numbers row by row
    file: str | None  # path of the model
    versions: Mapping[str, str]  # that wrote it
    opening: str  # the Python that loads it and opens its rows, if there is a file


def origin_of(
    model: Any, X: Any = None, *, name: str | None = None, data: str | None = None, file: Path | None = None,
    opening: str = "", others: bool = False,
) -> Origin:  # fmt: skip
    """What is known of it; `file` is where the model was loaded from."""
    header = None if file is None else inspect(file)
    inner, path = under(model), X.path if isinstance(X, Items) else None
    sizes = sizes_of(inner)
    columns = [str(each) for each in getattr(model, "feature_names_in_", ())]
    return Origin(
        name=name or ("X" if path is None else path.name),
        rows=sizes["rows"],
        columns=sizes["columns"],
        names=listed((shortened(each, _LONGEST_NAME) for each in columns), _MOST_NAMES) if columns else "",
        drawn=None if X is None else _count(X),
        others=others,
        data=data,
        **digest_of(X, header),
        file=None if file is None else str(file),
        versions=versions() if header is None else dict(header["versions"]),
        opening=opening,
    )


def written_parameters(model: Any) -> dict[str, str]:
    """Those that are not as usual, as Python writes them; that a bar was shown is no property of a model."""
    usual = {name: each.default for name, each in signature(type(model)).parameters.items()}
    given = {name: value for name, value in model.get_params(deep=False).items() if name != "progress"}
    return {
        name: in_short(value, _LONGEST)
        for name, value in given.items()
        if type(value) is not type(usual[name]) or not np.all(value == usual[name])
    }


def _count(X: Any) -> int:
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def digest_of(X: Any, header: Any = None) -> dict[str, Any]:
    """Of the rows of the fit that a model file knows, of the file that is read, or of an array."""
    known = None if header is None else header["data"].get("sha256")
    if known is not None:
        return {"sha256": str(known), "hashed": "rows of the fit"}
    if isinstance(X, Items) and X.path is not None and X.path.is_file():
        return {"sha256": _digest_of_file(X.path), "hashed": "file"}
    if isinstance(X, np.ndarray) and X.dtype.kind in "biuf":
        return {"sha256": digests_of({"rows": np.ascontiguousarray(X)})["rows"], "hashed": "rows given"}
    return {"sha256": None, "hashed": ""}


def _digest_of_file(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(_PIECE):
            digest.update(piece)
    return digest.hexdigest()
