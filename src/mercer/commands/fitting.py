"""What `mercer fit` does: plan, fit, scores, certificate, with words on standard error around it."""

import shlex
from pathlib import Path
from typing import Any

import numpy as np

from mercer import kernel_names
from mercer.commands.around import as_bad_data, file_for, place_for, warnings_as_lines
from mercer.commands.opening import Wanted, in_short_words, is_of_texts
from mercer.commands.wording import in_options
from mercer.errors import NotVerified, WrongUse, counted, listed
from mercer.models.kernel_pca import KernelPCA
from mercer.models.lle import LocallyLinearEmbedding
from mercer.models.pca import PCA
from mercer.readings.columns import about_unit, constant
from mercer.sources.items import Items
from mercer.sources.row_numbers import about_index, about_steps_of_one, counting, first_rows, is_index
from mercer.terminal import plain, say

_METRICS = ("euclidean", "cosine", *kernel_names.OF_TEXTS, *kernel_names.OF_TABLES)
_USUAL = {"kpca": 10, "pca": 10, "lle": 2}  # components, if nothing is said


def fit_file(wanted: Wanted, out: Path | None, method: str, params: dict[str, Any], only_plan: bool = False) -> None:
    """Plan, fit, scores to `out` or standard output, certificate."""
    data, texts = wanted.data, is_of_texts(params)
    model = made_model(method, params)
    if wanted.weights is not None and method == "lle":
        raise WrongUse("--weights is not for --method lle, which has no weights of rows.")
    out = place_for(data, out)
    copy = wanted.kind_of_copy if texts else ".csv"
    with file_for(data, copy) as (path, name), warnings_as_lines(path, name) as known, as_bad_data(path, name):
        items, weight = wanted.open(path, model, texts)
        say(f"{name}: {in_short_words(items)}")
        if model.n_components is None:
            model.n_components = _USUAL[method] if method == "kpca" else min(_USUAL[method], *_sizes(items))
        known += tell_of_row_numbers(items)
        plan = model.plan(items, weight)
        say(in_options(f"plan: {plan.in_words}"))
        if only_plan:
            return
        known.append(plan.notice)
        _tell_of_columns(items, model)
        model.fit_transform_to(items, out, weight)
    _report(model, out)
    if out is not None and out.suffix.lower() == ".npy" and items.written_along:
        say(f"{plain(out)} has numbers alone; names of rows and kept columns go to .npz, .csv or .parquet files.")


def _sizes(items: Items) -> tuple[int, ...]:
    """What no more components can be than: rows and columns, or texts."""
    return (len(items), items.width) if items.kind == "rows" else (len(items),)


def made_model(method: str, params: dict[str, Any]) -> Any:
    if params.get("kernel") == "precomputed":
        raise WrongUse(f"--kernel precomputed: a file holds rows; the kernels are {kernel_names.in_words()}.")
    usual = {"kernel": "rbf"} if method == "kpca" else {}
    model = {"kpca": KernelPCA, "pca": PCA, "lle": LocallyLinearEmbedding}[method](progress=True, **usual | params)
    if method == "lle" and params.get("metric") == "precomputed":
        raise WrongUse(f"--metric precomputed: a file holds rows; the metrics are {kernel_names.in_words(_METRICS)}.")
    try:
        _check(model)
    except ValueError as error:
        raise WrongUse(str(error)) from None
    return model


def _check(model: Any) -> None:
    """The parameters; a number of components that is left out follows from the data."""
    left_out = model.n_components is None
    if left_out:
        model.n_components = 1
    model.check_params()
    if left_out:
        model.n_components = None


def tell_of_row_numbers(items: Items) -> list[str]:
    """Every column that counts rows, with the option that leaves it out; what the models would say of it otherwise."""
    if items.kind != "rows":
        return []
    rows = items.as_rows()
    said, block = list[str](), first_rows(rows)
    for j in counting(block):
        name = j if rows.names is None else rows.names[j]
        said.append(about_index(name) if is_index(block[0, j], name) else about_steps_of_one(name))
        drop = "." if rows.names is None else f": --drop {shlex.quote(rows.names[j])}"
        say(f"warning: {said[-1].removesuffix('.')}{drop}")
    return said


def _tell_of_columns(items: Items, model: Any) -> None:
    """Columns that say nothing, and one that says everything, where the model says nothing about them."""
    if model.standardize or items.kind != "rows":
        return
    rows = items.as_rows()
    same, looked = constant(rows)
    if same:
        some = listed(str(j) if rows.names is None else repr(rows.names[j]) for j in same)
        where = "" if looked == rows.shape[0] else f" in the first {counted(looked, 'row')}"
        which = f"Columns {some} are" if len(same) > 1 else f"Column {some} is"
        say(f"warning: {which} constant{where}: no use as a feature.")
    by_products = isinstance(model, PCA) or getattr(model, "kernel", None) in ("linear", "poly", "sigmoid")
    unit = about_unit(first_rows(rows), rows.names) if by_products else ""
    if unit:
        first = "the first components are" if unit.startswith("Columns ") else "the first component is"
        say(f"warning: {unit}, so that {first} little else. Unless that is meant, try --standardize.")


def _report(model: Any, out: Path | None) -> None:
    ratios = getattr(model, "explained_variance_ratio_", np.array([np.nan]))
    if not np.isnan(ratios).any():  # of a kernel that is none they have no meaning
        shares = listed((f"{share:.1%}" for share in ratios), 10)
        say(f"explained variance: {ratios.sum():.1%} ({shares})")
    if isinstance(model, LocallyLinearEmbedding):
        say(f"reconstruction error: {model.reconstruction_error_:.3g}, the sum of the eigenvalues")
    say(in_options(f"certificate: {model.certificate_}"))
    if out is not None:
        say(f"scores: {plain(out)}")
    as_planned = model.plan_.approximate and model.kernel_.psd
    if not model.certificate_.converged and not as_planned:
        raise NotVerified("The scores were written, but they are not proven to be what was asked for; see above.")
