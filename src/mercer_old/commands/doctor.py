"""`mercer doctor`: what mercer finds on this machine, and whether it computes what it should."""

from mercer_old.commands.answers import Job
from mercer_old.commands.frame import takes


@takes()
def doctor() -> Job:
    """Say which versions, BLAS, threads, memory and optional parts there are, and fit rows whose answer is known."""
    from mercer_old.commands.health import Examine

    return Examine()
