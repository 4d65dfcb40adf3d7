"""What `mercer fit` does: plan, fit, scores, certificate, with words on standard error around it."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from mercer_old.certificates.optima import LocalOptimum
from mercer_old.commands.answers import Answer
from mercer_old.commands.arguments import RELATIVES
from mercer_old.commands.around import place_for, tell_of_bare_numbers
from mercer_old.commands.asked import Asked, Opened, made_model, write_opening
from mercer_old.commands.kept import keep_model, noted, notes_of, place_for_model
from mercer_old.commands.reporting import place_for_page
from mercer_old.commands.scales import tell_of_columns
from mercer_old.commands.script import Script
from mercer_old.commands.wording import in_options
from mercer_old.errors import NotVerified, WrongUse, listed
from mercer_old.models.lle import LocallyLinearEmbedding
from mercer_old.report.gathering import refuse_no_page
from mercer_old.report.writing import report_on
from mercer_old.terminal import plain, say

__all__ = ["Fit", "figures_of"]

# Components, if nothing is said.
_USUAL = {"kpca": 10, "pca": 10, "ppca": 10, "lle": 2} | dict.fromkeys(RELATIVES, 2)


@dataclass(frozen=True)
class Fit:
    """Plan, fit, scores to `out` or standard output, certificate."""

    asked: Asked
    out: Path | None
    save: Path | None = None
    report: Path | None = None
    only_plan: bool = False

    @property
    def _scores_wanted(self) -> bool:
        """A model that is kept can tell them at any time."""
        return self.out is not None or (self.save is None and self.report is None)

    @property
    def fills_stdout(self) -> bool:
        return not self.only_plan and self._scores_wanted and self.out in (None, Path("-"))

    def code(self) -> str:
        script = Script()
        rows, model, weight = self._settled.write(script, _USUAL[self.asked.method])
        if self.only_plan:
            script.add(f"print({script.call(f'{model.text}.plan', rows, **weight).text})")
            return str(script)
        out = None if self.fills_stdout else self.out
        places = [rows, out] if self._scores_wanted else [rows]
        fit = "fit_transform_to" if self._scores_wanted else "fit"
        script.add(script.call(f"{model.text}.{fit}", *places, **weight).text)
        if self.save is not None:
            notes = notes_of(self.asked.wanted, self.asked.params)
            said: dict[str, Any] = {"notes": notes} if notes else {}
            script.add(script.call("save", model, self.save, **said).text)
        if self.report is not None:
            script.add(script.call(f"{model.text}.report", rows, path=self.report).text)
        script.add("print(model.certificate_, file=sys.stderr)")
        return f"import sys\n\n{script}"

    @property
    def _settled(self) -> Asked:
        """Kernel PCA is asked for ten components even where there are fewer rows, which it tells of."""
        if self.asked.method != "kpca" or self.asked.params["n_components"] is not None:
            return self.asked
        return replace(self.asked, params=self.asked.params | {"n_components": _USUAL["kpca"]})

    def run(self) -> Answer:
        self._refuse_before_all_else()
        out = place_for(self.asked.wanted.data, self.out)
        if self.save is not None:
            place_for_model(self.asked.wanted.data, self.save)
        if self.report is not None and not self.only_plan:
            place_for_page(self.report, self.asked.wanted.data)
        with self._settled.opened() as opened:
            model, items = opened.model, opened.items
            if model.n_components is None:
                model.n_components = opened.at_most(_USUAL[self.asked.method])
            plan = self._told_plan(opened)
            if self.only_plan:
                return Answer({"data": opened.name, "rows": len(items), "plan": plan})
            tell_of_columns(items, model)
            self._fit(opened, out)
            notes = noted(items, self.asked.wanted.as_notes())
            saved = None if self.save is None else keep_model(model, self.save, notes)
            page = None if self.report is None else self._page(self.report, opened, saved)
        _report(model, out, self._scores_wanted, saved)
        if page is not None:
            say(f"report: {plain(page)}")
        tell_of_bare_numbers(opened.items, out)
        written = {"scores": out, "saved": saved, "report": page}
        return Answer(figures_of(model, opened) | written, doubt=_doubt(model))

    def _refuse_before_all_else(self) -> None:
        """What is wrong with parameters, and what this method does not have."""
        method = self.asked.method
        model = made_model(method, self.asked.params)
        if self.asked.wanted.weights is not None and method in ("lle", *RELATIVES):
            raise WrongUse(f"--weights is not for --method {method}, which has no weights of rows.")
        if self.only_plan and not hasattr(model, "plan"):
            raise WrongUse(f"--dry-run is not for --method {method}, which has no plan: it holds all rows in memory.")
        if self.report is not None:
            refuse_no_page(model)

    def _told_plan(self, opened: Opened) -> str | None:
        """Of those methods that make one."""
        if not hasattr(opened.model, "plan"):
            return None
        plan = opened.model.plan(opened.items, opened.weight)
        say(in_options(f"plan: {plan.in_words}"))
        opened.known.append(plan.notice)
        return str(plan.in_words)

    def _page(self, path: Path, opened: Opened, saved: Path | None) -> Path:
        """A page about the fit; of a file that is read twice its name is known."""
        data = self.asked.wanted.data
        known: dict[str, Any] = {"sample_weight": opened.weight}
        known |= {} if data == "-" else {"data": data, "opening": self._opening(saved)}
        report_on(opened.model, opened.items, path=path, name=opened.name, file=saved, others=False, **known)
        return path

    def _opening(self, saved: Path | None) -> str:
        """The Python that has the model, loaded or fitted again, and its rows, as `model` and `X`."""
        script = Script()
        if saved is not None:
            script.set("model", script.call("load", saved))
            write_opening(script, self.asked.wanted, self.asked.params, "X")
        else:
            rows, model, weight = self._settled.write(script, _USUAL[self.asked.method], "X")
            script.add(script.call(f"{model.text}.fit", rows, **weight).text)
        return f"import mercer\n{script}"

    def _fit(self, opened: Opened, out: Path | None) -> None:
        model, items, weight = opened.model, opened.items, opened.weight
        if self._scores_wanted:
            model.fit_transform_to(items, out, weight)
        else:
            model.fit(items, **{} if weight is None else {"sample_weight": weight})


def figures_of(model: Any, opened: Opened) -> dict[str, Any]:
    """What a fit has found, in numbers."""
    found = {"data": opened.name, "rows": len(opened.items), "model": type(model).__name__}
    plan = getattr(model, "plan_", None)
    found |= {"n_components": len(model.get_feature_names_out()), "plan": None if plan is None else plan.in_words}
    for name in ("explained_variance", "explained_variance_ratio", "reconstruction_error"):
        if hasattr(model, f"{name}_"):
            found[name] = getattr(model, f"{name}_")
    return found | {"certificate": model.certificate_}


def _report(model: Any, out: Path | None, scores_wanted: bool, saved: Path | None) -> None:
    ratios = getattr(model, "explained_variance_ratio_", np.array([np.nan]))
    if not np.isnan(ratios).any():  # of a kernel that is none they have no meaning
        shares = listed((f"{share:.1%}" for share in ratios), 10)
        say(f"explained variance: {ratios.sum():.1%} ({shares})")
    if isinstance(model, LocallyLinearEmbedding):
        if hasattr(model, "n_neighbors_reason_"):
            say(in_options(model.n_neighbors_reason_))
        say(f"reconstruction error: {model.reconstruction_error_:.3g}, the sum of the eigenvalues")
    say(in_options(f"certificate: {model.certificate_}"))
    if out is not None:
        say(f"scores: {plain(out)}")
    if saved is not None:
        say(
            f"model: {plain(saved)}" + ("" if scores_wanted else "; scores are not written without --out (- is stdout)")
        )


def _doubt(model: Any) -> NotVerified | None:
    """Of a local optimum nobody expects a proof: how flat it is there was said."""
    if isinstance(model.certificate_, LocalOptimum):
        return None
    as_planned = model.plan_.approximate and hasattr(model, "kernel_") and model.kernel_.psd
    if model.certificate_.converged or as_planned:
        return None
    return NotVerified("The answer is there, but it is not proven to be what was asked for; see above.")
