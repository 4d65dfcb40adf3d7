"""Fits of neighbourhoods: coordinates that neighbours agree on.

`task` says what is asked for, `choosing` how many neighbours where nobody did, `neighborhoods` finds who is near whom,
`embedding` turns that into coordinates with a certificate. `placing` finds the places of new items, `landmarks` those
of all rows between some that were embedded. The graph is looked at before it is embedded, and what is wrong with it is
said.
"""

from mercer_old.fits.local.choosing import NeighborsFound, choose_neighbors
from mercer_old.fits.local.embedding import Embedding, Places, Recipe, embed, find_embedding
from mercer_old.fits.local.landmarks import choose_landmarks, place_rows, well_spread
from mercer_old.fits.local.neighborhoods import Graph, Neighborhoods, find_neighborhoods, look_at_graph
from mercer_old.fits.local.placing import Placement, place
from mercer_old.fits.local.task import given_distances, local_problem, metric_of, open_space, refuse_negative_distances

__all__ = [
    "Embedding",
    "Graph",
    "Neighborhoods",
    "NeighborsFound",
    "Placement",
    "Places",
    "Recipe",
    "choose_landmarks",
    "choose_neighbors",
    "embed",
    "find_embedding",
    "find_neighborhoods",
    "given_distances",
    "local_problem",
    "look_at_graph",
    "metric_of",
    "open_space",
    "place",
    "place_rows",
    "refuse_negative_distances",
    "well_spread",
]
