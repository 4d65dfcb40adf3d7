"""Plans of locally linear embedding: they follow sizes, graphs and limits, and their memory holds."""

import numpy as np
import pytest
from scipy import sparse

from mercer.budget import Budget
from mercer.errors import MemoryLimitError
from mercer.linalg.alignment import alignment_matrix
from mercer.linalg.neighbors import Points
from mercer.linalg.shift_invert import DenseBottom
from mercer.planning.plan_lle import LLEProblem, estimate_width, graph_width, plan_lle
from support.local import roll

LARGE = Budget(64 * 10**9, 1)


def problem(n, **changes):
    given = dict(n_features=3, n_components=2, n_neighbors=12, row_bytes=24.0)
    return LLEProblem(n, **(given | changes))


def alignment(X, k=10):
    space = Points.from_rows(X)
    return alignment_matrix(space, space.nearest(k).indices, "standard", n_components=2, reg=1e-3, modified_tol=1e-12)


def test_small_matrices_go_to_lapack_unless_another_solver_is_requested():
    assert isinstance(plan_lle(problem(400), LARGE).solver, DenseBottom)
    assert plan_lle(problem(400, eigen_solver="arpack"), LARGE).solver.factor == "sparse"
    assert plan_lle(problem(401), LARGE).route == "sparse"


def test_the_graph_decides_between_factors():
    assert plan_lle(problem(5000, width=150.0), LARGE).route == "sparse"
    assert plan_lle(problem(5000, width=4000.0), LARGE).route == "dense"
    for name, factor in (("arpack", "sparse"), ("dense", "dense")):
        for width in (150.0, 4000.0):
            assert plan_lle(problem(5000, width=width, eigen_solver=name), LARGE).solver.factor == factor


def test_landmarks_replace_what_does_not_fit_or_takes_too_long():
    slow = plan_lle(problem(100_000, width=70_000.0), LARGE)
    assert slow.route == "landmarks" and slow.n_landmarks == 10_000 and "10,000 landmarks" in str(slow.warning)
    tight = plan_lle(problem(30_000), Budget(100 * 10**6, 1))
    assert tight.route == "landmarks" and tight.memory <= 100 * 10**6 and tight.warning is not None
    assert tight.n_landmarks in (10_000, 5_000, 2_000, 1_000, 500)
    with pytest.raises(MemoryLimitError) as caught:
        plan_lle(problem(30_000, eigen_solver="dense"), Budget(100 * 10**6, 1))
    assert caught.value.remedies[0].parameter == "memory_limit" and caught.value.needed > caught.value.limit


def test_requested_landmarks_are_taken_or_refused():
    plan = plan_lle(problem(50_000, n_landmarks=700), LARGE)
    assert plan.n_landmarks == 700 and plan.warning is None and plan.pool_size == 5600
    assert plan_lle(problem(600, n_landmarks=700), LARGE).n_landmarks == 0
    with pytest.raises(MemoryLimitError):
        plan_lle(problem(50_000, n_landmarks=40_000), Budget(30 * 10**6, 1))


@pytest.mark.parametrize("n", [200, 900])
def test_the_width_of_a_path_and_of_a_grid(n):
    path = sparse.csc_array(sparse.diags_array([np.ones(n - 1)] * 2, offsets=[-1, 1]))
    assert graph_width(path, n // 2) <= 2
    side = 30
    line = sparse.diags_array([np.ones(side - 1)] * 2, offsets=[-1, 1])
    grid = sparse.csc_array(sparse.kronsum(line, line))
    assert side <= graph_width(grid) <= 2 * side  # its smallest separators have `side` samples


def test_the_width_is_that_of_the_largest_component():
    block = sparse.csc_array(np.ones((40, 40)))
    both = sparse.csc_array(sparse.block_diag([block, sparse.csc_array(np.ones((9, 9)))]))
    assert graph_width(both, 0) == graph_width(both, 45) == 39


@pytest.mark.parametrize(
    ("X", "dense"), [(roll(6000)[0], False), (np.random.default_rng(0).normal(size=(6000, 12)), True)]
)
def test_widths_are_extrapolated_from_samples(X, dense):
    space = Points.from_rows(X)
    found = estimate_width(space, 10, np.random.default_rng(0))
    actual = graph_width(alignment(X))
    assert actual / 4 < found < 4 * actual
    assert (plan_lle(problem(6000, width=found), LARGE).route == "dense") == dense


def test_planned_factors_are_about_as_large_as_factors_are():
    from mercer.linalg.shift_invert import SparseFactor

    for X in (roll(4000)[0], np.random.default_rng(0).normal(size=(2000, 4))):
        M = alignment(X)
        factor = SparseFactor(M, 1e-9)
        entries = factor.lu.L.nnz + factor.lu.U.nnz
        planned = 1.2 * len(X) * min(graph_width(M), len(X)) + 2 * M.nnz
        assert entries / 1.2 < planned < 4 * entries
