"""`mercer verify`: whether a model file is as it was written."""

from dataclasses import dataclass

from mercer_old.commands import arguments as given
from mercer_old.commands.answers import Answer, Job
from mercer_old.commands.frame import takes
from mercer_old.commands.script import Script
from mercer_old.errors import NotVerified


@takes()
def verify(model: given.Model) -> Job:
    """Look at every byte of a model file; exit with 4 and one sentence if something is wrong."""
    return _Verify(model)


@dataclass(frozen=True)
class _Verify:
    path: str
    fills_stdout = False

    def code(self) -> str:
        script = Script()
        script.add(f"print({script.call('verify', self.path).text})")
        return str(script)

    def run(self) -> Answer:
        from mercer_old.store.verdicts import verify as verdict_of

        found = verdict_of(self.path)
        figures = {"ok": found.ok, "checked": found.checked, "wrong": found.wrong}
        return Answer(figures, str(found)) if found else Answer(figures, doubt=NotVerified(str(found)))
