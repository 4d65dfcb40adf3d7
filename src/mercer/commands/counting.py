"""What `mercer components` does: open, fit, ask every rule, print what they say."""

import json
import sys
from typing import Any

from mercer.arrays import Array
from mercer.commands.around import as_bad_data, file_for, warnings_as_lines
from mercer.commands.fitting import made_model, tell_of_row_numbers
from mercer.commands.labels import labels_of
from mercer.commands.opening import Wanted, in_short_words, is_of_texts
from mercer.commands.wording import in_options
from mercer.errors import NoRoom, WrongUse
from mercer.readings.rules.suggestion import Suggestion
from mercer.studies.suggesting import suggest
from mercer.terminal import put, say

_MANY = 100  # components, where all do not fit, and of kernels


def suggest_for_file(
    wanted: Wanted,
    method: str,
    params: dict[str, Any],
    *,
    labels: str | None,
    share: float,
    seed: int | None,
    as_json: bool,
) -> None:
    """The table of rules, or its JSON, to standard output."""
    if method == "lle":
        raise WrongUse("--method lle: its components are not ordered by variance; pca and kpca are.")
    if not 0 < share < 1:
        raise WrongUse(f"--share {share:g} is not a number between 0 and 1.")
    data, texts = wanted.data, is_of_texts(params)
    model = made_model(method, params)
    if data == "-" and sys.stdin is None:
        raise WrongUse("Standard input is closed; name a file instead.")
    copy = wanted.kind_of_copy if texts else ".csv"
    with file_for(data, copy) as (path, name), warnings_as_lines(path, name) as known, as_bad_data(path, name):
        items, weight = wanted.open(path, model, texts)
        y = None if labels is None else labels_of(items, labels)
        say(f"{name}: {in_short_words(items)}")
        known += tell_of_row_numbers(items)
        _fit(model, method, items, weight)
        found = suggest(model, items, y, share=share, sample_weight=weight, random_state=seed)
    put(_as_json(found) if as_json else in_options(str(found)))


def _fit(model: Any, method: str, items: Any, weight: Array | None) -> None:
    """With all components of PCA, if they fit; of kernels with the first hundred."""
    most = min(_MANY, len(items), items.width if method == "pca" else len(items))
    model.n_components = None if method == "pca" else most
    try:
        model.fit(items, sample_weight=weight)
    except NoRoom:
        if method != "pca":
            raise
        model.set_params(n_components=most).fit(items, sample_weight=weight)


def _as_json(found: Suggestion) -> str:
    """Numbers and words; p-values and limits, where rules have them."""
    lines = [
        line
        | {
            name: None if values is None else [float(value) for value in values]
            for name, values in (("limits", opinion.limits), ("p_values", opinion.p_values))
        }
        for line, opinion in zip(found.table, found.opinions, strict=True)
    ]
    whole = {
        "k": found.k,
        "at_least": found.at_least,
        "consensus": found.consensus,
        "rules": lines,
        "variances": found.scree.values.tolist(),
        "total_variance": found.scree.total,
    }
    return json.dumps(whole, indent=2, ensure_ascii=False)
