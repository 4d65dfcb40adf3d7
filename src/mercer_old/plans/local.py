"""Which factorisation an embedding takes, and of how many rows: by sizes, the budget and how a small piece fills in."""

from dataclasses import dataclass, replace

from mercer_old.blocks import hoods_at_a_time, rows_at_a_time, tile_bytes, tile_rows
from mercer_old.errors import NoRoom
from mercer_old.limits import Limits, bytes_in_words
from mercer_old.plans.fill import Fill, surface
from mercer_old.plans.plan import BUFFERS, Plan, seconds_in_words, within
from mercer_old.solvers.among import AmongLandmarks
from mercer_old.solvers.shift_invert import BottomSolver, DenseBottom, ShiftInvert

LAPACK_ITEMS = 300  # items up to which LAPACK takes the whole matrix
_SPARSE_RATE, _DENSE_RATE = 3e9, 24e9  # multiplications a second by SuperLU, and by Cholesky on a thread: nominal
_PASSES = 10  # with the inverse, about
_MOST_ENTRIES = 2**32  # of L and U together: SuperLU counts each of them in 32 bits
_BUDGET = 600.0  # nominal seconds that an embedding of all rows may take before landmarks have to do
_LANDMARKS, _FEWEST_LANDMARKS, _PATIENCE = 20_000, 500, 60.0  # so many, or as take no more nominal seconds than that
_CHOSEN_FROM, _FEWEST_CHOSEN_FROM = 8, 2  # rows to choose a landmark from, and if memory is short


@dataclass(frozen=True)
class LocalProblem:
    """The sizes that decide."""

    n: int
    d: int
    k: int  # components
    neighbors: int
    fill: Fill | None = None  # None: nothing is known, and a surface is assumed
    eigen_solver: str = "auto"
    tol: float = 1e-6
    max_passes: int = 100
    loaded: int = 0  # bytes of X that have to be read first
    kept: int = 0  # bytes of the rows in the form that is worked with
    entry_cost: float = 0.0  # nominal nanoseconds of a distance, if it comes from a kernel or is given; 0: of points
    n_landmarks: int | None = None  # that were asked for
    given: bool = False  # whether distances are all that there is, and are not kept twice


def choose_local_plan(p: LocalProblem, limits: Limits) -> Plan:
    """Sizes, the fill and the memory limit decide; no clock, so that runs repeat.

    Landmarks are embedded if they were asked for, and with a warning where all rows would not fit or take too long,
    unless it was said how to factor them, or that all rows are to be landmarks.
    """
    if p.n_landmarks is not None:
        if p.n_landmarks >= p.n:
            return exact_local_plan(p, limits)
        return within(limits, _among(p, limits, p.n_landmarks, "landmarks were asked for."), _FEWER_LANDMARKS)
    try:
        plan = exact_local_plan(p, limits)
    except NoRoom as error:
        needs = _least(p, limits).memory
        why = f"all {p.n:,} rows would take {bytes_in_words(needs)}, over the limit of {bytes_in_words(limits.memory)}."
        instead = _landmarks_instead(p, limits, why)
        if instead is None:
            raise error
        return _warning_of(instead, "a larger memory_limit")
    if (plan.seconds or 0.0) > _BUDGET:
        why = f"all {p.n:,} rows would take about {seconds_in_words(plan.seconds or 0.0)}."
        instead = _landmarks_instead(p, limits, why)
        return plan if instead is None else _warning_of(instead, f'eigen_solver="{_name(plan)}"')
    return plan


def exact_local_plan(p: LocalProblem, limits: Limits) -> Plan:
    """The same for all rows, whatever time it takes; refused if it does not fit."""
    return _within(p, limits, _ways(p, limits))


def _least(p: LocalProblem, limits: Limits) -> Plan:
    """Of all ways for all rows, the one that takes the least memory."""
    return min(_ways(p, limits), key=lambda plan: plan.memory)


