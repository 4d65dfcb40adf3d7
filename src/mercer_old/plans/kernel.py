"""Which way to take: a pure function of sizes and the budget, which gives its reason."""

from collections.abc import Callable
from dataclasses import replace
from math import isqrt

from mercer_old.blocks import rows_at_a_time
from mercer_old.errors import NoRoom, counted
from mercer_old.limits import Limits, bytes_in_words
from mercer_old.plans.plan import BUFFERS, HELD_TOL, Plan, seconds_in_words, within
from mercer_old.plans.sizes import Problem
from mercer_old.plans.spread import done_here, gathered, shared_out
from mercer_old.solvers.completeness import PROBES
from mercer_old.solvers.dense import Dense
from mercer_old.solvers.feature_side import Factored, FactoredKrylov
from mercer_old.solvers.krylov import BlockKrylov
from mercer_old.solvers.landmarks import Landmarks
from mercer_old.solvers.pivoted import proposals
from mercer_old.solvers.warm import WarmKrylov, start_columns

_FEWEST_TO_ITERATE = 64  # rows up to which a block solver has nothing to iterate on
LAPACK_ROWS = 500  # rows up to which LAPACK is as fast as anything
_HELD = 12_000  # rows up to which holding K is faster than evaluating it anew, whatever the memory
_DEAR = 15.0  # nanoseconds: entries that cost more are held if they fit
_SMALL_BLOCK, _LARGE_BLOCK = 8, 16  # columns a pass over a held matrix, for few and for many components
_RECOMPUTED_TOL = WarmKrylov.tol
_BUDGET = 600.0  # nominal seconds that all passes may take before one exact pass has to do
_WARM_PASSES = 4  # what a warm start usually takes
_FEWEST_PIVOTS = 50
_LANDMARKS, _MOST_LANDMARKS, _FEWEST_LANDMARKS = 1000, 3000, 50
_BEFORE_A_PASS = 2000  # landmarks where one exact pass follows, which takes longer than they do
_CHOSEN_FROM, _FEWEST_CHOSEN_FROM = 16, 2  # rows to choose a landmark from, at least, and if memory is short
_MOST_CHOSEN_FROM, _CHOSEN_ENTRIES = (
    100_000,
    20_000_000,
)  # rows to choose landmarks from, and entries looked at meanwhile


def choose_plan(problem: Problem, limits: Limits) -> Plan:
    """Sizes and the memory limit alone decide, no clock and no reading of free memory, so that runs repeat.

    Landmarks are taken if they were asked for, and with a warning if nothing that is certified fits. For a share of the
    variance, the plan is that for the most components it is expected to take, if that fits.
    """
    if not problem.share:
        return _choose(problem, limits)
    share, ways = problem.share, (*_IN_MEMORY, _one_exact_pass, _no_pass_at_all, _recomputed)
    known = share.rows and problem.eigen_solver != "landmark"
    for k in dict.fromkeys((share.high, share.likely, share.low)) if known else ():
        try:
            return replace(_first(replace(problem, k=k), limits, ways), components=share)
        except NoRoom:
            continue
    try:
        return replace(_choose(problem, limits), components=share)
    except NoRoom as error:
        raise NoRoom(f"{share}. {error} A smaller share takes fewer.") from None


def _choose(problem: Problem, limits: Limits) -> Plan:
    """For a number of components."""
    if problem.eigen_solver == "landmark":
        return _within(limits, _landmarks(problem, limits, "landmarks were asked for."), problem)
    try:
        return _first(problem, limits, (*_IN_MEMORY, _one_exact_pass, _no_pass_at_all, _recomputed))
    except NoRoom as error:
        if not _may_approximate(problem):
            raise
        plan = _landmarks(problem, limits, "nothing that certifies each component fits.")
        try:
            plan = _within(limits, plan, problem)
        except NoRoom:
            raise error from None
        return replace(plan, warning=f"{error} Landmarks are used instead; the certificate says what they miss.")


