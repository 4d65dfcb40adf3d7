"""Fits of a kernel: components of the centred kernel matrix.

`task` says what is asked for and what is found, `opening` makes one of a model and its items, and `matrix` holds the
kernel matrix as the plan says. `certified` finds components each with its residual, `landmarks` what some rows see of
all others. `scale` has words for data that a kernel sees at the wrong scale.
"""

from mercer_old.fits.kernel.certified import find_certified
from mercer_old.fits.kernel.landmarks import find_by_landmarks
from mercer_old.fits.kernel.opening import (
    asked_kernel,
    asked_solver,
    describe,
    is_precomputed,
    kernel_for,
    open_task,
)
from mercer_old.fits.kernel.scale import sense_of_scale
from mercer_old.fits.kernel.task import Components, Task

__all__ = [
    "Components",
    "Task",
    "asked_kernel",
    "asked_solver",
    "describe",
    "find_by_landmarks",
    "find_certified",
    "is_precomputed",
    "kernel_for",
    "open_task",
    "sense_of_scale",
]
