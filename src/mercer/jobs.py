"""What the commands do, with words on stderr around it."""

import shutil
import sys
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mercer.errors import NotVerified, WrongUse
from mercer.models.kernel_pca import KernelPCA
from mercer.models.problem import which_solver
from mercer.sources.files import open_rows
from mercer.sources.outlets import refuse_unwritable
from mercer.sources.rows import RowSource


def fit_file(
    data: str,
    out: Path | None,
    params: dict[str, Any],
    *,
    columns: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    weights: str | None = None,
    only_plan: bool = False,
) -> None:
    """Plan, fit, scores to `out` or standard output, certificate."""
    model = _model(params)
    if out is not None:
        refuse_unwritable(out)
    with _file(data) as path, _warnings_as_lines() as known:
        rows, weight = _rows(path, columns, drop, weights)
        say(f"{'standard input' if data == '-' else path}: {rows.shape[0]:,} rows, {rows.shape[1]:,} columns")
        plan = model.plan(rows, weight)
        say(f"plan: {plan}")
        if only_plan:
            return
        known.append(plan.notice)
        model.fit_transform_to(rows, out, weight)
    _report(model, out)


def _model(params: dict[str, Any]) -> KernelPCA:
    if params["kernel"] == "precomputed":
        raise WrongUse("--kernel precomputed: a file holds rows; the kernels are linear, poly, rbf, sigmoid or cosine.")
    model = KernelPCA(progress=True, **params)
    try:
        model._validate_params()
        model._limits()
        which_solver(model)
    except ValueError as error:
        raise WrongUse(str(error)) from None
    return model


@contextmanager
def _file(data: str) -> Iterator[Path]:
    """The file itself; standard input is copied into one first, as it can be read only once."""
    if data != "-":
        yield Path(data)
        return
    with tempfile.TemporaryDirectory(prefix="mercer-") as folder:
        copy = Path(folder) / "standard-input.csv"
        with copy.open("wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        yield copy


def _rows(path: Path, columns: Sequence[str] | None, drop: Sequence[str], weights: str | None) -> tuple[RowSource, Any]:
    """The rows, and the column of weights if there is one."""
    if weights is None:
        return open_rows(path, columns, drop), None
    return open_rows(path, columns, [*drop, weights]), open_rows(path, [weights]).load()[:, 0]


def _report(model: KernelPCA, out: Path | None) -> None:
    shares = ", ".join(f"{share:.1%}" for share in model.explained_variance_ratio_[:10])
    more = " …" if len(model.explained_variance_ratio_) > 10 else ""
    say(f"explained variance: {model.explained_variance_ratio_.sum():.1%} ({shares}{more})")
    say(f"certificate: {model.certificate_}")
    if out is not None:
        say(f"scores: {out}")
    if not model.certificate_.converged and not model.refine:
        raise NotVerified("The scores were written, but not every component met the tolerance; see above.")


@contextmanager
def _warnings_as_lines() -> Iterator[list[str]]:
    """Every warning as one line, but for those that are known already."""
    known = list[str]()
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = lambda message, *_, **__: None if str(message) in known else say(f"warning: {message}")
        yield known


def say(text: str) -> None:
    print(text, file=sys.stderr)