def certified_plan(problem: Problem, limits: Limits) -> Plan:
    """The same without landmarks, whatever it takes."""
    return _first(problem, limits, (*_IN_MEMORY, _recomputed))


def _first(problem: Problem, limits: Limits, ways: tuple[Callable[[Problem, Limits], Plan | None], ...]) -> Plan:
    """The plan of the first way that takes the problem."""
    plan = next(plan for way in ways if (plan := way(problem, limits)) is not None)
    return _within(limits, _by_workers(problem, plan, limits) if problem.workers else plan, problem)


def _by_workers(p: Problem, plan: Plan, limits: Limits) -> Plan:
    """What the workers of a cluster do of a plan, in words."""
    if plan.held in ("spread", "landmarks"):
        return plan
    return gathered(p, plan, limits.threads) if plan.held == "gram" else done_here(plan)


# ---------------------------------------------------------------------- the ways, in the order they are tried


def _dense_if_asked(p: Problem, limits: Limits) -> Plan | None:
    return _dense(p, "it was asked for by eigen_solver.") if p.eigen_solver == "dense" else None


def _feature_side(p: Problem, limits: Limits) -> Plan | None:
    """The D×D side: D so small that LAPACK takes no time, or so many components that nothing else pays."""
    D, k = p.n_features or 0, p.wanted
    if p.given or not p.narrow or not (10 * k > D or D <= LAPACK_ROWS):
        return None
    solving, making = 8 * (4 * p.n * min(k, D) + 3 * D * D), p.matrix_bytes("features", limits.threads)
    memory = p.passing_bytes(limits.threads) + solving if p.cheap_features else p.with_features(making, solving)
    why = f"the kernel has {counted(D, 'exact feature')}: a {D:,}×{D:,} problem."
    return Plan(Factored(), "features", memory, why, p.tol or HELD_TOL, passes=2)


def _small_or_nearly_all(p: Problem, limits: Limits) -> Plan | None:
    k, krylov = p.wanted, p.eigen_solver == "krylov"
    if p.n <= (_FEWEST_TO_ITERATE if krylov else LAPACK_ROWS):
        rows = f"{p.n:,} rows are" if p.n > 1 else "one row is"
        return _dense(p, f"{rows} few: LAPACK on the whole matrix.")
    if 10 * k <= p.n:
        return None
    plan = _dense(p, f"{k:,} of {p.n:,} components are so many that LAPACK is faster.")
    return None if 2 * k <= p.n and (krylov or plan.memory > limits.memory) else plan


def _features(p: Problem, limits: Limits) -> Plan | None:
    if p.given or not (p.narrow or p.no_wider_than_rows or p.sparse_features):
        return None
    if p.far_wider and (held := _held(p, limits)):
        return held
    why = f"{p.n:,}×{p.n_features or 0:,} features are never multiplied out."
    if p.far_fewer_features:
        return _among_features(p, limits, why)
    plan = _cold(p, limits, "features", why)
    return None if p.sparse and plan.memory > limits.memory else plan  # tiles of K may take less


def _among_features(p: Problem, limits: Limits, why: str) -> Plan:
    """Krylov steps on the D×D side, which is not held either."""
    k, D = p.wanted, p.n_features or 0
    solver = FactoredKrylov(_steps(p, limits, "features"))
    memory = p.with_features(p.matrix_bytes("features", limits.threads), solver.memory(p.n, D, k))
    why = f"{why} The basis has a row for each of the {D:,} features, not for each of {p.n:,} items."
    return Plan(solver, "features", memory, why, solver.steps.tol, solver.steps.usual_passes(k))


