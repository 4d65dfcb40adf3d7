"""Models in files: saved whole or not at all, and loaded only if every byte is as it was."""

import hashlib
import platform
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from mercer_old.arrays import Array
from mercer_old.errors import BadModel, MercerError, NoRoom, WrongUse, in_short, listed
from mercer_old.outlets import lasting_file
from mercer_old.store.layout import (
    LONGEST_HEADER,
    MOST_TENSORS,
    Layout,
    digests_of,
    front_of,
    in_order,
    no_model,
    pieces_of,
)
from mercer_old.store.reasons import Unusable
from mercer_old.store.strict_json import as_json, from_json
from mercer_old.terminal import plain

if TYPE_CHECKING:
    from mercer_old.store.values import Packing

__all__ = ["Opened", "load", "opened", "save", "versions"]

FORMAT, SCHEMA = "mercer model", (1, 0)
_NONSENSE = (ArithmeticError, AssertionError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
_NONE = "0" * 64  # where the hash of the header will stand


def save(model: Any, path: str | Path, notes: dict[str, Any] | None = None) -> Path:
    """Write a fitted model to one file, from which `load` makes it again: to the same scores, bit for bit.

    The file is a valid safetensors file whose header says what is in it, with a hash of every tensor and of itself. It
    holds numbers and texts, no code and no pickle. The same fit is the same file, byte for byte. It appears when it is
    complete, or not at all.

    Parameters
    ----------
    model : estimator
        A fitted model of this package, of any class. Kernels that are functions of yours have no place in a file, and
        are refused.
    path : path
        The file, by custom with the ending .mercer.
    notes : dict, default=None
        Anything that JSON can say, to travel along: ``mercer.inspect(path)["notes"]``.

    Returns
    -------
    path : pathlib.Path
        Where it is.

    Raises
    ------
    mercer.errors.WrongUse
        If the model holds what a file cannot.
    mercer.errors.CannotWrite
        If the file cannot be written; an older one stays as it was.

    See Also
    --------
    load : The way back.

    Examples
    --------
    >>> import numpy as np, mercer, tempfile, pathlib
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> model = mercer.PCA(2).fit(X)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = mercer.save(model, pathlib.Path(folder) / "pca.mercer", notes={"why": "an example"})
    ...     again = mercer.load(path)
    >>> bool((again.transform(X) == model.transform(X)).all())
    True
    """
    from mercer_old.store.values import Packing

    path, packing = Path(path), Packing()
    tree = _tree_of(packing, model)
    header = {
        "format": FORMAT,
        "schema": list(SCHEMA),
        "versions": versions(),
        "model": tree,
        "notes": _checked_notes(notes),
    }
    tensors = in_order(packing.tensors)
    if len(tensors) > MOST_TENSORS:
        raise WrongUse(
            f"This model cannot be saved: it takes {len(tensors):,} tensors, and the most are {MOST_TENSORS:,}."
        )

    def front(digests: dict[str, str]) -> bytes:
        tree["data"]["sha256"] = _hash_of_rows(tree["fitted"], digests)
        text = lambda digest: as_json(header | {"tensors": digests, "sha256": digest})  # noqa: E731
        return front_of(tensors, text, _NONE, _refuse_long)

    _write(path, tensors, front)
    return path


def _write(path: Path, tensors: dict[str, Array], front: Callable[[dict[str, str]], bytes]) -> None:
    """Tensors are hashed while they are written, and the front with their hashes, whose length is known, at the end.

    What cannot go back, a pipe, has the front first.
    """
    length = len(front(dict.fromkeys(tensors, _NONE)))
    with lasting_file(path) as file:
        if not file.seekable():
            file.write(front(digests_of(tensors)))
            file.writelines(piece for array in tensors.values() for piece in pieces_of(array))
            return
        file.seek(length)
        digests = digests_of(tensors, file.write)
        file.seek(0)
        file.write(front(digests))


def _tree_of(packing: "Packing", model: Any) -> dict[str, Any]:
    from mercer_old.store.trees import as_tree

    try:
        return as_tree(packing, model)
    except Unusable as reason:
        raise WrongUse(f"This model cannot be saved: {reason}.") from None


def _hash_of_rows(fitted: dict[str, Any], digests: dict[str, str]) -> str | None:
    """Of the rows of the fit, if the model has kept them as they were given: all, dense and in their own units."""
    rows = fitted.get("X_fit") or {}
    kept = rows.get("is") == "array" and not {"scale", "kept_items"} & fitted.keys()
    return digests[rows["of"]] if kept else None


def _refuse_long(length: int) -> None:
    if length > LONGEST_HEADER:
        raise WrongUse(
            f"This model cannot be saved: its header takes {length:,} bytes, and the most is {LONGEST_HEADER:,}. Are "
            "the notes long, or are there very many categories?"
        )


def _checked_notes(notes: Any) -> dict[str, Any]:
    if notes is None:
        return {}
    try:
        if not isinstance(notes, dict) or not all(isinstance(name, str) for name in notes):
            raise TypeError("they are no dict with texts for names")
        as_json(notes)
    except (TypeError, ValueError, RecursionError) as error:
        raise WrongUse(f"notes are what JSON can say, and these are not: {in_short(str(error), 200)}.") from None
    return notes


def versions() -> dict[str, str]:
    import scipy
    import sklearn

    from mercer_old import __version__

    return {
        "mercer": __version__,
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
        "python": platform.python_version(),
    }


# ---------------------------------------------------------------------- reading


class Opened:
    """A model file whose header is whole, and whose tensors are read when they are asked for."""

    def __init__(self, layout: Layout, header: dict[str, Any], file: BinaryIO) -> None:
        self.layout, self.header, self._file = layout, header, file
        self._read = set[str]()

    def tensor(self, name: str, by_columns: bool = False) -> Array:
        """An array of the file, if its bytes are as they were when it was saved."""
        tensor = self.layout.tensors.get(name)
        if tensor is None:
            raise no_model(self.layout.path, f"it has no tensor {in_short(name)}")
        if name in self._read:
            raise no_model(self.layout.path, f"the tensor {in_short(name)} is named twice")
        self._read.add(name)
        try:
            array, digest = self.layout.read(tensor, self._file, by_columns)
        except MemoryError:
            raise NoRoom(f"{plain(self.layout.path)}: {in_short(name)} takes {tensor.nbytes:,} bytes.") from None
        if digest != self.header["tensors"][name]:
            raise no_model(self.layout.path, f"the tensor {in_short(name)} is damaged")
        return array

    def model(self) -> Any:
        """What is in it; a tensor that belongs to nothing is refused."""
        from mercer_old.store.trees import from_tree  # and with it all models: a header is read without them
        from mercer_old.store.values import Unpacking

        try:
            with np.errstate(all="ignore"):
                model = from_tree(Unpacking(self.tensor), self.header["model"])
        except Unusable as reason:
            raise no_model(self.layout.path, str(reason)) from None
        except MercerError:
            raise
        except _NONSENSE as error:
            raise no_model(self.layout.path, f"what it says makes no sense ({in_short(error, 200)})") from None
        foreign = set(self.layout.tensors) - self._read
        if foreign:
            raise no_model(self.layout.path, f"nothing in it names the tensor {listed(map(in_short, sorted(foreign)))}")
        return model


@contextmanager
def opened(path: Path) -> Iterator[Opened]:
    """A model file, with a header that is whole and of a version that is known."""
    try:
        if path.exists() and not path.is_file():  # a pipe would be waited for, and a device has no end
            raise no_model(path, "it is a folder" if path.is_dir() else "it is no regular file")
        file: Any = path.open("rb", buffering=0)
    except FileNotFoundError:
        raise BadModel(f"{plain(path)}: there is no such file.") from None
    except BadModel:
        raise
    except (OSError, ValueError) as error:
        raise BadModel(f"{plain(path)} cannot be read: {getattr(error, 'strerror', None) or error}.") from None
    with file:
        layout = Layout.of(path, file)
        header = from_json(layout.text.encode("utf-8", "surrogatepass"), path)
        _refuse_strangers(header, path)
        _refuse_damage(header, layout)
        yield Opened(layout, header, file)


def _refuse_strangers(header: Any, path: Path) -> None:
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise no_model(path, "its header is not that of a model of mercer")
    schema = header.get("schema")
    if not isinstance(schema, list) or len(schema) != 2 or not all(type(part) is int for part in schema):
        raise no_model(path, "it does not say by which schema it was written")
    if schema[0] > SCHEMA[0]:
        raise BadModel(
            f"{plain(path)} was written by a newer mercer: its schema is {schema[0]}.{schema[1]}, and this one reads "
            f"up to {SCHEMA[0]}. Try: pip install --upgrade mercer"
        )
    if schema[0] < 1 or set(header) != {"format", "schema", "versions", "model", "notes", "tensors", "sha256"}:
        raise no_model(path, "its header lacks something, or has too much")


def _refuse_damage(header: dict[str, Any], layout: Layout) -> None:
    """The hash of length, header and padding, with zeros in its own place; and a hash for every tensor."""
    digest, digests = header["sha256"], header["tensors"]
    if not isinstance(digest, str) or len(digest) != 64 or layout.front.count(digest.encode("utf-8", "replace")) != 1:
        raise no_model(layout.path, "its header has no hash of its own")
    blank = layout.front.replace(digest.encode(), _NONE.encode())
    if hashlib.sha256(blank).hexdigest() != digest:
        raise no_model(layout.path, "its header is damaged")
    if not isinstance(digests, dict) or set(digests) != set(layout.tensors):
        raise no_model(layout.path, "its tensors are not those that its header has hashes of")


def load(path: str | Path) -> Any:
    """Read a model that `save` has written: fitted, and with the same scores as before, bit for bit.

    Every byte is compared with the hashes in the header. Nothing in a file is run or imported: a file from a stranger
    is a model or one sentence.

    Parameters
    ----------
    path : path
        The file.

    Returns
    -------
    model : estimator
        The fitted model, of the class that was saved.

    Raises
    ------
    mercer.errors.BadModel
        If the file is damaged, holds something else, or was written by a newer mercer.

    See Also
    --------
    save : Writes it.
    inspect : What a file says of itself, without its tensors.
    """
    with opened(Path(path)) as file:
        return file.model()
