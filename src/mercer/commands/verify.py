"""`mercer verify`: whether a model file is as it was written."""

from mercer.commands.inspect import ModelFile
from mercer.errors import NotVerified
from mercer.terminal import put


def verify(model: ModelFile) -> None:
    """Look at every byte of a model file; exit with 4 and one sentence if something is wrong."""
    from mercer.store.verdicts import verify as verdict_of

    verdict = verdict_of(model)
    if not verdict:
        raise NotVerified(str(verdict))
    put(verdict)
