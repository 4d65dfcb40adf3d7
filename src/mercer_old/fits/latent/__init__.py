"""Fits of latent places: rows as functions of a few unknown coordinates, by Gaussian processes.

`likelihood` is the probability of the rows for given places, exactly; `bound` is a lower bound on it by landmarks, for
less work. `search` finds places from a start, and `placing` those of new rows, many small problems at a time. No kernel
is known by name here: each is asked for its values and for its slopes.
"""

from mercer_old.fits.latent.bound import Bound
from mercer_old.fits.latent.likelihood import Exact, Gradient
from mercer_old.fits.latent.placing import Predictor, place_rows
from mercer_old.fits.latent.search import LatentTask, Places, find_places

__all__ = ["Bound", "Exact", "Gradient", "LatentTask", "Places", "Predictor", "find_places", "place_rows"]
