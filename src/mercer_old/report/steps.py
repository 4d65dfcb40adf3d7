"""What to do next with a fitted model: lines of Python and of the command line, complete and ready to run."""

import shlex
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from mercer_old.displays.asking import under
from mercer_old.fits.kernel.opening import is_precomputed
from mercer_old.functions.influence import has_drivers
from mercer_old.kernels.base import Kernel, kind_of_items
from mercer_old.models.kernel_pca import KernelPCA
from mercer_old.models.linear import LinearModel
from mercer_old.models.novelty import NoveltyDetector
from mercer_old.report.origin import Origin
from mercer_old.sources.lines import ending

__all__ = ["Step", "steps_of"]

_MODEL = "model.mercer"  # where the lines keep a model that has no file yet


@dataclass(frozen=True)
class Step:
    """Something to do, in words, in Python and on the command line."""

    words: str
    python: str
    command: str


def steps_of(model: Any, origin: Origin, agreed: int | None) -> list[Step]:
    """Those that this model can do; `agreed` is the number of components that rules would keep.

    In Python `model`, `X` and `new` are the model, the rows of its fit and new ones.
    """
    inner, file = under(model), shlex.quote(origin.file or _MODEL)
    if _runs_code(inner):  # which no file can hold, so that the command line has no model
        return [replace(step, command="") for step in _asked_of(model, inner, file, origin, agreed)]
    return [_opening(origin), *_asked_of(model, inner, file, origin, agreed)]


def _asked_of(model: Any, inner: Any, file: str, origin: Origin, agreed: int | None) -> list[Step]:
    """What the model can be asked, once it is at hand."""
    kind = kind_of_items(_compares(inner))
    usual = ".txt" if kind == "texts" else ".csv"
    known = None if origin.data is None else ending(Path(origin.data))
    new, data = f"new{known or usual}", shlex.quote(origin.data or f"data{usual}")
    if isinstance(model, NoveltyDetector):
        return [Step("Ask it about new rows", "model.p_values(new)", f"mercer novelty {file} {new}")]
    placing = Step("Place new rows", "model.transform(new)", f"mercer transform {file} {new} -o scores.csv")
    if not isinstance(inner, LinearModel | KernelPCA):
        return [placing]
    steps = [placing, *_of_components(inner, file, data, agreed)]
    if kind in ("texts", "tables") or (isinstance(inner, KernelPCA) and is_precomputed(inner)):
        return steps
    back = "model" if isinstance(inner, LinearModel) else 'model.set_params(preimage="auto")'
    smooth = f"mercer denoise {file} {new} -o smooth.csv"
    return [*steps, Step("Take off what is not theirs", f"{back}.denoise(new)", smooth)]


def _compares(inner: Any) -> Any:
    return getattr(inner, "kernel", getattr(inner, "metric", None))


def _runs_code(inner: Any) -> bool:
    """Whether its kernel is a function of the user's."""
    return callable(_compares(inner)) and not isinstance(_compares(inner), Kernel)


def _opening(origin: Origin) -> Step:
    """How to have the model at hand."""
    if origin.file is None:
        fitted, words = f"{origin.opening}\n" * bool(origin.opening), "Fit the model again, and keep it in a file"
        words = words if fitted else "Keep the model in a file"
        return Step(words, f"{fitted}model.save({_MODEL!r})", f"mercer inspect {_MODEL}")
    opening = origin.opening or f"import mercer\n\nmodel = mercer.load({origin.file!r})"
    return Step("Load the model", opening, f"mercer inspect {shlex.quote(origin.file)}")


def _of_components(inner: Any, file: str, data: str, agreed: int | None) -> list[Step]:
    """What PCA and kernel PCA can be asked."""
    k, steps = int(inner._n_features_out), []
    if agreed is not None:
        found = f", as they agree on {agreed}, and there are {k}" if agreed != k else ""
        words = f"Ask every rule how many components to keep{found}"
        steps.append(Step(words, "print(mercer.suggest(model, X))", f"mercer components {file} {data}"))
    steps += [
        Step("Ask how sure the components are", "print(mercer.stability(model, X))", f"mercer stability {file} {data}"),
    ]
    if has_drivers(inner):
        drives = f"mercer influence {file} {data}"
        steps.append(Step("Ask what drives them", "print(mercer.influence(model, X))", drives))
    return steps
