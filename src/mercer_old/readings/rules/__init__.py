"""How many components: every rule, each a function of a scree that gives an opinion.

`scree` has what rules look at and say; `shape`, `noise` and `likelihood` the rules on variances alone, `drawn` those
that draw noise from rows, `labels` the one that knows labels, by the laws of `marchenko_pastur` and `tracy_widom`.
`known` lists them all, `keeping` asks one for a fit, `suggestion` sets them side by side. No rule fits a model.
"""

from mercer_old.readings.rules.keeping import number_to_keep
from mercer_old.readings.rules.known import KERNEL_RULES, LINEAR_RULES, Rule
from mercer_old.readings.rules.scree import Opinion, Scree
from mercer_old.readings.rules.suggestion import Suggestion

__all__ = [
    "KERNEL_RULES",
    "LINEAR_RULES",
    "Opinion",
    "Rule",
    "Scree",
    "Suggestion",
    "number_to_keep",
]
