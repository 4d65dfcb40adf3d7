"""What to do next with a fitted model: lines of Python and of the command line, complete and ready to run."""

import shlex
from dataclasses import dataclass
from typing import Any

from mercer.displays.asking import under
from mercer.kernels.base import kind_of_items
from mercer.models.kernel_pca import KernelPCA
from mercer.models.linear import LinearModel
from mercer.models.novelty import NoveltyDetector
from mercer.report.origin import Origin

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
    if isinstance(model, NoveltyDetector):
        return [
            _opening(origin),
            Step("Ask it about new rows", "model.p_values(new)", f"mercer novelty {file} new.csv"),
        ]
    placing = Step("Place new rows", "model.transform(new)", f"mercer transform {file} new.csv -o scores.csv")
    if not isinstance(inner, LinearModel | KernelPCA):
        return [_opening(origin), placing]
    return [_opening(origin), placing, *_of_components(inner, file, shlex.quote(origin.data or "data.csv"), agreed)]


def _opening(origin: Origin) -> Step:
    """How to have the model at hand."""
    if origin.file is None:
        return Step("Keep the model in a file", f"model.save({_MODEL!r})", f"mercer inspect {_MODEL}")
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
        Step("Ask what drives them", "print(mercer.influence(model, X))", f"mercer influence {file} {data}"),
    ]
    if kind_of_items(getattr(inner, "kernel_", None)) not in ("texts", "tables"):
        back = "model" if isinstance(inner, LinearModel) else 'model.set_params(preimage="auto")'
        steps.append(
            Step("Take off what is not theirs", f"{back}.denoise(new)", f"mercer denoise {file} new.csv -o smooth.csv")
        )
    return steps
