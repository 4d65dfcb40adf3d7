"""What a model file says of itself, read from its header alone: no tensor is touched."""

from pathlib import Path
from typing import Any

from mercer_old.errors import listed, shortened
from mercer_old.limits import bytes_in_words
from mercer_old.store.files import opened
from mercer_old.store.strict_json import as_json
from mercer_old.terminal import plain

__all__ = ["Header", "inspect"]


class Header(dict[str, Any]):
    """A dict that JSON can say, and that is readable when it is printed."""

    def __str__(self) -> str:
        return "\n".join(f"{name:<13} {plain(text)}" for name, text in self._lines() if text)

    def _lines(self) -> list[tuple[str, str]]:
        lines = [
            ("model", f"{self['class']}, {bytes_in_words(self['bytes'])}"),
            ("parameters", _said(self["parameters"])),
            ("kernel", "" if self["kernel"] is None else _kernel_said(self["kernel"])),
            ("data", _sizes_said(self["data"])),
            ("columns", "" if not self["feature_names"] else listed(self["feature_names"], 10)),
            ("plan", self["plan"] or ""),
        ]
        lines += [("certificate" if i == 0 else "", sentence) for i, sentence in enumerate(self["certificate"])]
        lines += [("tensors", listed([f"{name} {_shape(one)}" for name, one in self["tensors"].items()], 12))]
        lines += [("written by", ", ".join(f"{name} {version}" for name, version in self["versions"].items()))]
        lines += [("notes", shortened(as_json(self["notes"]), 500) if self["notes"] else "")]
        if self["estimator"] is not None:
            inner = [("  " + name, text) for name, text in self["estimator"]._lines() if text and name != "model"]
            lines += [("estimator", self["estimator"]["class"]), *inner]
        return lines


def inspect(path: str | Path) -> Header:
    """Tell what is in a model file, from its header alone.

    Parameters
    ----------
    path : path
        The file.

    Returns
    -------
    header : dict
        Class, parameters, kernel, sizes, names of columns, versions, plan, certificate, tensors and notes, as JSON can
        say them; print it to read it. ``header["notes"]`` are those that were saved along.

    Raises
    ------
    mercer.errors.BadModel
        If the header is damaged, or that of something else. Tensors are not looked at: `verify` does.

    See Also
    --------
    verify : Whether all of it is as it was.
    """
    with opened(Path(path)) as file:
        tensors = {
            name: {"dtype": tensor.dtype.name, "shape": list(tensor.shape), "sha256": file.header["tensors"][name]}
            for name, tensor in sorted(file.layout.tensors.items())
        }
        size = len(file.layout.front) + sum(tensor.nbytes for tensor in file.layout.tensors.values())
        about = {"bytes": size, "tensors": tensors} | {
            name: file.header[name] for name in ("schema", "versions", "notes", "sha256")
        }
        return _told(file.header["model"], about)


def _told(model: Any, about: dict[str, Any]) -> Header:
    """The tree of a model, in the words of its users."""
    tree = model if isinstance(model, dict) else {}
    plan, proof, fitted = _dict(tree.get("plan")), _dict(tree.get("certificate")), _dict(tree.get("fitted"))
    names, says = tree.get("feature_names"), proof.get("says")
    inner = tree.get("estimator")
    return Header(
        {
            "class": str(tree.get("class")),
            "parameters": {name: _plain(value) for name, value in _dict(tree.get("parameters")).items()},
            "kernel": _plain(fitted.get("kernel")),
            "data": _dict(tree.get("data")),
            "feature_names": [str(name) for name in names] if isinstance(names, list) else None,
            "plan": str(plan["says"]) if "says" in plan else None,
            "certificate": [str(line) for line in says] if isinstance(says, list) else [],
            "estimator": None if inner is None else _told(inner, about | {"tensors": {}, "notes": {}, "versions": {}}),
        }
        | about
    )


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _plain(tree: Any) -> Any:
    """Kernels as {"RBF": {"gamma": 0.5}}, containers as lists, tensors by their names."""
    if isinstance(tree, list):
        return [_plain(inner) for inner in tree]
    if not isinstance(tree, dict):
        return tree
    kind = tree.get("is")
    if kind in ("kernel", "column"):
        return {str(tree.get("name")): {name: _plain(inner) for name, inner in _dict(tree.get("with")).items()}}
    if kind == "model":
        return {str(tree.get("class")): {name: _plain(one) for name, one in _dict(tree.get("parameters")).items()}}
    if kind == "dict":
        names, of = _plain(tree.get("names")), _plain(tree.get("of"))
        both = isinstance(names, list) and isinstance(of, list) and len(names) == len(of)
        return {str(name): value for name, value in zip(names, of, strict=True)} if both else [names, of]
    return _plain(tree.get("of"))


def _said(parameters: dict[str, Any]) -> str:
    return shortened(", ".join(f"{name}={value!r}" for name, value in parameters.items()), 800)


def _kernel_said(tree: Any) -> str:
    """As one would write it."""
    if not isinstance(tree, dict) or len(tree) != 1:
        return shortened(repr(tree), 300)
    ((name, inner),) = tree.items()
    words = [
        f"{part}={_kernel_said(value) if isinstance(value, dict) else repr(value)}" for part, value in inner.items()
    ]
    return shortened(f"{name}({', '.join(words)})", 500)


def _sizes_said(data: dict[str, Any]) -> str:
    rows, columns, digest = data.get("rows"), data.get("columns"), data.get("sha256")
    known = f", sha256 {digest}" if isinstance(digest, str) else ""
    if not isinstance(columns, int):
        return ""
    return f"{f'{rows:,}' if isinstance(rows, int) else '?'} rows, {columns:,} columns{known}"


def _shape(tensor: dict[str, Any]) -> str:
    return "×".join(f"{size:,}" for size in tensor["shape"])
