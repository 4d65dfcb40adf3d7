"""Whether a model file is whole: what was looked at, and what is wrong."""

from dataclasses import dataclass
from pathlib import Path

from mercer_old.errors import MercerError, counted
from mercer_old.limits import bytes_in_words
from mercer_old.store.files import Opened, opened
from mercer_old.terminal import plain

__all__ = ["Verdict", "verify"]


@dataclass(frozen=True)
class Verdict:
    """What a look at every byte of a model file has shown; true if it is whole."""

    path: Path
    checked: tuple[str, ...]  # what was found to be right
    wrong: tuple[str, ...]  # and what not

    @property
    def ok(self) -> bool:
        return not self.wrong

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        if self.wrong:
            return "\n".join(self.wrong)
        return "\n".join([f"{plain(self.path)} is whole.", *(f"  {line}" for line in self.checked)])


def verify(path: str | Path) -> Verdict:
    """Look at every byte of a model file: whether it is as it was written, and makes a model.

    Parameters
    ----------
    path : path
        The file.

    Returns
    -------
    verdict : Verdict
        True if all is well; ``checked`` and ``wrong`` say what was found. Print it.

    See Also
    --------
    load : Checks the same while it reads.
    inspect : What the header says.
    """
    path, checked = Path(path), list[str]()
    try:
        with opened(path) as file:
            checked.append("The header is as it was written, by its sha256, and of a version that is known.")
            checked.append("The tensors fill the file from the header to its end.")
            _read_all(file, checked)
    except MercerError as error:
        return Verdict(path, tuple(checked), (str(error),))
    return Verdict(path, tuple(checked), ())


def _read_all(file: Opened, checked: list[str]) -> None:
    model, tensors = file.model(), file.layout.tensors
    size = bytes_in_words(sum(tensor.nbytes for tensor in tensors.values()))
    checked.append(f"{counted(len(tensors), 'tensor')} of {size} are as they were written, by their sha256.")
    checked.append(f"What is in it makes a {type(model).__name__}, fitted to {model.n_features_in_:,} columns.")
