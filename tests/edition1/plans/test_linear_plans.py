"""Plans of linear PCA: sizes decide, and the plan says why."""

from dataclasses import replace

import pytest

from mercer import PCA
from mercer_old.errors import NoRoom
from mercer_old.limits import Limits
from mercer_old.plans.linear import LinearProblem, choose_linear_plan
from support.linear import TALL


@pytest.mark.parametrize(
    ("sizes", "held"),
    [
        (dict(n=150, d=4, k=2), "rows"),
        (dict(n=2_000_000, d=256, k=20), "scatter"),
        (dict(n=2_000_000, d=256, k=20, held=False), "scatter"),
        (dict(n=20_000, d=5000, k=20), "products"),
        (dict(n=20_000, d=5000, k=20, held=False), "scatter"),
        (dict(n=20_000, d=5000, k=1000), "scatter"),
        (dict(n=500, d=100_000, k=20), "gram"),
        (dict(n=400, d=100_000, k=None), "rows"),
        (dict(n=100_000, d=20_000, k=20), "products"),
        (dict(n=100_000, d=20_000, k=20, held=False), "products"),
        (dict(n=1_000_000, d=20_000, k=20, sparse=True, density=0.001), "products"),
        (dict(n=100_000, d=2000, k=20, sparse=True, density=0.05), "scatter"),
        (dict(n=100_000, d=50, k=20, whole=True), "scatter"),
        (dict(n=100_000, d=50, k=20, solver="qr"), "triangle"),
        (dict(n=100_000, d=50, k=20, solver="full", held=False), "triangle"),
    ],
    ids=str,
)
def test_sizes_decide_and_the_plan_says_why(sizes, held):
    plan = choose_linear_plan(LinearProblem(**sizes), Limits(20_000_000_000, 2))
    assert plan.held == held and plan.why.endswith(".") and plan.memory > 0


def test_where_the_fastest_way_does_not_fit_another_is_taken_or_all_is_refused_at_once():
    problem = LinearProblem(n=100_000, d=4000, k=1000)
    assert choose_linear_plan(problem, Limits(10**10, 2)).held == "scatter"
    with pytest.raises(NoRoom, match=r"needs .* over the limit of 10 MB\. Give a larger memory_limit"):
        choose_linear_plan(problem, Limits(10**7, 2))
    few = LinearProblem(n=3_000_000, d=900, k=5)
    assert choose_linear_plan(few, Limits(10**8, 2)).held == "products"


def test_plan_touches_nothing_and_is_what_fit_does():
    model = PCA(2)
    plan = model.plan(TALL)
    assert not hasattr(model, "components_") and replace(plan, seconds=None) == model.fit(TALL).plan_
