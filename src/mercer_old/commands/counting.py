"""What `mercer components` does: open, fit, ask every rule, print what they say."""

from dataclasses import dataclass
from typing import Any

from mercer_old.arrays import Array
from mercer_old.commands.answers import Answer
from mercer_old.commands.asked import Asked
from mercer_old.commands.asked_again import AskedAgain
from mercer_old.commands.labels import column_beside, labels_of
from mercer_old.commands.scales import tell_of_columns
from mercer_old.commands.script import Script
from mercer_old.commands.wording import in_options
from mercer_old.errors import NoRoom, WrongUse
from mercer_old.readings.rules.suggestion import Suggestion
from mercer_old.studies.suggesting import suggest

__all__ = ["Count"]

_MANY = 100  # components, where all do not fit, and of kernels


@dataclass(frozen=True)
class Count:
    """The table of rules, to standard output."""

    asked: Asked | AskedAgain
    labels: str | None
    share: float
    seed: int | None
    fills_stdout = False

    def code(self) -> str:
        script = Script()
        rows, model, weight = self.asked.write(script)
        if not self.asked.fitted:
            if self.asked.method == "kpca":
                script.add(f"{model.text}.n_components = min({_MANY}, len({rows.text}))")
            script.add(script.call(f"{model.text}.fit", rows, **weight).text)
        given: dict[str, Any] = {} if self.seed is None else {"random_state": self.seed}
        if self.labels is not None:
            given["y"] = script.set("labels", column_beside(rows, self.labels))
        said = script.call("suggest", model, rows, share=self.share, **weight, **given)
        script.add(f"print({said.text})")
        return str(script)

    def run(self) -> Answer:
        if self.asked.method == "lle":
            raise WrongUse("--method lle: its components are not ordered by variance; pca and kpca are.")
        if not 0 < self.share < 1:
            raise WrongUse(f"--share {self.share:g} is not a number between 0 and 1.")
        with self.asked.opened() as opened:
            y = None if self.labels is None else labels_of(opened.items, self.labels)
            model, items, weight = opened.model, opened.items, opened.weight
            if not self.asked.fitted:
                tell_of_columns(items, model)
                _fit(model, self.asked.method, items, weight, opened.at_most(_MANY))
            found = suggest(model, items, y, share=self.share, sample_weight=weight, random_state=self.seed)
        return Answer(_figures(found), in_options(str(found)))


def _fit(model: Any, method: str, items: Any, weight: Array | None, most: int) -> None:
    """With all components of PCA, if they fit; of kernels with the first hundred."""
    model.n_components = None if method in ("pca", "ppca") else most
    try:
        model.fit(items, sample_weight=weight)
    except NoRoom:
        if method not in ("pca", "ppca"):
            raise
        model.set_params(n_components=most).fit(items, sample_weight=weight)


def _figures(found: Suggestion) -> dict[str, Any]:
    """Numbers and words; p-values and limits, where rules have them."""
    lines = [
        line | {"limits": opinion.limits, "p_values": opinion.p_values}
        for line, opinion in zip(found.table, found.opinions, strict=True)
    ]
    return {
        "k": found.k,
        "at_least": found.at_least,
        "consensus": found.consensus,
        "rules": lines,
        "variances": found.scree.values,
        "total_variance": found.scree.total,
    }
