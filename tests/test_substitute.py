"""A painless substitute: what people do with scikit-learn's models besides calling fit and transform."""

import ast
import os
import subprocess
import sys
from pathlib import Path

SOURCE = Path(__file__).parent.parent / "src" / "mercer"


# ---------------------------------------------------------------------- scikit-learn's private names


def private_names(path):
    """Every private name of scikit-learn that a file imports."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "sklearn":
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names if alias.name.startswith("sklearn")]
        else:
            continue
        yield from (name for name in names if "._" in name)


def test_private_names_of_scikit_learn_are_imported_in_one_module_alone():
    found = {path.name for path in SOURCE.rglob("*.py") if list(private_names(path))}
    assert found == {"unpromised.py"}
    assert len(list(private_names(SOURCE / "unpromised.py"))) >= 5  # so the search does find them


WITHOUT = """
import sys; sys.path.insert(0, {tests!r})
import sklearn_next
import numpy as np, sklearn, mercer, mercer.unpromised
from scipy import sparse
from sklearn.neighbors import NearestNeighbors

assert mercer.unpromised.Interval.__module__ == "mercer.unpromised"
X = np.random.default_rng(0).normal(size=(40, 4))
models = [mercer.PCA(2), mercer.IncrementalPCA(2), mercer.KernelPCA(2, kernel="rbf"),
          mercer.LocallyLinearEmbedding(n_neighbors=6)]
for model in models:
    scores = model.fit_transform(X)
    assert np.allclose(model.transform(X), scores, atol=1e-9)
    for bad in ({{"n_components": -1}}, {{"n_jobs": "two"}}, {{"memory_limit": -3}}, {{"progress": 2}}):
        try:
            sklearn.clone(model).set_params(**bad).fit(X)
        except ValueError as error:
            name = next(iter(bad))
            assert f"The {{name!r}} parameter of {{type(model).__name__}} must be" in str(error), error
        else:
            raise AssertionError(f"{{model}} took {{bad}}")
mercer.locally_linear_embedding(NearestNeighbors().fit(X), n_neighbors=6, n_components=2)
mercer.PCA(2, random_state=np.random.RandomState(0)).fit(sparse.csr_array(X), sample_weight=np.arange(40))
mercer.IncrementalPCA(2).partial_fit(X).partial_fit(X)

import array_api_strict
with sklearn.config_context(array_api_dispatch=True):
    scores = mercer.PCA(2).fit_transform(array_api_strict.asarray(X))
    assert type(scores).__module__.startswith("array_api_strict")
    assert np.allclose(np.from_dlpack(scores), models[0].transform(X))
print("done")
"""


def test_models_go_on_without_scikit_learns_private_names():
    code = WITHOUT.format(tests=str(Path(__file__).parent))
    settings = os.environ | {"SCIPY_ARRAY_API": "1"}
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, env=settings)
    assert done.stdout.strip() == "done", done.stderr[-2000:]
