"""Where a plan is carried out: on the device that arrays of another library are on, or in main memory; and why."""

from dataclasses import replace

from mercer_old.arrays import Home
from mercer_old.errors import in_short
from mercer_old.fits.kernel.task import Task
from mercer_old.kernels.elsewhere import has_formula
from mercer_old.limits import bytes_in_words
from mercer_old.operators.elsewhere import WORKING
from mercer_old.plans.plan import Plan
from mercer_old.solvers.dense import Dense

_BY_NUMPY = {
    "features": "exact features of the rows take less work than their kernel matrix",
    "given": "the matrix was given, and is multiplied as it is",
    "landmarks": "landmarks are drawn one after the other",
}


def place(plan: Plan, task: Task) -> Plan:
    """The plan with a sentence on where it is carried out, of arrays of another library; as it is of all others.

    Products with a kernel matrix are worth a device. Arrays in main memory are read where they are: tiles that are
    evaluated by numpy, used twice and held in a core's cache are faster than strips that go through another library.
    """
    return _placed(plan, task, task.home) if task.home.foreign else plan


def about_moving(plan: Plan, home: Home) -> str:
    """What is said to who gave arrays on a device that had nothing to do."""
    return "" if plan.there or not home.elsewhere else plan.place


def _placed(plan: Plan, task: Task, home: Home) -> Plan:
    if not home.elsewhere:
        return replace(plan, place=f"Computed by numpy, as arrays of {home.name} on {home.device} need not be moved.")
    memory = plan.memory + WORKING + 2 * 8 * task.problem.n * (task.problem.width + 2)  # rows as they are prepared
    reason = _reason_for_numpy(plan, task, home, memory)
    if reason:
        return replace(
            plan,
            place=f"Computed by numpy in main memory, to which the rows were moved from {home}, because {reason}.",
        )
    words = f"Products with the kernel matrix are computed by {home}, all else by numpy in main memory."
    return replace(plan, place=words, there=True, memory=memory, seconds=None)


def _reason_for_numpy(plan: Plan, task: Task, home: Home, memory: int) -> str:
    """Why a device cannot help, or need not."""
    if plan.held in _BY_NUMPY:
        return _BY_NUMPY[plan.held]
    if isinstance(plan.solver, Dense):
        return "LAPACK takes the whole matrix at once"
    if not home.has_double:
        return f"{home.device} has no float64"
    if not has_formula(task.kernel):
        return f"{in_short(task.kernel)} is not evaluated by other libraries"
    if memory > task.limits.memory:
        return f"it would take {bytes_in_words(memory)} there, over the limit of {bytes_in_words(task.limits.memory)}"
    return ""