def _ways(p: LocalProblem, limits: Limits) -> list[Plan]:
    """The ways for all rows, the best first."""
    fill = _fill_of(p)
    if p.n <= _few(p):
        return [_plan(p, fill, limits, "lapack", f"{p.n:,} rows are few: LAPACK.")]
    dense_first = _factor_seconds(p, fill, limits, "dense") < _factor_seconds(p, fill, limits, "sparse")
    share = fill.entries / p.n**2
    thin = f"a sparse factor has about {fill.entries / p.n:,.0f} entries a row, {share:.1%} of all."
    asked = f'eigen_solver="{p.eigen_solver}" was asked for; {thin}'
    ways = {
        "arpack": [_plan(p, fill, limits, "sparse", asked)],
        "dense": [_plan(p, fill, limits, "dense", asked)],
    }.get(p.eigen_solver)
    if ways is None:
        assumed = "" if p.fill else "if the neighbourhoods lie on a surface, "
        ways = [
            _plan(p, fill, limits, "sparse", f"{assumed}{thin}"),
            _plan(p, fill, limits, "dense", f"{thin} A dense one {'is faster' if dense_first else 'needs less room'}."),
        ]
        if dense_first:
            ways.reverse()
    return ways


def _fill_of(p: LocalProblem) -> Fill:
    return p.fill or surface(p.n, p.neighbors)


def _solver(p: LocalProblem, threads: int, factor: str) -> BottomSolver:
    if factor == "lapack":
        return DenseBottom()
    return ShiftInvert(factor, p.tol, max_passes=p.max_passes, threads=threads, few=_few(p))


def _few(p: LocalProblem) -> int:
    """Items up to which LAPACK takes the whole matrix, unless a sparse factorisation was asked for."""
    return 0 if p.eigen_solver == "arpack" else LAPACK_ITEMS


def _plan(p: LocalProblem, fill: Fill, limits: Limits, factor: str, why: str) -> Plan:
    solving = {"lapack": 0.0, "sparse": 70e-9 * fill.entries, "dense": 100e-9 * p.n**2}[factor]
    seconds = _factor_seconds(p, fill, limits, factor) + solving
    return Plan(
        _solver(p, limits.threads, factor),
        "neighborhoods",
        int(min(_memory(p, fill, limits, factor), 2**62)),
        why,
        p.tol,
        passes=1 if factor == "lapack" else _PASSES,
        seconds=seconds + 2e-6 * p.n * p.neighbors + _search_seconds(p, limits, p.n),
    )


def _factor_seconds(p: LocalProblem, fill: Fill, limits: Limits, factor: str) -> float:
    """Of the factorisation alone, by nominal rates."""
    dense = p.n**3 / _DENSE_RATE
    return {"lapack": 10 * dense, "sparse": fill.work / _SPARSE_RATE, "dense": dense / 3 / limits.threads}[factor]


def _search_seconds(p: LocalProblem, limits: Limits, among: int) -> float:
    """Of distances to so many; few columns go through a tree. A kernel is asked for neighbours' products as well."""
    if p.entry_cost:
        return p.n * (among * (p.entry_cost + 3) / limits.threads + 40_000 + 8 * p.entry_cost * p.neighbors**2) * 1e-9
    return 0.0 if p.d <= 8 else p.n * among * (1.5 + 0.04 * p.d) * 1e-9 / limits.threads


def _memory(p: LocalProblem, fill: Fill, limits: Limits, factor: str) -> float:
    """Bytes at the peak: while neighbourhoods are looked at, or while the matrix is factored and solved with."""
    width = 1 if p.entry_cost else p.d
    block = 8 * 3 * min(p.n, hoods_at_a_time(p.neighbors, width)) * p.neighbors * max(p.neighbors + 1, width)
    searching = 16 * p.n * p.neighbors + limits.threads * tile_bytes(p.n, p.entry_cost > 0)
    if not p.entry_cost:
        candidates = 8 * tile_rows(p.n) * (p.neighbors + 4) * p.d
        searching += 4 * p.n * p.d + limits.threads * candidates
    aligning = limits.threads * block + 36 * p.n * fill.row
    factored = {
        "lapack": 8 * 6 * p.n**2,
        "sparse": 12.5 * fill.entries if fill.entries < _MOST_ENTRIES else float("inf"),
        "dense": 8 * p.n**2,
    }[factor]
    basis = 8 * p.n * (8 * p.k + 70)
    solving = 24 * p.n * fill.row + factored + basis
    return BUFFERS + p.loaded + p.kept + 12 * p.n * p.neighbors + max(searching, aligning, solving)


