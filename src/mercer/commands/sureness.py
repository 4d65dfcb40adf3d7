"""What `mercer stability` does: open, fit, draw rows again and again, print how far the components turn."""

import json
import sys
from typing import Any

import numpy as np

from mercer.commands.around import as_bad_data, file_for, warnings_as_lines
from mercer.commands.fitting import made_model, tell_of_row_numbers
from mercer.commands.opening import Wanted, in_short_words, is_of_texts
from mercer.commands.wording import in_options
from mercer.errors import WrongUse
from mercer.readings.stability import OFTEN
from mercer.studies.stability import stability
from mercer.studies.stable import Stability
from mercer.terminal import put, say

_USUAL = 5  # components, if nothing is said


def stability_of_file(
    wanted: Wanted, method: str, params: dict[str, Any], *, draws: int, seed: int | None, as_json: bool
) -> None:
    """The table of components with its verdict, or its JSON, to standard output."""
    if method == "lle":
        raise WrongUse("--method lle: draws of rows change who is a neighbour of whom; pca and kpca can be drawn.")
    if draws < 2:
        raise WrongUse(f"--draws {draws} is too few: give at least 2.")
    data, texts = wanted.data, is_of_texts(params)
    model = made_model(method, params)
    if data == "-" and sys.stdin is None:
        raise WrongUse("Standard input is closed; name a file instead.")
    copy = wanted.kind_of_copy if texts else ".csv"
    with file_for(data, copy) as (path, name), warnings_as_lines(path, name) as known, as_bad_data(path, name):
        items, _ = wanted.open(path, model, texts)
        say(f"{name}: {in_short_words(items)}")
        known += tell_of_row_numbers(items)
        if model.n_components is None:
            model.n_components = min(_USUAL, len(items), items.width if method == "pca" else len(items))
        found = stability(model.fit(items), items, n_boot=draws, random_state=seed, progress=True)
    put(_as_json(found) if as_json else in_options(str(found)))


def _as_json(found: Stability) -> str:
    """A line for each component, and of linear models the intervals of its entries."""
    often = np.quantile(found.angles, OFTEN, axis=0)
    kind = {number: group.kind for group in found.groups for number in group.numbers}
    lines = [
        {
            "component": j + 1,
            "variance": float(found.variances[j]),
            "standard_error": float(found.variance_errors[j]),
            "median_angle": float(np.median(found.angles[:, j])),
            "often_below": float(often[j]),
            "kind": kind[j + 1],
        }
        for j in range(len(found.variances))
    ]
    axes = {"axes": found.axes, "axes_low": found.axes_low, "axes_high": found.axes_high}
    whole = {"verdict": found.verdict, "n_stable": found.n_stable, "draws": found.draws, "rows": found.rows}
    whole |= {"seen": found.seen, "components": lines}
    whole |= {name: None if values is None else values.tolist() for name, values in axes.items()}
    return json.dumps(whole, indent=2, ensure_ascii=False, allow_nan=False)
