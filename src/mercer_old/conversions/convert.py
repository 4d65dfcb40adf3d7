"""`mercer.convert`: a fitted model as files of another program."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sklearn.utils.validation import check_is_fitted

from mercer_old.conversions.flashpca import flashpca_files
from mercer_old.conversions.onnx.export import onnx_files
from mercer_old.conversions.plink import plink_files
from mercer_old.conversions.tables import csv_files, npz_files
from mercer_old.conversions.together import write_together
from mercer_old.errors import WrongUse, in_short, joined
from mercer_old.models.kernel_model import KernelModel
from mercer_old.models.linear import LinearModel
from mercer_old.models.local_model import LocalModel
from mercer_old.terminal import plain

__all__ = ["FORMATS", "Conversion", "convert"]


@dataclass(frozen=True)
class Conversion:
    """The files that were written, and what is in them in words.

    Attributes
    ----------
    paths : tuple of pathlib.Path
        Where they are.
    words : str
        What a reader has to know: which columns have length one, what rows are called.
    """

    paths: tuple[Path, ...]
    words: str

    def __str__(self) -> str:
        return f"Wrote {joined([plain(path) for path in self.paths])}. {self.words}"


@dataclass(frozen=True)
class _Format:
    files: Callable[..., tuple[dict[Path, bytes], str]]
    endings: tuple[str, ...]  # by which it is known without its name
    options: frozenset[str] = frozenset()


_IN_WORDS = {"X": "rows (X, or DATA on the command line)", "ids": "ids", "scores": "scores", "dtype": "dtype"}
_OF_ROWS = frozenset({"X", "ids", "scores"})
FORMATS = {
    "onnx": _Format(onnx_files, (".onnx",), frozenset({"dtype"})),
    "plink": _Format(plink_files, (".eigenvec", ".eigenval"), _OF_ROWS),
    "flashpca": _Format(flashpca_files, (), _OF_ROWS),
    "csv": _Format(csv_files, (".csv",)),
    "npz": _Format(npz_files, (".npz",)),
}


def convert(
    model: Any,
    path: str | Path,
    to: str | None = None,
    *,
    X: Any = None,
    ids: Any = None,
    scores: bool = False,
    dtype: str | None = None,
) -> Conversion:
    """Write a fitted model as files that other programs read.

    "onnx" is the way from rows to scores, as one file that runs without Python: the same scores as `transform`, of PCA,
    kernel PCA of rows of numbers and locally linear embedding. "plink" and "flashpca" are the principal components of
    rows, XᶜV = U√λ: scores, eigenvectors U of length one and eigenvalues λ of the centred (kernel) matrix of the rows.
    "csv" and "npz" are the fitted names. All files of a format appear, or none.

    Parameters
    ----------
    model : PCA, IncrementalPCA, ProbabilisticPCA, KernelPCA or LocallyLinearEmbedding
        The fitted model.
    path : path
        The file; of a format with several files the beginning of their names.
    to : {"onnx", "plink", "flashpca", "csv", "npz"} or None, default=None
        The format. None: by the ending of the file.
    X : {array-like, sparse matrix, pathlib.Path, Rows}, default=None
        The rows of "plink" and "flashpca": those that the model was fitted on. An exact KernelPCA knows them itself.
    ids : sequence of str, or of pairs of str, default=None
        What the rows are called there, or pairs of a family and a name. None: by their numbers, from 1 on.
    scores : bool, default=False
        Write scores U√λ instead of eigenvectors U, of any rows X.
    dtype : {"float32", "float64"}, default=None
        Of the numbers that go into an ONNX model and come out; None is "float32".

    Returns
    -------
    conversion : Conversion
        The files, and what is in them in words; print it.

    Examples
    --------
    >>> import numpy as np, tempfile
    >>> from pathlib import Path
    >>> import mercer
    >>> X = np.random.default_rng(0).normal(size=(20, 3))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     done = mercer.convert(mercer.PCA(2).fit(X), Path(folder) / "study", "plink", X=X)
    ...     print((Path(folder) / "study.eigenvec").read_text().split()[:3])
    ['#IID', 'PC1', 'PC2']
    """
    if not isinstance(model, LinearModel | KernelModel | LocalModel):
        raise WrongUse(
            "PCA, IncrementalPCA, ProbabilisticPCA, KernelPCA and LocallyLinearEmbedding can be converted; "
            f"{in_short(model)} cannot."
        )
    check_is_fitted(model)
    if not len(model.get_feature_names_out()):
        raise WrongUse("This model has no components, and nothing to convert: fit with n_components=1 or more.")
    path, chosen = _format_of(Path(path), to)
    options = {"X": X, "ids": ids, "scores": scores or None, "dtype": dtype}
    given = {name: value for name, value in options.items() if value is not None}
    foreign = sorted(given.keys() - FORMATS[chosen].options)
    if foreign:
        raise WrongUse(f"{chosen} takes no {_IN_WORDS[foreign[0]]}: leave it out.")
    files, words = FORMATS[chosen].files(model, path, **given)
    write_together(files)
    return Conversion(tuple(files), words)


def _format_of(path: Path, to: str | None) -> tuple[Path, str]:
    """The format; of several files, the beginning of their names without an ending that will be added."""
    if path.name in ("", ".."):
        raise WrongUse(f"{plain(path)} is a folder: give the name of a file, or how names begin.")
    if to is None:
        by_ending = {ending: name for name, known in FORMATS.items() for ending in known.endings}
        if path.suffix.lower() not in by_ending:
            raise WrongUse(
                f"{plain(path)}: the ending does not say which format is meant; name it by to= (--to on the command "
                f"line): {joined(list(FORMATS), 'or')}."
            )
        to = by_ending[path.suffix.lower()]
    if to not in FORMATS:
        raise WrongUse(f"There is no format {in_short(to)}; known are {joined(list(FORMATS))}.")
    return path.with_suffix("") if to == "plink" and path.suffix.lower() in FORMATS[to].endings else path, to
