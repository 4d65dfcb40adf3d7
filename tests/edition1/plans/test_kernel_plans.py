"""Plans of kernel PCA: they follow from sizes, stay within limits and say why."""

from dataclasses import replace

import pytest

from mercer_old.errors import NoRoom
from mercer_old.limits import Limits
from mercer_old.plans.kernel import choose_plan
from mercer_old.plans.seconds import kernel_work
from mercer_old.plans.sizes import Problem, Spread
from mercer_old.solvers.warm import start_columns

# ---------------------------------------------------------------------- the plan


GB = 10**9


def on(workers, room=None):
    """Small chunks on so many workers."""
    return Spread(80, 5000, workers, room)


@pytest.mark.parametrize(
    ("problem", "memory", "solver", "held", "why"),
    [
        (Problem(n=300, k=5, width=10), GB, "Dense", "gram", "300 rows are few"),
        (Problem(n=5000, k=5, width=10), GB, "BlockKrylov", "gram", "K takes 200 MB and fits into 1 GB"),
        (Problem(n=5000, k=600, width=10), 2 * GB, "Dense", "gram", "600 of 5,000 components are so many"),
        (Problem(n=5000, k=None, width=10), 2 * GB, "Dense", "gram", "5,000 of 5,000 components"),
        (Problem(n=5000, k=5, width=10, n_features=10), GB, "Factored", "features", "10 exact features"),
        (Problem(n=10**6, k=5, width=50, n_features=50), GB, "Factored", "features", "a 50×50 problem"),
        (Problem(n=5000, k=5, width=784, n_features=784), GB, "BlockKrylov", "features", "5,000×784 features"),
        (Problem(n=5000, k=100, width=784, n_features=784), GB, "Factored", "features", "a 784×784 problem"),
        (Problem(n=60, k=5, width=6000, n_features=6000), GB, "Dense", "features", "60 rows are few"),
        (Problem(n=2000, k=5, width=9000, n_features=9000), GB, "BlockKrylov", "features", "never multiplied out"),
        (
            Problem(n=9000, k=5, width=30_000, n_features=30_000, sparse=True),
            GB,
            "BlockKrylov",
            "features",
            "30,000 features",
        ),
        (
            Problem(n=90_000, k=5, width=30_000, n_features=30_000, sparse=True),
            GB,
            "BlockKrylov",
            "features",
            "90,000×30,000 features",
        ),
        (
            Problem(n=10**6, k=10, width=7, n_features=50_000, sparse_features=True),
            3 * GB,
            "FactoredKrylov",
            "features",
            "1,000,000×50,000 features are never multiplied out",
        ),
        (
            Problem(n=10**5, k=10, width=90, n_features=90_000, sparse_features=True),
            3 * GB,
            "BlockKrylov",
            "features",
            "100,000×90,000 features are never multiplied out",
        ),
        (Problem(n=12_000, k=5, width=10), 4 * GB, "BlockKrylov", "gram", "K takes 1.15 GB and fits into 4 GB"),
        (
            Problem(n=12_000, k=5, width=10),
            GB // 2,
            "WarmKrylov",
            "recomputed",
            "K would take 1.15 GB, against a limit",
        ),
        (Problem(n=20_000, k=20, width=30), 12 * GB, "WarmKrylov", "recomputed", "faster than filling it once"),
        (Problem(n=20_000, k=20, width=30, tol=1e-9), 12 * GB, "BlockKrylov", "gram", "K takes 3.2 GB"),
        (Problem(n=20_000, k=20, width=30, entry_cost=2000), 12 * GB, "BlockKrylov", "gram", "K takes 3.2 GB"),
        (Problem(n=20_000, k=20, width=30, sparse=True), 12 * GB, "BlockKrylov", "gram", "K takes 3.2 GB"),
        (Problem(n=20_000, k=20, width=30, psd=False), GB, "BlockKrylov", "recomputed", "no warm start"),
        (Problem(n=80_000, k=20, width=30), 2 * GB, "WarmKrylov", "recomputed", "K would take 51.2 GB"),
        (Problem(n=200_000, k=20, width=30), 3 * GB, "WarmKrylov", "recomputed", "K would take 320 GB"),
        (Problem(n=400_000, k=20, width=30, max_passes=9), 12 * GB, "WarmKrylov", "recomputed", "K would take 1.28 TB"),
        (Problem(n=400_000, k=20, width=30), 12 * GB, "Landmarks", "landmarks", "so there is only one"),
        (
            Problem(n=10**7, k=20, width=30),
            12 * GB,
            "Landmarks",
            "landmarks",
            "a single pass over the matrix would take",
        ),
        (
            Problem(n=10**6, k=20, width=30),
            2 * GB,
            "Landmarks",
            "landmarks",
            "a single pass over the matrix would take",
        ),
        (Problem(n=200_000, k=20, width=30), GB // 2, "Landmarks", "landmarks", "nothing that certifies"),
        (
            Problem(n=20_000, k=20, width=30, chunks=on(8)),
            GB,
            "WarmKrylov",
            "spread",
            "shared out to 8 workers, in 21 tasks",
        ),
        (Problem(n=20_000, k=20, width=30, psd=False, chunks=on(1)), GB, "BlockKrylov", "spread", "to 1 worker"),
        (Problem(n=5000, k=5, width=10, chunks=on(8)), GB, "BlockKrylov", "gram", "too little to be shared out"),
        (Problem(n=9000, k=5, chunks=on(8), eigen_solver="landmark"), GB, "Landmarks", "landmarks", "asked for"),
        (
            Problem(n=9000, k=5, chunks=on(8), n_landmarks=50, refine=1, eigen_solver="landmark"),
            GB,
            "Landmarks",
            "landmarks",
            "shared out to 8",
        ),
        (Problem(n=400_000, k=20, width=30, chunks=on(64)), 12 * GB, "WarmKrylov", "spread", "to 64 workers"),
        (Problem(n=9000, k=5, eigen_solver="landmark"), 12 * GB, "Landmarks", "landmarks", "landmarks were asked for"),
        (Problem(n=5000, k=5, width=10, eigen_solver="dense"), 2 * GB, "Dense", "gram", "asked for"),
        (Problem(n=5000, k=5, width=10, eigen_solver="arpack"), GB, "BlockKrylov", "gram", "fits"),
        (Problem(n=5000, k=5, width=5000, given=True), GB, "BlockKrylov", "given", "the matrix is there"),
    ],
)
def test_the_plan_follows_from_sizes_and_says_why(problem, memory, solver, held, why):
    plan = choose_plan(problem, Limits(memory, 2))
    assert (type(plan.solver).__name__, plan.held) == (solver, held)
    assert why in plan.why and why in str(plan)


def sparse_problem(n, d, each, **how):
    return Problem(n=n, k=5, width=d, working=each + 4, n_features=d, sparse=True, stored=n * each, **how)


@pytest.mark.parametrize(
    ("n", "d", "each", "memory", "held"),
    [
        (300, 3_000_000, 100, 12 * GB, "gram"),
        (5000, 5_000_000, 50, 12 * GB, "gram"),
        (2000, 100_000, 1000, 12 * GB, "gram"),
        (11_000, 200_000, 100, 12 * GB, "features"),  # K takes a gigabyte
        (20_000, 50_000, 50, 12 * GB, "features"),
        (40_000, 1_000_000, 20, 6 * GB // 10, "features"),
        (60_000, 10_000_000, 20, GB // 2, "recomputed"),  # neither K nor products with features fit
    ],
)
def test_sparse_rows_are_multiplied_unless_that_takes_more_than_their_matrix(n, d, each, memory, held):
    plan = choose_plan(sparse_problem(n, d, each), Limits(memory, 2))
    assert plan.held == held and plan.memory <= memory
    scaled = choose_plan(sparse_problem(n, d, each, free_features=False), Limits(memory, 2))
    assert scaled.held == held and scaled.memory <= memory


@pytest.mark.parametrize("problem", [Problem(n=10**6, k=20, width=30, tol=1e-5), Problem(n=20_000, k=None, width=30)])
def test_what_does_not_fit_is_said_before_anything_is_allocated(problem):
    with pytest.raises(MemoryError, match="over the limit of 2 GB"):
        choose_plan(problem, Limits(2 * GB, 2))


# ---------------------------------------------------------------------- warm starts


def test_one_pass_has_to_do_where_passes_take_minutes():
    few = choose_plan(Problem(n=200_000, k=20, width=30), Limits(12 * GB, 2))
    many = choose_plan(Problem(n=400_000, k=20, width=30), Limits(12 * GB, 2))
    asked = choose_plan(Problem(n=400_000, k=20, width=30, max_passes=9), Limits(12 * GB, 2))
    assert (few.solver.max_passes, many.solver.refine, asked.solver.max_passes) == (300, 1, 9)
    assert few.warning == asked.warning == "" and "there is only one" in many.notice and many.warning in str(many)
    assert many.solver.count >= 1000 and not many.streams


@pytest.mark.parametrize("n", [15_000, 80_000, 200_000])
@pytest.mark.parametrize("memory", [0.3, 0.5, 1, 2, 12])
def test_the_plan_stays_within_the_limit_or_says_so(n, memory):
    try:
        plan = choose_plan(Problem(n=n, k=20, width=30, eigen_solver="krylov"), Limits(int(memory * GB), 2))
    except MemoryError as error:
        assert "over the limit" in str(error) and n * memory > 2e4
        plan = choose_plan(Problem(n=n, k=20, width=30), Limits(int(memory * GB), 2))
        assert plan.streams and plan.memory <= memory * GB and "Landmarks are used instead" in plan.warning
    else:
        assert plan.memory <= memory * GB and plan.solver.rank >= 50


# ---------------------------------------------------------------------- shared out


def test_bytes_that_move_and_seconds_follow_from_workers():
    """Rows of 4.8 MB come here, are cut, and go to both workers; columns go to both, and come from six pieces."""
    problem, limits = Problem(n=20_000, k=10, width=30, loaded=4_800_000, chunks=on(2)), Limits(GB, 2)
    plan = choose_plan(problem, limits)
    columns = 10 + start_columns(10)
    assert plan.moved == 4 * 4_800_000 + plan.passes * 8 * 20_000 * columns * (2 + 6)
    here, many = replace(problem, chunks=None), replace(problem, chunks=on(16))
    alone, few, lots = (kernel_work(choose_plan(p, limits), p).seconds(2, p.workers) for p in (here, problem, many))
    assert lots < few < 1.5 * alone


def test_a_worker_without_room_is_refused_with_the_numbers_or_landmarks_take_over():
    small = Problem(n=200_000, k=20, width=300, loaded=8 * 300 * 200_000, chunks=on(4, GB // 2))
    with pytest.raises(NoRoom, match=r"A worker of the cluster needs [\d.]+ GB .*200,000 rows.* has 500 MB"):
        choose_plan(replace(small, tol=1e-5), Limits(12 * GB, 2))
    plan = choose_plan(small, Limits(12 * GB, 2))
    assert plan.held == "landmarks" and "A worker of the cluster needs" in plan.warning
    assert choose_plan(replace(small, chunks=on(4, 8 * GB)), Limits(12 * GB, 2)).held == "spread"
