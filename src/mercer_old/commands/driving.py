"""What `mercer influence` does: open, fit, ask what drives the components, print it."""

from dataclasses import dataclass
from typing import Any

from mercer_old.commands.answers import Answer
from mercer_old.commands.asked import Asked
from mercer_old.commands.asked_again import AskedAgain
from mercer_old.commands.opening import is_of_tables, is_of_texts
from mercer_old.commands.scales import tell_of_columns
from mercer_old.commands.script import Piece, Script
from mercer_old.commands.wording import in_options
from mercer_old.errors import WrongUse
from mercer_old.functions.clusters import Clusters, clusters
from mercer_old.functions.influence import influence
from mercer_old.readings.driving import Influence

__all__ = ["Drive"]

_USUAL = 5  # components, if nothing is said


@dataclass(frozen=True)
class Drive:
    """The most influential columns of every component, to standard output."""

    asked: Asked | AskedAgain
    seed: int | None
    with_clusters: bool
    fills_stdout = False

    def code(self) -> str:
        script = Script()
        rows, model, weight = self.asked.write(script, _USUAL)
        if not self.asked.fitted:
            script.add(script.call(f"{model.text}.fit", rows, **weight).text)
        seed: dict[str, Any] = {} if self.seed is None else {"random_state": self.seed}
        X = None if self.asked.method == "kpca" else rows
        of_rows = not (self.asked.fitted or is_of_texts(self.asked.params) or is_of_tables(self.asked.params))
        names: dict[str, Any] = {"feature_names": Piece(f"{rows.text}.names")} if of_rows else {}
        script.add(f"print({script.call('influence', model, X, **names, **seed).text})")
        if self.with_clusters:
            script.add(f"print({script.call('clusters', model, None, X, self.seed).text})")
        return str(script)

    def run(self) -> Answer:
        if self.asked.method == "lle":
            raise WrongUse(
                "--method lle has no component functions whose gradient could be asked for; pca and kpca have."
            )
        with self.asked.opened() as opened:
            model, items = opened.model, opened.items
            if not self.asked.fitted:
                if model.n_components is None:
                    model.n_components = opened.at_most(_USUAL)
                tell_of_columns(items, model)
                model.fit(items, sample_weight=opened.weight)
            X = None if hasattr(model, "X_fit_") else items
            names = items.as_rows().names if items is not None and items.kind == "rows" else None
            found = influence(model, X, names, random_state=self.seed)
            groups = clusters(model, None, X, self.seed) if self.with_clusters else None
        return Answer(_figures(found, groups), in_options(_in_words(found, groups)))


def _in_words(found: Influence, groups: Clusters | None) -> str:
    return str(found) if groups is None else f"{found}\n\n{groups}"


def _figures(found: Influence, groups: Clusters | None) -> dict[str, Any]:
    whole: dict[str, Any] = {"rows": found.n_rows, "missed": found.missed, "table": found.table()}
    if groups is not None:
        numbers = {"n_clusters": groups.n_clusters, "clear": groups.clear, "components": list(groups.components)}
        whole["clusters"] = numbers | {"sizes": groups.sizes, "why": groups.why, "warnings": groups.warnings}
    return whole
