"""What `mercer plan` does: a plan for every number of rows, in a sentence each."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mercer_old.commands.answers import Answer
from mercer_old.commands.opening import is_of_tables, is_of_texts
from mercer_old.commands.script import Script
from mercer_old.commands.typed import number_of_components
from mercer_old.commands.wording import in_options
from mercer_old.errors import NoRoom, WrongUse, counted
from mercer_old.functions.planning import plan
from mercer_old.plans.plan import Plan

__all__ = ["Foresee"]


@dataclass(frozen=True)
class Foresee:
    """Plans, to standard output."""

    rows: Sequence[int]
    features: int
    method: str
    components: str | None
    params: dict[str, Any]
    fills_stdout = False

    def __post_init__(self) -> None:
        if is_of_tables(self.params):
            raise WrongUse(
                "A plan for a table depends on its columns: mercer fit FILE --kernel table --dry-run tells it."
            )

    def code(self) -> str:
        script = Script()
        for number in self.rows:
            said = script.call("plan", number, self.features, self._wanted(number), method=self.method, **self.params)
            script.add(f"print({said.text})")
        return str(script)

    def run(self) -> Answer:
        noun = "text" if is_of_texts(self.params) else "row"
        plans = [(number, *self._foreseen(number)) for number in self.rows]
        figures = [
            {"rows": number, "possible": found is not None, "plan": said}
            | ({} if found is None else {"memory": found.memory, "seconds": found.seconds, "passes": found.passes})
            for number, found, said in plans
        ]
        words = "\n".join(f"{counted(number, noun)}: {said}" for number, _, said in plans)
        return Answer({"method": self.method, "features": self.features, "plans": figures}, words)

    def _wanted(self, number: int) -> Any:
        linear = min(10, number, self.features)
        usual = {"kpca": 10, "pca": linear, "ppca": linear, "lle": min(2, self.features)}[self.method]
        return usual if self.components is None else number_of_components(self.components, self.method)

    def _foreseen(self, number: int) -> tuple[Plan | None, str]:
        """The plan, and what is to be said: that there is none, where others are asked for too."""
        try:
            found = plan(number, self.features, self._wanted(number), method=self.method, **self.params)
        except NoRoom as error:
            if len(self.rows) == 1:
                raise
            return None, f"not possible: {in_options(str(error))}"
        except ValueError as error:  # a kernel, a memory limit or a number that does not exist
            raise WrongUse(str(error)) from None
        return found, in_options(found.in_words)
