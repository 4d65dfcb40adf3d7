"""What `mercer novelty` does: fit and calibrate on one file, tell of another, with words on standard error."""

import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from mercer_old.commands.answers import Answer
from mercer_old.commands.around import as_bad_data, file_for, place_for, warnings_as_lines
from mercer_old.commands.asked import Asked, kind_that_is_asked_for, refuse_standard_input, write_file, write_opening
from mercer_old.commands.kept import Kept, keep_model, noted, notes_of, place_for_model
from mercer_old.commands.opening import Wanted, in_short_words, is_of_tables, is_of_texts
from mercer_old.commands.script import Piece, Script
from mercer_old.errors import BadData, WrongUse, counted
from mercer_old.functions.verdicts import verdicts_on, write_verdicts
from mercer_old.models.base import check_parameters
from mercer_old.models.kernel_pca import KernelPCA
from mercer_old.models.novelty import NoveltyDetector, usual_estimator
from mercer_old.models.pca import PCA
from mercer_old.outlets import refuse_same_file
from mercer_old.sources.frames import Table
from mercer_old.sources.items import Items, Rows
from mercer_old.terminal import plain, say

__all__ = ["Look", "LookAgain"]

_USUAL_SHARE = {"kpca": 0.5, "pca": 0.9}  # of the variance, if nothing is said


@dataclass(frozen=True)
class Look:
    """Fit a detector to the file that is asked for, and write what it says of the rows of `new`."""

    asked: Asked
    new: str
    out: Path | None
    save: Path | None
    of_detector: dict[str, Any]
    fdr: float | None

    def __post_init__(self) -> None:
        if self.asked.wanted.data == self.new == "-":
            raise WrongUse("Standard input can be one of the two files, not both.")
        _refuse_rate(self.fdr)

    @property
    def fills_stdout(self) -> bool:
        return self.out in (None, Path("-"))

    def code(self) -> str:
        script, wanted, params = Script(), self.asked.wanted, self.asked.params
        usual = write_opening(script, wanted, params, "usual")
        model = _model(self.asked.method, params)
        new = write_file(script, self._settled(model), self._kind, "new")
        if is_of_tables(params):
            model.kernel = script.call("TableKernel.auto", usual)
            script.named("TableKernel", "mercer.kernels")
        detector = script.set("detector", script.call("NoveltyDetector", model, **self.of_detector))
        script.add(f"{detector.text}.fit({usual.text})")
        if self.save is not None:
            notes = notes_of(wanted, params)
            said: dict[str, Any] = {"notes": notes} if notes else {}
            script.add(script.call("save", detector, self.save, **said).text)
        return _write_code(script, detector, new, None if self.fills_stdout else self.out, self.fdr)

    def run(self) -> Answer:
        wanted, texts = self.asked.wanted, is_of_texts(self.asked.params)
        model = _model(self.asked.method, self.asked.params)
        detector = _detector(model, self.of_detector)
        out = place_for(wanted.data, self.out)
        if out is not None:
            refuse_same_file(Path(self.new), out)
        if self.save is not None:
            place_for_model(wanted.data, self.save)
            refuse_same_file(Path(self.new), self.save)
        with file_for(wanted.data, wanted.kind_of_copy if texts else ".csv") as usual:
            with warnings_as_lines(*usual), as_bad_data(*usual):
                items, _ = wanted.open(usual[0], model, texts)
            say(f"{usual[1]}: {in_short_words(items)}")
            kept, notes = self._read_as(items, model), noted(items, wanted.as_notes())
            # New rows are opened before the work, so that what is wrong with them is said at once.
            with kept.opened(self._wanted_of_new(notes), _columns(items), self._kind) as new:
                _refuse_other_width(items, new.items, usual[1], new.name)
                with warnings_as_lines(*usual), as_bad_data(*usual):
                    detector.fit(items)
                _tell_of_fit(detector)
                found = verdicts_on(detector, new.items, self.fdr)
            write_verdicts(found, new.items, out)
            saved = None if self.save is None else keep_model(detector, self.save, notes)
        _tell(found, detector, self.fdr, out)
        if saved is not None:
            say(f"detector: {plain(saved)}")
        return Answer(_figures(found, detector, self.fdr) | {"verdicts": out, "saved": saved})

    @property
    def _kind(self) -> str:
        return kind_that_is_asked_for(self.asked.params)

    def _read_as(self, usual: Items, model: Any) -> Kept:
        """As if the model were kept already: other files are read as its own was."""
        return Kept(Path(self.asked.wanted.data), model, noted(usual, self.asked.wanted.as_notes()))

    def _wanted_of_new(self, notes: dict[str, Any]) -> Wanted:
        return replace(Wanted.from_notes(notes, self.new), weights=None)

    def _settled(self, model: Any) -> Wanted:
        """What is to be read of the new rows, in the columns of the usual ones."""
        wanted = self.asked.wanted
        refuse_standard_input(replace(wanted, data=self.new))
        with warnings.catch_warnings(action="ignore"):  # the fit will tell
            usual = wanted.read(Path(wanted.data), self._kind, model.memory_limit)
            kept = self._read_as(usual, model)
            new = self._wanted_of_new(kept.reading)
            return kept.settled(new, Path(self.new), _columns(usual), self._kind, plain(self.new))[0]


