"""Autoencoder: the sizes of its layers, and all weights in one row."""

from itertools import pairwise

import numpy as np

from mercer_old.fits.frame import Frame
from mercer_old.fits.networks import ACTIVATIONS, Network
from mercer_old.models.autoencoder import Autoencoder
from mercer_old.store.facts import count, integers, number, numbers, scales, word
from mercer_old.store.reasons import Unusable
from mercer_old.store.schemas.base import Facts, Schema, set_fitted, taken

__all__ = ["AUTOENCODER"]

_FITTED = (
    count("n_features_in", "d"),
    number("reconstruction_error"),
    number("pca_error"),
    number("validation_error", optional=True),
    count("n_iter"),
    count("n_samples"),
)
_FACTS = (
    *_FITTED,
    numbers("loss_curve", "i"),
    # How rows are seen: y = (x − frame_mean)/frame_scale.
    numbers("frame_mean", "d"),
    scales("frame_scale", "d"),
    # The network: for every layer its weights, row by row, and its biases.
    integers("sizes", "l"),
    word("layer_activation", *ACTIVATIONS),
    numbers("weights", "w"),
)


def _take(model: Autoencoder) -> Facts:
    network, frame = model._network, model._frame
    return (
        taken(model, [fact.name for fact in _FITTED])
        | {"loss_curve": np.array(model.loss_curve_, dtype=np.float64)}
        | {"frame_mean": frame.mean, "frame_scale": frame.scale, "weights": model._weights}
        | {"sizes": np.array(network.sizes, dtype=np.int64), "layer_activation": network.activation}
    )


def _give(model: Autoencoder, found: Facts) -> None:
    network = _network(found)
    set_fitted(model, found, [fact.name for fact in _FITTED])
    model.validation_error_ = found["validation_error"]
    model.loss_curve_ = found["loss_curve"].tolist()
    model._frame, model._width = Frame(found["frame_mean"], found["frame_scale"]), network.sizes[network.middle]
    model._know(network, found["weights"])


def _network(found: Facts) -> Network:
    """From the columns to the code and the same way back, with as many weights as that takes."""
    sizes, d = tuple(int(size) for size in found["sizes"]), found["n_features_in"]
    if len(sizes) < 3 or sizes != sizes[::-1] or len(sizes) % 2 == 0 or sizes[0] != d or min(sizes) < 1:
        raise Unusable(f"its layers do not lead from {d:,} columns through a middle and back")
    needed, weights = sum((a + 1) * b for a, b in pairwise(sizes)), found["weights"]
    if len(weights) != needed or weights.dtype != np.float64:
        raise Unusable(f"it has {len(weights):,} weights, and its layers have {needed:,}")
    return Network.through(d, sizes[1 : len(sizes) // 2], sizes[len(sizes) // 2], found["layer_activation"])


AUTOENCODER = Schema(Autoencoder, _FACTS, _take, _give)
