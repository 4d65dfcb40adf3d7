"""Which kernel, which bandwidth: kernels compared on the same rows, folds and distances.

`candidates` makes kernels and their matrices, distances once; `folds` finds components without each of the folds, from
warm starts; `judges` say how good they are (by the `way_back` to rows, by labels, by what a model learns from them), by
formulas of `criteria`; `search` prunes, compares and chooses; `comparing` puts it all together, and `wording` says it.
Arrays and kernels go in: who opens files and draws a sample stands above.
"""

from mercer_old.readings.tuning.candidates import FACTORS, NAMED, USUAL, Candidate, KnownDistances, candidates_of
from mercer_old.readings.tuning.comparing import Comparison, compare_kernels
from mercer_old.readings.tuning.criteria import agreement, effective_rank, kernel_target_alignment
from mercer_old.readings.tuning.folds import FoldScores, cut_into_folds
from mercer_old.readings.tuning.judges import Alignment, Downstream, Judge, WayBack
from mercer_old.readings.tuning.search import Found, Trial, choose, find_best
from mercer_old.readings.tuning.way_back import Curved, leave_one_out_ridge
from mercer_old.readings.tuning.wording import doubts, kernel_in_words, reason

__all__ = [
    "FACTORS",
    "NAMED",
    "USUAL",
    "Alignment",
    "Candidate",
    "Comparison",
    "Curved",
    "Downstream",
    "FoldScores",
    "Found",
    "Judge",
    "KnownDistances",
    "Trial",
    "WayBack",
    "agreement",
    "candidates_of",
    "choose",
    "compare_kernels",
    "cut_into_folds",
    "doubts",
    "effective_rank",
    "find_best",
    "kernel_in_words",
    "kernel_target_alignment",
    "leave_one_out_ridge",
    "reason",
]
