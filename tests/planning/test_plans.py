"""Plans of linear fits: routes by size, memory limits, and a change of route in the middle of a fit."""

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from mercer.budget import Budget
from mercer.errors import MemoryLimitError, MercerWarning, Remedy
from mercer.estimators import PCA, _linear_solve
from mercer.linalg.krylov import BlockKrylov
from mercer.planning.plan import Plan, check_memory
from mercer.planning.plan_linear import LinearSizes, plan_linear, plan_small

LARGE = Budget(10**12, 4)


def sizes(n, d, k=10, **options):
    return LinearSizes(n, d, k, min(n, d), **options)


@pytest.mark.parametrize(
    ("case", "route"),
    [
        (sizes(400, 300), "rows"),
        (sizes(1_000_000, 50), "scatter"),
        (sizes(1_000_000, 700), "scatter"),
        (sizes(1_000_000, 700, in_memory=False), "scatter"),
        (sizes(100_000, 20_000), "products"),
        (sizes(30_000, 4000, None), "scatter"),
        (sizes(30_000, 4000, 1000), "scatter"),
        (sizes(2000, 100_000, 20, itemsize=1, small_integers=True), "gram"),
        (sizes(2000, 100_000, 20, in_memory=False), "gram"),
        (sizes(2000, 100_000, None), "gram"),
        (sizes(300_000, 2000, 50, nnz=42_000_000), "products"),
        (sizes(300_000, 300, 50, nnz=6_000_000), "scatter"),
        (sizes(300_000, 2000, 500, nnz=3_000_000), "scatter"),
        (sizes(60_000, 30_000, None, nnz=10_000_000), "products"),  # a fraction
        (sizes(60_000, 4000, None, nnz=10_000_000), "scatter"),
        (sizes(20_000, 8000, None, by_rule=True), "scatter"),
    ],
)
def test_sizes_decide(case, route):
    plan = plan_linear(case, LARGE)
    assert plan.route == route and plan.reason and plan.memory > 0 and plan.flops > 0


@pytest.mark.parametrize(
    ("solver", "route"),
    [("full", "rows"), ("covariance_eigh", "scatter"), ("qr", "qr"), ("gram", "gram"), ("krylov", "products")],
)
def test_a_solver_by_name_decides(solver, route):
    plan = plan_linear(sizes(5000, 700, svd_solver=solver), LARGE)
    assert plan.route == route and "svd_solver" in plan.reason
    assert plan_linear(sizes(5000, 700, svd_solver="arpack"), LARGE) == plan_linear(sizes(5000, 700), LARGE)


@pytest.mark.parametrize(("k", "route"), [(10, "products"), (50, "scatter")])
def test_a_direct_method_is_certain_so_it_may_cost_more_than_block_lanczos_is_expected_to(k, route):
    case = sizes(60_000, 1000, k, nnz=4_390_000)
    direct = plan_linear(case._replace(svd_solver="covariance_eigh"), LARGE)
    assert 15 < direct.flops / case.pass_flops < 19.5  # 13 passes are expected for 50 components
    assert plan_linear(case, LARGE).route == route


def test_block_lanczos_may_cost_as_much_as_the_direct_method():
    case = sizes(300_000, 2000, 50, nnz=42_000_000)
    plan = plan_linear(case, LARGE)
    direct = plan_linear(case._replace(svd_solver="covariance_eigh"), LARGE)
    assert isinstance(plan.solver, BlockKrylov)
    assert plan.solver.max_passes == int(direct.flops / case.pass_flops) > 15
    tight = plan_linear(case, Budget(direct.memory - 1, 4))  # nothing to change over to
    assert tight.solver.max_passes == BlockKrylov().max_passes


def test_plans_do_not_depend_on_the_number_of_threads():
    for case in (sizes(100_000, 1500), sizes(100_000, 20_000), sizes(2000, 100_000)):
        one, four = (plan_linear(case._replace(n_threads=n), Budget(10**12, n)) for n in (1, 4))
        assert (one.route, one.solver, one.reason, one.flops) == (four.route, four.solver, four.reason, four.flops)


