"""What `mercer doctor` does: ask for what is installed and allowed here, and print it."""

from mercer_old.commands.answers import Answer
from mercer_old.errors import NotVerified
from mercer_old.functions.health import doctor

__all__ = ["Examine"]


class Examine:
    """Look, fit, print."""

    fills_stdout = False

    def code(self) -> str:
        return "from mercer import doctor\n\nprint(doctor())"

    def run(self) -> Answer:
        found = doctor()
        doubt = NotVerified(f"The self-test failed: {'; '.join(found.wrong)}.") if found.wrong else None
        return Answer({"healthy": not found.wrong, "health": found}, str(found), doubt)
