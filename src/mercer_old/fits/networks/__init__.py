"""Fits of small networks that rebuild their rows through a narrow middle, in plain numpy.

`network` is the function and its gradient, by hand; `training` takes it down from random weights, with an eye on rows
that were held out. There are no batches and no other library: rows in memory, and as many weights as that allows.
"""

from mercer_old.fits.networks.network import ACTIVATIONS, Network
from mercer_old.fits.networks.training import Lesson, Trained, principal_error, train

__all__ = ["ACTIVATIONS", "Lesson", "Network", "Trained", "principal_error", "train"]
