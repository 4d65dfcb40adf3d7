"""Files as anndata writes them, made by h5py alone: what the format says, not what we read."""

import h5py
import numpy as np
from scipy import sparse


def marked(element, kind, version="0.2.0"):
    element.attrs["encoding-type"], element.attrs["encoding-version"] = kind, version
    return element


def put_strings(home, name, values):
    strings = np.array(values, dtype=object)
    marked(home.create_dataset(name, data=strings, dtype=h5py.string_dtype()), "string-array")


def put_categories(home, name, codes, values):
    group = marked(home.create_group(name), "categorical")
    group.attrs["ordered"] = False
    put_strings(group, "categories", values)
    marked(group.create_dataset("codes", data=np.array(codes, dtype=np.int8)), "array")


def put_frame(file, name, index):
    group = marked(file.create_group(name), "dataframe")
    group.attrs["_index"], group.attrs["column-order"] = "_index", np.array([], dtype="S1")
    put_strings(group, "_index", index)
    return group


def put_matrix(home, name, X, kind="array"):
    """A dense matrix, or one of scipy's by the name of its class."""
    if kind == "array":
        return marked(home.create_dataset(name, data=X), "array")
    group, stored = marked(home.create_group(name), kind, "0.1.0"), getattr(sparse, kind)(X)
    group.attrs["shape"] = np.array(X.shape)
    for part in ("data", "indices", "indptr"):
        group.create_dataset(part, data=getattr(stored, part), chunks=True)
    return group


def write_h5ad(path, X, kind="array", variable=None):
    """Cells and genes, with columns of categories, numbers and missing values; X once more as a layer, doubled."""
    n, d = X.shape
    with h5py.File(path, "w") as file:
        marked(file, "anndata", "0.1.0")
        put_matrix(file, "X", X, kind)
        obs = put_frame(file, "obs", [f"cell{i}" for i in range(n)])
        put_categories(obs, "type", np.arange(n) % 3 - 1, ["B", "T"])
        marked(obs.create_dataset("depth", data=np.arange(n) * 1.5), "array")
        batch = marked(obs.create_group("batch"), "nullable-integer", "0.1.0")
        marked(batch.create_dataset("values", data=np.arange(n) % 4), "array")
        marked(batch.create_dataset("mask", data=np.arange(n) % 5 == 0), "array")
        obs.attrs["column-order"] = ["type", "depth", "batch"]
        var = put_frame(file, "var", [f"gene{j}" for j in range(d)])
        if variable is not None:
            marked(var.create_dataset("highly_variable", data=np.asarray(variable)), "array")
        for name in ("layers", "obsm", "varm", "uns", "obsp", "varp"):
            marked(file.create_group(name), "dict", "0.1.0")
        put_matrix(file["layers"], "twice", 2 * X, kind)
        put_matrix(file["obsm"], "X_map", X[:, :2])
    return path
