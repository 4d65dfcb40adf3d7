"""What an answer says: numbers computed from fitted ones, or from any coordinates.

`rules/` say how many components to keep (`components` has formulas of theirs), `preimages/` the ways back from scores
to rows (`preimage` scikit-learn's), `quality` how much of the neighbourhoods an embedding keeps (by `ranks` of
`distances`), `similar` which items are most like others, `influence` how components change with every column (told by
`driving`), `contributions` who made them, `clustering` whether they show clusters, `columns` what the columns alone
tell, `novelty` how new a row is and what a score of that means, `tuning/` which kernel and bandwidth suit the rows, and
`stability` which components other rows would give again. A reading changes nothing. It needs no model, and none of
ours.
"""

from mercer_old.readings.columns import FEW_ROWS, about_unit, about_units, constant, dominating
from mercer_old.readings.components import fewest_for_share, shares
from mercer_old.readings.novelty import (
    Calibration,
    benjamini_hochberg,
    hotelling_t2,
    monitoring_index,
    squared_residuals,
    sum_of_projections,
    t2_contributions,
    variance_left,
    with_variance,
)
from mercer_old.readings.preimage import apply_inverse, learn_inverse
from mercer_old.readings.quality import co_ranking, continuity, trustworthiness
from mercer_old.readings.similar import Similar, find_similar, refuse_wrong_question, seen_by

__all__ = [
    "FEW_ROWS",
    "Calibration",
    "Similar",
    "about_unit",
    "about_units",
    "apply_inverse",
    "benjamini_hochberg",
    "co_ranking",
    "constant",
    "continuity",
    "dominating",
    "fewest_for_share",
    "find_similar",
    "hotelling_t2",
    "learn_inverse",
    "monitoring_index",
    "refuse_wrong_question",
    "seen_by",
    "shares",
    "squared_residuals",
    "sum_of_projections",
    "t2_contributions",
    "trustworthiness",
    "variance_left",
    "with_variance",
]
