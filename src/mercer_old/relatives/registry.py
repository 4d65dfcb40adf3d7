"""All methods by name."""

from dataclasses import fields
from typing import Any

from mercer_old.errors import in_short, joined
from mercer_old.relatives.base import Method
from mercer_old.relatives.independent import ICA
from mercer_old.relatives.ours import BY_NAME, Ours
from mercer_old.relatives.tsne import TSNE
from mercer_old.relatives.umap_learn import UMAP

__all__ = ["METHODS", "method"]

_OTHERS: dict[str, type[Method]] = {"ica": ICA, "t-sne": TSNE, "umap": UMAP}
_ORDER = (
    "pca", "correlation-pca", "kernel-pca", "lle", "ppca", "factor-analysis", "ica", "gplvm", "autoencoder", "t-sne",
    "umap",
)  # fmt: skip

#: Every method with its usual settings, in the order in which they are compared.
METHODS: dict[str, Method] = {name: _OTHERS[name]() if name in _OTHERS else Ours(name) for name in _ORDER}

_ALIASES = {"kpca": "kernel-pca", "kernelpca": "kernel-pca", "tsne": "t-sne", "fa": "factor-analysis"}
assert set(METHODS) == set(BY_NAME) | set(_OTHERS)


def method(name: str, **settings: Any) -> Method:
    """A method by its name, with settings that are its own.

    Parameters
    ----------
    name : str
        "pca", "correlation-pca", "kernel-pca", "lle", "ppca", "factor-analysis", "ica", "gplvm", "autoencoder", "t-sne"
        or "umap"; hyphens or not, in any case.
    **settings : dict
        Of "ica", "t-sne" and "umap" the fields of `ICA`, `TSNE` and `UMAP`; of ours, parameters of the model.

    Returns
    -------
    method : Method
        It has ``keeps``, ``assumes``, ``missing()`` and ``fit(X)``.

    Examples
    --------
    >>> from mercer.relatives import method
    >>> method("kernel-pca", kernel="laplacian").title
    "kernel PCA (kernel='laplacian')"
    """
    known = _known(name)
    if known not in _OTHERS:
        return Ours(known, tuple(sorted(settings.items())))
    kind = _OTHERS[known]
    names = [field.name for field in fields(kind)]
    for said in settings:
        if said not in names:
            raise ValueError(f"{kind.label} has no setting {said!r}; its settings are {joined(names)}.")
    return kind(**settings)


def _known(name: Any) -> str:
    said = str(name).strip().lower().replace("_", "-").replace(" ", "-")
    known = _ALIASES.get(said, said)
    if known not in METHODS:
        raise ValueError(f"There is no method {in_short(name)}; there are {joined(list(METHODS))}.")
    return known