def test_small_memory_means_products_or_an_error():
    case = sizes(40_000, 800)
    direct = plan_linear(case, LARGE)
    tight = plan_linear(case, Budget(direct.memory - 1, 1))
    assert direct.route == "scatter" and tight.route == "products" and "memory" in tight.reason
    with pytest.raises(MemoryLimitError) as caught:
        plan_linear(case, Budget(10**6, 1))
    assert caught.value.limit == 10**6 < caught.value.needed
    with pytest.raises(MemoryLimitError):
        plan_linear(case._replace(by_rule=True, n_components=None), Budget(direct.memory // 2, 1))


@pytest.mark.parametrize(
    ("shape", "route"), [((150, 4), "scatter"), ((100, 2500), "gram"), ((60, 50), "rows"), ((500, 400), "rows")]
)
def test_small_arrays_have_plans_of_their_own(shape, route):
    assert plan_small(*shape).route == route


def test_a_plan_is_a_line_and_plain_data():
    warning = MercerWarning("few rows", remedies=[Remedy("n_components", 2)])
    plan = replace(plan_linear(sizes(1_000_000, 50), LARGE), warning=warning)
    assert plan.summary in str(plan) and "n_components=2" in str(plan) and not plan.approximate
    assert json.loads(json.dumps(plan.to_dict()))["solver"] == "LAPACK"
    assert Plan("landmarks").approximate
    with pytest.raises(MemoryLimitError) as caught:
        check_memory(replace(plan, memory=2000), Budget(1000, 1), (Remedy("n_jobs", 1),))
    assert caught.value.remedies == (Remedy("n_jobs", 1),)


@pytest.mark.parametrize(
    "X",
    [
        np.random.default_rng(0).normal(size=(200, 5)),
        np.random.default_rng(0).normal(size=(7000, 40)),
        np.random.default_rng(0).normal(size=(40, 7000)),
        sparse.random_array((3000, 600), density=0.02, rng=np.random.default_rng(0), format="csr"),
    ],
    ids=["small", "tall", "wide", "sparse"],
)
@pytest.mark.parametrize("weighted", [False, True])
def test_the_plan_ahead_is_the_plan_of_the_fit(X, weighted):
    weights = np.ones(X.shape[0]) if weighted else None
    model = PCA(3)
    ahead = model.plan(X, sample_weight=weights)
    assert ahead == model.fit(X, sample_weight=weights).plan_
    assert not hasattr(PCA(3), "n_features_in_")


@pytest.fixture
def hard():
    """Sparse noise: no gap after the tenth component."""
    return sparse.random_array((4000, 700), density=0.05, rng=np.random.default_rng(1), format="csr")


def test_a_fit_changes_its_route_when_passes_cost_as_much(hard, monkeypatch):
    planned = PCA(10).plan(hard)
    expensive = replace(planned, route="products", solver=BlockKrylov(1e-8, 16, max_passes=5))
    problem = PCA(10)
    monkeypatch.setattr("mercer.estimators._linear_solve.plan_linear", lambda sizes, budget: expensive)
    model = problem.fit(hard)
    assert model.plan_.route == "scatter" and "block Lanczos" in model.plan_.reason
    assert model.certificate_.certified
    expected = np.linalg.svd(hard.toarray() - hard.mean(axis=0), compute_uv=False)[:10]
    np.testing.assert_allclose(model.singular_values_, expected, rtol=1e-10)


def test_a_requested_solver_is_not_changed(hard):
    with pytest.warns(MercerWarning, match="direction"):
        model = PCA(10, svd_solver="krylov", tol=0.5).fit(hard)
    assert model.plan_.route == "products" and not model.certificate_.certified
    assert model.certificate_.summary.startswith("10 components NOT certified: completeness")


def test_an_incomplete_result_is_repeated_if_the_direct_route_costs_little(hard, monkeypatch):
    monkeypatch.setattr(_linear_solve, "exclude_missed", lambda solver, A, pairs, rng: (pairs, np.inf, "unknown"))
    planned = replace(PCA(3).plan(hard), route="products", solver=BlockKrylov(1e-8, 16))
    monkeypatch.setattr("mercer.estimators._linear_solve.plan_linear", lambda sizes, budget: planned)
    assert PCA(3).fit(hard).plan_.route == "scatter"