def _within(p: LocalProblem, limits: Limits, ways: list[Plan]) -> Plan:
    """The first way that fits, or a refusal with the number of rows that would."""
    for plan in ways:
        if plan.memory <= limits.memory:
            return plan
    return within(limits, min(ways, key=lambda plan: plan.memory), _advice(p, limits))


def _advice(p: LocalProblem, limits: Limits) -> str:
    """What would fit: so many rows, as landmarks of all of them if there is room for the places of all."""
    rows = _rows_that_fit(p, limits)
    if rows <= p.neighbors + 1:
        return "Hardly anything fits into that: give a larger memory_limit."
    landmarks = rows
    while landmarks > p.neighbors and _among(p, limits, landmarks, "").memory > limits.memory:
        landmarks = _to_one_digit(0.9 * landmarks)
    these = f"n_landmarks={landmarks}" if landmarks > max(p.neighbors, p.k) else "those alone"
    return f"About {rows:,} rows would fit: give {these}, fewer n_neighbors, or a larger memory_limit."


def _rows_that_fit(p: LocalProblem, limits: Limits) -> int:
    """How many rows of such data would fit, rounded down to one digit."""
    factors = {"arpack": ["sparse"], "dense": ["dense"]}.get(p.eigen_solver, ["sparse", "dense"])

    def fits(n: int) -> bool:
        fewer = _of_fewer(p, n)
        fewer = replace(fewer, loaded=int(p.loaded * n / p.n))
        return any(_memory(fewer, _fill_of(fewer), limits, factor) <= limits.memory for factor in factors)

    low, high = 0, p.n
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return _to_one_digit(low)


def _to_one_digit(count: float) -> int:
    """Rounded down."""
    digit = 10 ** (len(str(int(count))) - 1)
    return int(count) // digit * digit


# ---------------------------------------------------------------------- landmarks

_FEWER_LANDMARKS = "Give fewer n_landmarks, fewer n_neighbors, or a larger memory_limit."