def _held(p: Problem, limits: Limits) -> Plan | None:
    if p.given:
        return _cold(p, limits, "given", "the matrix is there.")
    size = 8 * p.n**2
    fits = 2 * size <= limits.memory or (p.n <= _HELD and _cold(p, limits, "gram", "").memory <= limits.memory)
    worth = p.n <= _HELD or 0 < p.tol < 1e-6 or p.entry_cost > _DEAR or p.sparse
    if not (fits and worth):
        return None
    return _cold(p, limits, "gram", f"K takes {bytes_in_words(size)} and fits into {bytes_in_words(limits.memory)}.")


def _one_exact_pass(p: Problem, limits: Limits) -> Plan | None:
    """Landmarks, and one pass over the true matrix for residuals: where a few passes would take too long."""
    a_pass = _nominal_pass(p, limits)
    if not _may_approximate(p) or _WARM_PASSES * a_pass <= _BUDGET or a_pass > _BUDGET:
        return None
    why = f"a pass over the matrix takes about {seconds_in_words(a_pass)}, so there is only one."
    warning = "Components are as good as landmarks make them; the certificate says how good. Give max_iter for more."
    return replace(_landmarks(replace(p, refine=1), limits, why), warning=warning)


def _no_pass_at_all(p: Problem, limits: Limits) -> Plan | None:
    """Landmarks alone: where even one pass over the matrix would take too long."""
    a_pass = _nominal_pass(p, limits)
    if not _may_approximate(p) or a_pass <= _BUDGET:
        return None
    why = f"a single pass over the matrix would take about {seconds_in_words(a_pass)}."
    warning = "Landmarks are used instead; the certificate says what they miss. Give max_iter for exact passes."
    return replace(_landmarks(p, limits, why), warning=warning)


def _recomputed(p: Problem, limits: Limits) -> Plan:
    """K evaluated anew in every pass; the fewer passes, the better."""
    size = f"K would take {bytes_in_words(8 * p.n**2)}"
    if not p.psd:
        why = f"{size}; the kernel is not known to be positive semi-definite, so there is no warm start."
        plan = _cold(p, limits, p.anew, why)
        return shared_out(p, plan, 32, 32) if p.workers else plan
    solver = WarmKrylov(
        tol=p.tol or _RECOMPUTED_TOL,
        block=WarmKrylov.block_for(p.wanted),
        rank=_rank(p),
        max_passes=p.max_passes or WarmKrylov.max_passes,
        threads=limits.threads,
    )
    solver = _fitted(solver, p, limits)
    memory = p.matrix_bytes(p.anew, limits.threads) + solver.memory(p.n, p.wanted)
    why = (
        f"{size}, against a limit of {bytes_in_words(limits.memory)}."
        if 16 * p.n**2 > limits.memory
        else f"{size}; evaluating it a few times is faster than filling it once."
    )
    plan = Plan(solver, p.anew, memory, why, solver.tol, min(_WARM_PASSES, solver.max_passes))
    start = p.wanted + start_columns(p.wanted)
    return shared_out(p, plan, start, start + solver.block + PROBES + 1) if p.workers else plan


def _may_approximate(p: Problem) -> bool:
    """Whether landmarks may be taken unasked: not for what was asked for by name, and not without a Mercer kernel."""
    exact = p.tol > 0 or p.max_passes is not None or p.eigen_solver in ("dense", "krylov")
    return p.psd and not p.given and not exact and p.k is not None and 4 * p.k <= p.n


