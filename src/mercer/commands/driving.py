"""What `mercer influence` does: open, fit, ask what drives the components, print it."""

import json
import sys
from typing import Any

from mercer.commands.around import as_bad_data, file_for, warnings_as_lines
from mercer.commands.fitting import made_model, tell_of_row_numbers
from mercer.commands.opening import Wanted, in_short_words, is_of_texts
from mercer.commands.wording import in_options
from mercer.errors import WrongUse
from mercer.functions.clusters import Clusters, clusters
from mercer.functions.influence import influence
from mercer.readings.driving import Influence
from mercer.terminal import put, say

_USUAL = 5  # components, if nothing is said


def influence_in_file(
    wanted: Wanted, method: str, params: dict[str, Any], *, seed: int | None, with_clusters: bool, as_json: bool
) -> None:
    """The most influential columns of every component, or the whole table as JSON, to standard output."""
    if method == "lle":
        raise WrongUse("--method lle has no component functions whose gradient could be asked for; pca and kpca have.")
    data, texts = wanted.data, is_of_texts(params)
    model = made_model(method, params)
    if data == "-" and sys.stdin is None:
        raise WrongUse("Standard input is closed; name a file instead.")
    copy = wanted.kind_of_copy if texts else ".csv"
    with file_for(data, copy) as (path, name), warnings_as_lines(path, name) as known, as_bad_data(path, name):
        items, weight = wanted.open(path, model, texts)
        say(f"{name}: {in_short_words(items)}")
        known += tell_of_row_numbers(items)
        rows = items.as_rows() if items.kind == "rows" else None
        if model.n_components is None:
            model.n_components = min(_USUAL, len(items), _USUAL if rows is None or method == "kpca" else rows.width)
        model.fit(items, sample_weight=weight)
        X = None if hasattr(model, "X_fit_") else items
        found = influence(model, X, None if rows is None else rows.names, random_state=seed)
        groups = clusters(model, None, X, seed) if with_clusters else None
    put(_as_json(found, groups) if as_json else in_options(_in_words(found, groups)))


def _in_words(found: Influence, groups: Clusters | None) -> str:
    return str(found) if groups is None else f"{found}\n\n{groups}"


def _as_json(found: Influence, groups: Clusters | None) -> str:
    whole: dict[str, Any] = {"rows": found.n_rows, "missed": found.missed, "table": found.table()}
    if groups is not None:
        numbers = {"n_clusters": groups.n_clusters, "clear": groups.clear, "components": list(groups.components)}
        whole["clusters"] = numbers | {"sizes": groups.sizes.tolist(), "why": groups.why, "warnings": groups.warnings}
    return json.dumps(whole, indent=2, ensure_ascii=False)
