"""Files as anndata writes them, made by h5py alone: what the format says, not what we read."""

import h5py
import numpy as np
from scipy import sparse


def marked(element, kind, version="0.2.0"):
    element.attrs["encoding-type"], element.attrs["encoding-version"] = kind, version
    return element


def texts(home, name, values):
    marked(home.create_dataset(name, data=np.array(values, dtype=object), dtype=h5py.string_dtype()), "string-array")


def categories(home, name, codes, values):
    group = marked(home.create_group(name), "categorical")
    group.attrs["ordered"] = False
    texts(group, "categories", values)
    marked(group.create_dataset("codes", data=np.array(codes, dtype=np.int8)), "array")


def frame(store, name, index):
    group = marked(store.create_group(name), "dataframe")
    group.attrs["_index"], group.attrs["column-order"] = "_index", np.array([], dtype="S1")
    texts(group, "_index", index)
    return group


def matrix(home, name, X, kind="array"):
    """A dense matrix, or one of scipy's by the name of its class."""
    if kind == "array":
        return marked(home.create_dataset(name, data=X), "array")
    group, stored = marked(home.create_group(name), kind, "0.1.0"), getattr(sparse, kind)(X)
    group.attrs["shape"] = np.array(X.shape)
    for part in ("data", "indices", "indptr"):
        group.create_dataset(part, data=getattr(stored, part), chunks=True)
    return group


def write_h5ad(path, X, kind="array"):
    """Cells by genes, with columns of categories, of numbers and with gaps; X once more as a layer, doubled."""
    n, d = X.shape
    with h5py.File(path, "w") as store:
        marked(store, "anndata", "0.1.0")
        matrix(store, "X", X, kind)
        obs = frame(store, "obs", [f"cell{i}" for i in range(n)])
        categories(obs, "type", np.arange(n) % 3 - 1, ["B", "T"])
        marked(obs.create_dataset("depth", data=np.arange(n) * 1.5), "array")
        gaps = marked(obs.create_group("batch"), "nullable-integer", "0.1.0")
        gaps["values"], gaps["mask"] = np.arange(n) % 4, np.arange(n) % 5 == 0
        frame(store, "var", [f"gene{j}" for j in range(d)])
        for name in ("layers", "obsm", "varm", "uns", "obsp", "varp"):
            marked(store.create_group(name), "dict", "0.1.0")
        matrix(store["layers"], "twice", 2 * X, kind)
        matrix(store["obsm"], "X_map", X[:, :2])
    return path
