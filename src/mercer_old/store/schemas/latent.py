"""GPLVM: places, the process that leads from places to rows, and the rows that new ones are compared with."""

import numpy as np

from mercer_old.fits.frame import Frame
from mercer_old.fits.latent import Predictor
from mercer_old.kernels.base import Kernel
from mercer_old.models.gplvm import GPLVM, refuse_kernel
from mercer_old.store.facts import count, kernel, number, numbers, scales
from mercer_old.store.reasons import Unusable
from mercer_old.store.schemas.base import Facts, Schema, set_fitted, taken
from mercer_old.store.schemas.points import as_points

__all__ = ["LATENT"]

_FITTED = (
    count("n_features_in", "d"),
    numbers("embedding", "n q"),
    kernel("kernel"),
    number("length_scale"),
    number("signal_variance"),
    number("noise_variance"),
    number("log_probability"),
    count("n_iter"),
)
_FACTS = (
    *_FITTED,
    # How rows are seen: y = (x − frame_mean)/frame_scale.
    numbers("frame_mean", "d"),
    scales("frame_scale", "d"),
    # The process, of rows y: its mean at z is signal·k(z/length, inputs)·weights.
    numbers("inputs", "p q"),
    numbers("weights", "p d"),
    numbers("known", "p p"),
    number("signal"),
    number("noise"),
    number("length"),
    # The rows y as points.
    numbers("rows", "n d"),
    numbers("centre", "d"),
    number("unit"),
)
_PREDICTOR = ("inputs", "weights", "known", "signal", "noise", "length")


def _take(model: GPLVM) -> Facts:
    frame, space = model._frame, model._space
    return (
        taken(model, [fact.name for fact in _FITTED])
        | {"frame_mean": frame.mean, "frame_scale": frame.scale}
        | {name: getattr(model._predictor, name) for name in _PREDICTOR}
        | {"rows": space.rows, "centre": space.centre, "unit": float(space.scale)}
    )


def _give(model: GPLVM, found: Facts) -> None:
    _refuse_process(found)
    space = as_points(found["rows"], found["centre"], found["unit"])
    set_fitted(model, found, [fact.name for fact in _FITTED])
    model._frame, model._width = Frame(found["frame_mean"], found["frame_scale"]), found["embedding"].shape[1]
    model._predictor = Predictor(found["kernel"], **{name: found[name] for name in _PREDICTOR})
    model._space = space


def _refuse_process(found: Facts) -> None:
    """A kernel that a fit could have had, with its numbers known, and sizes that are some."""
    process: Kernel = found["kernel"]
    try:
        refuse_kernel(process)
    except ValueError as error:
        raise Unusable(str(error).rstrip(".")) from None
    if not found["embedding"].size or not len(found["inputs"]):
        raise Unusable("it has no places")
    if process.resolved(found["inputs"], np.random.default_rng(0)) != process:
        raise Unusable("its kernel has numbers that are not known yet")
    if min(found["signal"], found["noise"]) < 0 or found["length"] <= 0:
        raise Unusable("signal, noise or length of its process are less than they can be")


LATENT = Schema(GPLVM, _FACTS, _take, _give)
