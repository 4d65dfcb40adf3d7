"""Every display by its short name, for `model.plot(kind=…)` and the command line; and which comes first."""

from importlib import import_module
from typing import Any

__all__ = ["KINDS", "LABELLED", "display_of", "first_kind", "plot"]

#: Of every name the class, which stands in the module of that name.
KINDS = {
    "scores": "ScoresDisplay",
    "scree": "ScreeDisplay",
    "biplot": "BiplotDisplay",
    "loadings": "LoadingsDisplay",
    "pairs": "PairsDisplay",
    "circle": "CircleDisplay",
    "contribution": "ContributionDisplay",
    "cos2": "ContributionDisplay",
    "metadata": "MetadataDisplay",
    "novelty": "NoveltyDisplay",
    "spectrum": "SpectrumDisplay",
    "reconstruction": "ReconstructionDisplay",
    "field": "FieldDisplay",
    "preimage": "PreimageDisplay",
    "neighborhood": "NeighborhoodDisplay",
    "eigenimages": "EigenimagesDisplay",
}
_MODULES = {"cos2": "contribution"}  # where the name is another
#: Those that know labels of rows.
LABELLED = ("scores", "biplot", "pairs", "neighborhood")


def display_of(kind: str) -> Any:
    """The class of this name."""
    from mercer_old.errors import WrongUse, in_short

    if not isinstance(kind, str) or kind not in KINDS:
        raise WrongUse(f"There is no display {in_short(kind)}; there are {', '.join(KINDS)}.")
    return getattr(import_module(f"mercer_old.displays.{_MODULES.get(kind, kind)}"), KINDS[kind])


def first_kind(model: Any, X: Any) -> str:
    """What to look at first: scores; of a detector its map; the scree of a model that keeps no rows and is given none.

    Of one component there is no plane, so that its scree is next.
    """
    from mercer_old.models.linear import LinearModel
    from mercer_old.models.local_model import LocalModel
    from mercer_old.models.novelty import NoveltyDetector

    if isinstance(model, NoveltyDetector):
        return "novelty"
    if isinstance(model, LocalModel):
        return "scores" if model._n_features_out > 1 else "spectrum"
    rows = X is not None or not (isinstance(model, LinearModel) or not hasattr(model, "X_fit_"))
    return "scores" if rows and model._n_features_out > 1 else "scree"


def plot(model: Any, X: Any, y: Any, kind: str | None, options: dict[str, Any]) -> Any:
    """What `model.plot` draws; rows of a file bring their labels and names along."""
    from sklearn.utils.validation import check_is_fitted

    from mercer_old.displays.along import brought_along
    from mercer_old.errors import WrongUse

    check_is_fitted(model)
    kind = first_kind(model, X) if kind is None else kind
    display = display_of(kind)
    y, options = brought_along(kind, kind in LABELLED, display.from_estimator, X, y, options)
    if kind == "cos2":
        options = options | {"kind": kind}
    if y is None:
        return display.from_estimator(model, X, **options)
    if kind == "metadata":
        return display.from_estimator(model, X, y, **options)
    if kind not in (*LABELLED, "scree"):
        raise WrongUse(f"y are labels of rows, which {KINDS[kind]} does not show; {', '.join(LABELLED)} do.")
    return display.from_estimator(model, X, y, **options)
