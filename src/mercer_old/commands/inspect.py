"""`mercer inspect`: what a model file says of itself."""

from dataclasses import dataclass

from mercer_old.commands import arguments as given
from mercer_old.commands.answers import Answer, Job
from mercer_old.commands.frame import takes
from mercer_old.commands.script import Script


@takes(with_models=False)
def inspect(model: given.Model) -> Job:
    """Tell what is in a model file, from its header alone: no number of the model is read."""
    return _Inspect(model)


@dataclass(frozen=True)
class _Inspect:
    path: str
    fills_stdout = False

    def code(self) -> str:
        script = Script()
        script.add(f"print({script.call('inspect', self.path).text})")
        return str(script)

    def run(self) -> Answer:
        from mercer_old.store.headers import inspect as header_of

        header = header_of(self.path)
        return Answer(header, str(header))
