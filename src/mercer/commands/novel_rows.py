"""What `mercer novelty` does: fit and calibrate on one file, tell of another, with words on standard error."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone

from mercer.commands.around import as_bad_data, file_for, place_for, warnings_as_lines
from mercer.commands.opening import Wanted, in_short_words, is_of_texts
from mercer.errors import BadData, WrongUse, counted
from mercer.models.base import check_parameters
from mercer.models.kernel_pca import KernelPCA
from mercer.models.novelty import NoveltyDetector, usual_estimator
from mercer.models.pca import PCA
from mercer.outlets import outlet, refuse_same_file
from mercer.sources.items import Items, Rows
from mercer.terminal import plain, say

_COLUMNS = ("novelty", "p_value", "novel")
_USUAL_SHARE = {"kpca": 0.5, "pca": 0.9}  # of the variance, if nothing is said


def look_at(
    wanted: Wanted,
    new: str,
    out: Path | None,
    method: str,
    params: dict[str, Any],
    asked: dict[str, Any],
    fdr: float | None,
) -> None:
    """Fit a detector to the file that is wanted, and write what it says of the rows of `new`."""
    if wanted.data == new == "-":
        raise WrongUse("Standard input can be one of the two files, not both.")
    if fdr is not None and not 0 < fdr < 1:
        raise WrongUse(f"--fdr {fdr:g} is no share between 0 and 1.")
    model, texts = _model(method, params), is_of_texts(params)
    detector = _detector(model, asked)
    out = place_for(wanted.data, out)
    if out is not None:
        refuse_same_file(Path(new), out)
    copy = wanted.kind_of_copy if texts else ".csv"
    with file_for(wanted.data, copy) as usual, file_for(new, copy) as looked_at:
        with warnings_as_lines(*usual), as_bad_data(*usual):
            items, _ = wanted.open(usual[0], model, texts)
        with warnings_as_lines(*looked_at), as_bad_data(*looked_at):  # before the work, not after it
            rows, _ = replace(wanted, data=new).open(looked_at[0], clone(model), texts)
            _refuse_other_columns(items, rows, usual[1], looked_at[1])
        say(f"{usual[1]}: {in_short_words(items)}")
        with warnings_as_lines(*usual), as_bad_data(*usual):
            detector.fit(items)
        _tell_of_fit(detector)
        say(f"{looked_at[1]}: {in_short_words(rows)}")
        with warnings_as_lines(*looked_at), as_bad_data(*looked_at):
            found = _verdicts(detector, rows, fdr)
        _write(found, rows, out)
    _tell(found, detector, fdr, out)


def _refuse_other_columns(usual: Items, new: Items, its_name: str, name: str) -> None:
    if not isinstance(usual, Rows) or not isinstance(new, Rows):
        return
    if usual.width != new.width:
        columns = counted(new.width, "column")
        raise BadData(f"{name} has {columns}, and {its_name} {usual.width:,}: give files with the same columns.")
    if usual.names and new.names and usual.names != new.names:
        j = next(j for j in range(usual.width) if usual.names[j] != new.names[j])
        raise BadData(
            f"Column {j} of {name} is {new.names[j]!r}, and that of {its_name} {usual.names[j]!r}: give files with the "
            "same columns in the same order, or choose them with --columns."
        )


def _model(method: str, params: dict[str, Any]) -> Any:
    """The model that is asked for; where nothing is said of a kernel, the one that detectors take by themselves."""
    if params.get("kernel") == "precomputed":
        raise WrongUse("--kernel precomputed: a file holds rows; name a kernel to compare them by.")
    said = {name: value for name, value in params.items() if name != "n_components" or value is not None}
    share = {"n_components": _USUAL_SHARE[method]}
    if method == "pca":
        model: Any = PCA(**share | said)
    elif "kernel" in said:
        model = KernelPCA(**share | said)
    else:
        usual = usual_estimator()
        own_solver = {"eigen_solver": "auto", "n_landmarks": None} if "eigen_solver" in said else {}
        model = usual.set_params(**own_solver | said)
    try:
        model.check_params()
    except ValueError as error:
        raise WrongUse(str(error)) from None
    return model


def _detector(model: Any, asked: dict[str, Any]) -> NoveltyDetector:
    detector = NoveltyDetector(model, **asked)
    try:
        check_parameters(detector)
    except ValueError as error:
        raise WrongUse(str(error)) from None
    return detector


def _verdicts(detector: NoveltyDetector, rows: Items, fdr: float | None) -> Any:
    """Score, p-value and verdict of every row (m×3)."""
    scores = -detector.score_samples(rows)
    p_values = detector._calibration.p_values(scores)
    novel = scores > detector.threshold_ if fdr is None else detector._chosen(p_values, fdr)
    return np.column_stack([scores, p_values, novel])


def _write(found: Any, rows: Items, out: Path | None) -> None:
    told = None if rows.annotations is None else replace(rows.annotations, key="novelty")
    with outlet(out, _COLUMNS, len(found), np.float64, rows.written_along, told) as sink:
        sink(found)


def _tell_of_fit(detector: NoveltyDetector) -> None:
    model, m = detector.estimator_, len(detector.calibration_scores_)
    k, share = len(model.explained_variance_), float(np.sum(model.explained_variance_ratio_))
    explained = "" if np.isnan(share) else f" with {share:.1%} of the variance"
    say(f"model: {counted(k, 'component')}{explained}; {counted(m, 'row')} held out for calibration")


def _tell(found: Any, detector: NoveltyDetector, fdr: float | None, out: Path | None) -> None:
    novel, m = int(found[:, 2].sum()), len(found)
    right = f"of rows like those of the fit, {detector.alpha:.3g} would be"
    if fdr is not None:
        right = f"at most {fdr:.3g} of them are expected to be usual"
    say(f"novel: {novel:,} of {counted(m, 'row')} ({novel / m:.1%}); {right}")
    if out is not None:
        say(f"verdicts: {plain(out)}")