@dataclass(frozen=True)
class LookAgain:
    """What a detector that was kept says of the rows of another file."""

    kept: Kept
    wanted: Wanted
    out: Path | None
    save: Path | None
    fdr: float | None

    def __post_init__(self) -> None:
        model = self.kept.model
        if not isinstance(model, NoveltyDetector):
            raise WrongUse(
                f"{plain(self.kept.path)} holds a {type(model).__name__}, which has no calibrated rows to compare "
                "with: mercer novelty TRAIN NEW --save d.mercer makes a detector."
            )
        if self.save is not None:
            raise WrongUse(f"--save keeps a detector that is fitted, and {plain(self.kept.path)} is kept already.")
        _refuse_rate(self.fdr)

    @property
    def fills_stdout(self) -> bool:
        return self.out in (None, Path("-"))

    def code(self) -> str:
        script = Script()
        detector, new = self.kept.write(script, self.wanted, self.kept.columns, self.kept.kind)
        return _write_code(script, detector, new, None if self.fills_stdout else self.out, self.fdr)

    def run(self) -> Answer:
        out, detector = place_for(self.wanted.data, self.out), self.kept.model
        with self.kept.opened(self.wanted, self.kept.columns, self.kept.kind) as new:
            found = verdicts_on(detector, new.items, self.fdr)
            write_verdicts(found, new.items, out)
        _tell(found, detector, self.fdr, out)
        return Answer(_figures(found, detector, self.fdr) | {"verdicts": out})


def _refuse_rate(fdr: float | None) -> None:
    if fdr is not None and not 0 < fdr < 1:
        raise WrongUse(f"--fdr {fdr:g} is no share between 0 and 1.")


def _write_code(script: Script, detector: Piece, new: Piece, out: Path | None, fdr: float | None) -> str:
    """Lines that ask for verdicts and write them, below what was written before."""
    rate: dict[str, Any] = {} if fdr is None else {"fdr": fdr}
    script.add(script.call(f"{detector.text}.verdicts_to", new, out, **rate).text)
    return str(script)


def _columns(usual: Items) -> list[str] | None:
    """By name, if they have any."""
    names = usual.names if isinstance(usual, Rows | Table) else None
    return None if names is None else [str(name) for name in names]


def _refuse_other_width(usual: Items, new: Items, its_name: str, name: str) -> None:
    """Where columns are known by their places alone, there have to be as many."""
    if isinstance(usual, Rows) and usual.width != new.width:
        columns = counted(new.width, "column")
        raise BadData(f"{name} has {columns}, and {its_name} {usual.width:,}: give files with the same columns.")


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


def _figures(found: Any, detector: NoveltyDetector, fdr: float | None) -> dict[str, Any]:
    figures = {"rows": len(found), "novel": int(found[:, 2].sum()), "alpha": detector.alpha, "fdr": fdr}
    figures |= {"threshold": detector.threshold_, "calibration_rows": len(detector.calibration_scores_)}
    return figures | {"smallest_p_value": found[:, 1].min()}
