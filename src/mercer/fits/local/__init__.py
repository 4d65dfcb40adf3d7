"""Fits of neighbourhoods: coordinates that neighbours agree on.

`task` says what is asked for, `neighborhoods` finds who is near whom, `embedding` turns that into coordinates with a
certificate. `placing` finds the places of new items. The graph is looked at before it is embedded, and what is wrong
with it is said.
"""

from mercer.fits.local.embedding import Embedding, Recipe, about_graph, embed, embed_parts, empty_embedding
from mercer.fits.local.neighborhoods import Neighborhoods, about_ties, find_neighborhoods
from mercer.fits.local.placing import Placement, place
from mercer.fits.local.task import (
    given_distances,
    local_problem,
    metric_of,
    refuse_negative_distances,
    space_of,
)

__all__ = [
    "Embedding",
    "Neighborhoods",
    "Placement",
    "Recipe",
    "about_graph",
    "about_ties",
    "embed",
    "embed_parts",
    "empty_embedding",
    "find_neighborhoods",
    "given_distances",
    "local_problem",
    "metric_of",
    "place",
    "refuse_negative_distances",
    "space_of",
]
