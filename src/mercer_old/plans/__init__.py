"""What will be done, and why: pure functions of sizes and the budget.

A plan names a solver, the form in which the matrix is held, the memory at the peak and its reason in words; `kernel`,
`linear` and `local` choose one for each family, and `sizes` counts what a kernel problem takes. No clock and no reading
of free memory decides, so that runs repeat. `seconds` and `pace` foretell how long it takes, `share` how many
components a share of the variance needs, and `fill` how full a sparse factor becomes.
"""

from mercer_old.plans.fill import probe_fill
from mercer_old.plans.kernel import LAPACK_ROWS, certified_plan, choose_plan
from mercer_old.plans.linear import (
    COLUMN_ENTRIES,
    LAPACK_SIDE,
    LinearProblem,
    choose_linear_plan,
    refuse_too_wide,
    rows_plan,
    scatter_plan,
    triangle_plan,
)
from mercer_old.plans.local import LAPACK_ITEMS, LocalProblem, choose_local_plan
from mercer_old.plans.pace import linear_plan_ahead, local_plan_ahead, plan_ahead
from mercer_old.plans.plan import Plan
from mercer_old.plans.seconds import Work, eigenvalue_work, kernel_work, linear_work
from mercer_old.plans.share import FIRST_GUESS, Share, components_explaining, foretell_share, number_to_plan_for
from mercer_old.plans.sizes import Problem

__all__ = [
    "COLUMN_ENTRIES",
    "FIRST_GUESS",
    "LAPACK_ITEMS",
    "LAPACK_ROWS",
    "LAPACK_SIDE",
    "LinearProblem",
    "LocalProblem",
    "Plan",
    "Problem",
    "Share",
    "Work",
    "certified_plan",
    "choose_linear_plan",
    "choose_local_plan",
    "choose_plan",
    "components_explaining",
    "eigenvalue_work",
    "foretell_share",
    "kernel_work",
    "linear_plan_ahead",
    "linear_work",
    "local_plan_ahead",
    "number_to_plan_for",
    "plan_ahead",
    "probe_fill",
    "refuse_too_wide",
    "rows_plan",
    "scatter_plan",
    "triangle_plan",
]