def _landmarks(p: Problem, limits: Limits, why: str) -> Plan:
    """From as large a sample as there is room for; with fewer landmarks only if nobody said how many."""
    k = p.wanted if p.k is not None else _LANDMARKS
    if p.share:  # landmarks explain what they can, and say so
        k = min(k, _MOST_LANDMARKS // 8)
    usual = max(8 * k + 100, _BEFORE_A_PASS if p.refine else _LANDMARKS)
    count = min(p.n_landmarks or min(max(usual, k + 1), max(_MOST_LANDMARKS, k + 1)), p.n)
    sample = min(p.n, max(_CHOSEN_FROM * count, min(_CHOSEN_ENTRIES // count, _MOST_CHOSEN_FROM)))
    solver, where = _where_drawn(Landmarks(count, sample, p.refine, p.tol, limits.threads), p, limits)
    rows = p.copied + p.loaded if p.refine else p.reading
    exact = p.matrix_bytes("recomputed", limits.threads) + solver.exact(p.n, min(p.wanted, count)) if p.refine else 0

    def memory(solver: Landmarks) -> int:  # one after the other: landmarks are gone when exact passes begin
        block = min(rows_at_a_time(solver.count, p.width), p.n)
        return max(exact, rows + BUFFERS + max(_factor_here(solver, p), solver.memory(p.numbers_each, block)))

    while not solver.spread and memory(solver) > limits.memory and solver.sample > _FEWEST_CHOSEN_FROM * solver.count:
        fewer = max(_FEWEST_CHOSEN_FROM * solver.count, int(solver.sample * 0.8))
        solver = replace(solver, sample=fewer)
    least = _FEWEST_LANDMARKS if p.share else max(_FEWEST_LANDMARKS, k + 1)

    def too_many(solver: Landmarks) -> bool:
        return memory(solver) > limits.memory or _too_many_for_a_worker(solver.count, p)

    while too_many(solver) and p.n_landmarks is None and solver.count > least:
        count = max(least, int(solver.count * 0.8))
        solver = replace(solver, count=count, sample=min(p.n, _FEWEST_CHOSEN_FROM * count))
    if p.chunks is not None and _too_many_for_a_worker(solver.count, p):
        raise NoRoom(
            f"A worker of the cluster needs {bytes_in_words(_of_sweep(solver.count, p))} to sum up what "
            f"{solver.count:,} landmarks see of a chunk of {p.chunks.largest:,} rows, and each of its threads has "
            f"{bytes_in_words(p.chunks.room or 0)}: give workers more memory, smaller chunks, or fewer n_landmarks."
        )
    plan = Plan(solver, "landmarks", memory(solver), why + where, p.tol or _RECOMPUTED_TOL, max(1, p.refine))
    columns = 2 * (min(k, count) + start_columns(k)) + PROBES
    return shared_out(p, plan, columns, columns) if p.refine and p.workers else plan


def _too_many_for_a_worker(count: int, p: Problem) -> bool:
    return p.chunks is not None and p.chunks.too_small(_of_sweep(count, p))


def _of_sweep(count: int, p: Problem) -> int:
    """Bytes of a worker that sums up what landmarks see of a chunk."""
    assert p.chunks is not None
    return p.chunks.sweep_bytes(p.numbers_each, count, min(rows_at_a_time(count, p.width), p.chunks.largest))


def _where_drawn(solver: Landmarks, p: Problem, limits: Limits) -> tuple[Landmarks, str]:
    """Among all rows that lie in chunks, if whoever works on them has room for their factor; and that in words."""
    if p.chunks is None or p.refine or not p.drawn:
        return solver, ""
    needed, most = _factor_bytes(solver.count, p), p.chunks.most(limits.memory - p.reading - BUFFERS)
    if needed <= most:
        return replace(solver, sample=p.n, spread=True), f" Landmarks are drawn among all {p.n:,} rows, where they lie."
    factor, room = bytes_in_words(needed), bytes_in_words(max(most, 0))
    who = "this process" if p.chunks.here else "each worker"
    return solver, f" Landmarks are drawn among a sample: among all {p.n:,}, {who} would need {factor}, and has {room}."


def _factor_bytes(count: int, p: Problem) -> int:
    return p.chunks.factor_bytes(p.n, p.numbers_each, count, proposals(count)) if p.chunks else 0


def _factor_here(solver: Landmarks, p: Problem) -> int:
    """Bytes of a factor that is held in chunks by this process."""
    return _factor_bytes(solver.count, p) if p.chunks and p.chunks.here and solver.spread else 0


_IN_MEMORY = _dense_if_asked, _feature_side, _small_or_nearly_all, _features, _held


def _dense(p: Problem, why: str) -> Plan:
    """The matrix, the centred matrix and LAPACK's copy; with all vectors, those, their products and LAPACK's work."""
    by_features = (p.narrow or p.no_wider_than_rows) and not p.far_wider
    held = "given" if p.given else "features" if by_features else "gram"
    squares = 2 if 4 * p.wanted < p.n and p.n > _FEWEST_TO_ITERATE else 6
    return Plan(Dense(), held, p.matrix_bytes(held) + 8 * squares * p.n**2, why, p.tol or HELD_TOL)


def _cold(p: Problem, limits: Limits, held: str, why: str) -> Plan:
    k, solver, making = p.wanted, _steps(p, limits, held), p.matrix_bytes(held, limits.threads)
    solving = solver.memory(p.n, k)
    if held == "features":  # axes are made when the solver is done
        sums = p.sums_bytes(max(solver.block, k, PROBES) + 1, limits.threads)
        memory = p.with_features(making, max(solving, p.axes_bytes(k + 1)) + sums)
    else:
        memory = making + solving
    return Plan(solver, held, memory, why, solver.tol, solver.usual_passes(k))


def _steps(p: Problem, limits: Limits, held: str) -> BlockKrylov:
    k = p.wanted
    return BlockKrylov(
        tol=p.tol or (_RECOMPUTED_TOL if held == p.anew else HELD_TOL),
        block=32 if held == p.anew else _SMALL_BLOCK if k < 2 * _SMALL_BLOCK else _LARGE_BLOCK,
        max_passes=p.max_passes or BlockKrylov.max_passes,
        threads=limits.threads,
    )


def _nominal_pass(p: Problem, limits: Limits) -> float:
    """Seconds of a pass by fixed costs: an entry evaluated, and used for some 32 columns twice."""
    return p.n**2 / 2 * (p.entry_cost + 3.0) * 1e-9 / (p.workers or limits.threads)


def _rank(p: Problem) -> int:
    """So many pivots that they cost about as much as a fraction of a pass."""
    return min(max(8 * p.wanted + 100, min(isqrt(32 * p.n) // 2, 700)), 3000, p.n // 4)


def _fitted(solver: WarmKrylov, p: Problem, limits: Limits) -> WarmKrylov:
    """With a smaller basis, then fewer pivots, then narrower blocks, where memory is short."""
    k, room = p.wanted, limits.memory - p.matrix_bytes("recomputed", limits.threads)
    while solver.memory(p.n, k) > room and solver.blocks > 4:
        solver = replace(solver, blocks=solver.blocks - 1)
    while solver.memory(p.n, k) > room and solver.rank > max(_FEWEST_PIVOTS, k + 10):
        solver = replace(solver, rank=max(_FEWEST_PIVOTS, k + 10, int(solver.rank * 0.8)))
    while solver.memory(p.n, k) > room and solver.block > 4:
        solver = replace(solver, block=solver.block // 2)
    return solver


def _within(limits: Limits, plan: Plan, p: Problem) -> Plan:
    return within(limits, plan, _advice(plan), _inverse_bytes(p, plan) if p.inverse else 0)


def _advice(plan: Plan) -> str:
    return (
        "Give a larger memory_limit, fewer n_landmarks."
        if plan.streams
        else "Give a larger memory_limit, fewer rows, or (if many or all components were asked for) fewer n_components."
    )


def _inverse_bytes(p: Problem, plan: Plan) -> int:
    rows = plan.solver.count if isinstance(plan.solver, Landmarks) else p.n
    held = p.reading if plan.streams else p.copied + p.loaded
    return held + 8 * rows * (rows + 3 * p.numbers_each + 3 * min(p.wanted, rows))
