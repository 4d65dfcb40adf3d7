"""What is installed and allowed on a machine, and whether fits find what is known."""

import platform
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
from threadpoolctl import threadpool_info

import mercer_old as mercer
from mercer_old.errors import counted, joined
from mercer_old.limits import Limits, bytes_in_words
from mercer_old.models.kernel_pca import KernelPCA
from mercer_old.models.pca import PCA

__all__ = ["Health", "doctor"]

_NEEDED = ("numpy", "scipy", "scikit-learn", "threadpoolctl")
# What can be done with each part, and the extra that brings it.
_PARTS = {
    "typer": ("the command line", "app"),
    "rich": ("help and progress bars", "app"),
    "click": ("the command line of the second edition", "app"),
    "jinja2": ("pages of the second edition", "app"),
    "matplotlib": ("pictures and the gallery", "app"),
    "pyarrow": ("CSV, Parquet and Arrow files", "app"),
    "narwhals": ("tables of pandas, polars and pyarrow", "tables"),
    "h5py": ("single-cell files (.h5ad)", "io"),
    "pillow": ("folders of images", "io"),
    "onnx": ("models for other programs", "onnx"),
    "dask": ("rows on the workers of a cluster", "dask"),
    "distributed": ("the workers of a cluster", "dask"),
    "rapidfuzz": ("edit distances", "strings"),
    "loky": ("processes of their own for other methods", "relatives"),
    "openTSNE": ("t-SNE that places new rows", "relatives"),
    "umap-learn": ("UMAP", "relatives"),
    "python-picard": ("ICA in fewer steps", "relatives"),
}
_ROWS = np.array([[2.0, 0.0], [-2.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
_VARIANCES = np.array([8 / 3, 2 / 3])  # Σx²/(n − 1) along each axis, and the axes are those of the plane
_CLOSE = 1e-12


@dataclass(frozen=True)
class Health:
    """What was found."""

    versions: Mapping[str, str]
    blas: tuple[Mapping[str, Any], ...]  # libraries, each with its version and threads
    threads: int
    memory_limit: int  # bytes that a fit may take, if nothing is said
    parts: Mapping[str, Mapping[str, Any]]
    wrong: tuple[str, ...]  # of the fits whose answer is known

    def __str__(self) -> str:
        lines = [f"{name}: {said}" for name, said in self.versions.items()]
        lines += [
            f"BLAS: {each['library']} {each['version']}, {counted(each['threads'], 'thread')}" for each in self.blas
        ]
        lines += [f"threads: {self.threads}", f"memory limit of a fit: {bytes_in_words(self.memory_limit)}"]
        for name, part in self.parts.items():
            there = part["version"] or f"not installed; for {part['for']}: {part['install']}"
            lines.append(f"{name}: {there}")
        verdict = f"WRONG: {'; '.join(self.wrong)}" if self.wrong else "PCA and kernel PCA of known rows are right"
        return "\n".join([*lines, f"self-test: {verdict}"])


def doctor() -> Health:
    """Say which versions, BLAS, threads, memory limit and optional parts there are, and fit rows whose answer is known.

    Returns
    -------
    health : Health
        Print it. ``health.wrong`` has a sentence for every fit that did not find what is known; it should be empty.

    Examples
    --------
    >>> import mercer
    >>> mercer.doctor().wrong
    ()
    """
    versions = {"mercer": mercer.__version__, "Python": f"{platform.python_version()} on {platform.platform()}"}
    versions |= {name: _version(name) or "?" for name in _NEEDED}
    limits = Limits.of()
    return Health(versions, _blas(), limits.threads, limits.memory, _parts(), tuple(_wrong_answers()))


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _blas() -> tuple[Mapping[str, Any], ...]:
    found = [each for each in threadpool_info() if each["user_api"] == "blas"]
    return tuple(
        {"library": each["internal_api"], "version": each["version"], "threads": each["num_threads"]} for each in found
    )


def _parts() -> dict[str, Mapping[str, Any]]:
    return {
        name: {"for": what, "version": _version(name), "install": f'pip install "mercer[{extra}]"'}
        for name, (what, extra) in _PARTS.items()
    }


def _wrong_answers() -> list[str]:
    """Of linear PCA and of kernel PCA with a linear kernel: both have the variances of the plane's own axes."""
    wrong = []
    for name, model in {"PCA": PCA(2), "kernel PCA": KernelPCA(2, kernel="linear")}.items():
        found = model.fit(_ROWS).explained_variance_
        if not np.allclose(found, _VARIANCES, rtol=_CLOSE):
            wrong.append(f"{name} has variances {joined([f'{value:.17g}' for value in found])}, not 8/3 and 2/3")
        if not model.certificate_.certified:
            wrong.append(f"{name} is not certified")
    return wrong