def _landmarks_instead(p: LocalProblem, limits: Limits, why: str) -> Plan | None:
    """As many landmarks as fit and take little time; None if that are too few, or a factorisation was asked for."""
    count = min(_LANDMARKS, p.n // 2)
    while p.eigen_solver == "auto" and count >= max(fewest_landmarks(p), 1):
        plan = _among(p, limits, count, why)
        if plan.memory <= limits.memory and _ways(_of_fewer(p, count), limits)[0].seconds <= _PATIENCE:  # type: ignore[operator]
            return plan
        count = int(0.8 * count)
    return None


def fewest_landmarks(p: LocalProblem) -> int:
    """With fewer that nobody asked for, an embedding would say little."""
    return max(_FEWEST_LANDMARKS, 4 * p.neighbors, p.k + 2)


def _warning_of(plan: Plan, instead: str) -> Plan:
    assert isinstance(plan.solver, AmongLandmarks)
    warning = (
        f"{plan.solver.count:,} landmarks are embedded instead, and all other rows are placed between them; the "
        f"certificate says how well. Give {instead} to embed all rows, or n_landmarks."
    )
    return replace(plan, warning=warning)


def _name(plan: Plan) -> str:
    """Of the solver, as users have it."""
    return "arpack" if getattr(plan.solver, "factor", "") == "sparse" else "dense"


def _of_fewer(p: LocalProblem, n: int) -> LocalProblem:
    """So many of these rows alone, which are not kept twice; distances between them are copied out of all."""
    share, fill = n / p.n, p.fill
    kept = 8 * n * n if p.given else int(p.kept * share)
    if fill is not None:
        entries = min(fill.entries * share**fill.growth, float(n) ** 2)
        fill = replace(fill, entries=entries, work=min(fill.work * share ** (1.5 * fill.growth), n**3 / 3))
    return replace(p, n=n, fill=fill, loaded=0, kept=kept, n_landmarks=None)


def plan_of_landmarks(p: LocalProblem, few: LocalProblem, plan: Plan, limits: Limits) -> Plan:
    """The plan for all rows, now that landmarks are there and tell how they fill in; refused if it does not fit."""
    assert isinstance(plan.solver, AmongLandmarks)
    found = _among(p, limits, few.n, plan.why, exact_local_plan(few, limits))
    warning = plan.warning.replace(f"{plan.solver.count:,} landmarks", f"{few.n:,} landmarks")
    solver = replace(found.solver, sample=plan.solver.sample)  # type: ignore[type-var]
    return within(limits, replace(found, solver=solver, warning=warning), _FEWER_LANDMARKS)


def _among(p: LocalProblem, limits: Limits, count: int, why: str, inner: Plan | None = None) -> Plan:
    """Landmarks from as large a sample as there is room for, and places for all rows, block by block.

    `inner` is the plan for the landmarks, if it is known.
    """
    if inner is None:
        inner = _least(few := _of_fewer(p, count), limits)
        inner = next((plan for plan in _ways(few, limits) if plan.memory <= limits.memory), inner)
    sample = min(p.n, _CHOSEN_FROM * count)
    while _choosing(p, limits, count, sample) > limits.memory and sample > _FEWEST_CHOSEN_FROM * count:
        sample = max(_FEWEST_CHOSEN_FROM * count, int(0.8 * sample))
    placing = 2e-6 * p.n * p.neighbors + _search_seconds(p, limits, count)
    return Plan(
        AmongLandmarks(count, inner.solver, sample),  # type: ignore[arg-type]
        "landmark neighborhoods",
        max(_choosing(p, limits, count, sample), _placing(p, limits, count, inner.memory)),
        why,
        p.tol,
        inner.passes,
        (inner.seconds or 0.0) + placing,
    )


def _choosing(p: LocalProblem, limits: Limits, count: int, sample: int) -> int:
    """Bytes of the rows among which landmarks are chosen, as they are read and as they are worked with.

    Given distances are all there; those to the landmarks that were drawn last are copied, a block at a time.
    """
    if p.given:
        kept, sample = 8 * rows_at_a_time(count) * count, p.n
    else:
        kept = 2 * int(p.kept / p.n * sample)
    screen = 0 if p.entry_cost else 4 * count * p.d
    return BUFFERS + kept + 40 * sample + limits.threads * tile_bytes(count, p.entry_cost > 0) + screen


def _placing(p: LocalProblem, limits: Limits, count: int, inner: int) -> int:
    """Bytes of an embedding of the landmarks, or of the search among them, beside the places of all rows."""
    block, width = min(p.n, rows_at_a_time(p.d)), 1 if p.entry_cost else p.d
    hoods = 8 * 3 * min(block, hoods_at_a_time(p.neighbors, width)) * p.neighbors * max(p.neighbors + 1, width)
    candidates = 0 if p.entry_cost else 8 * tile_rows(count) * (p.neighbors + 4) * p.d
    searching = tile_bytes(count, p.entry_cost > 0) + candidates
    row = 8 * count if p.given else p.kept / p.n  # a row as it is compared with landmarks
    placed = int(block * (3 * row + 8 * (4 * p.neighbors + 3 * p.k))) + limits.threads * max(hoods, searching)
    own = (8 * count * count if p.given else int(p.kept / p.n * count) * 2) + 16 * count * (p.neighbors + p.k)
    return max(inner, BUFFERS + own + placed) + 8 * p.n * (p.k + 3)
