"""skops: whoever keeps models that way need trust no type but ours."""

import numpy as np
import pytest

from support.kept import MODELS, fitted
from support.silence import quiet

io = pytest.importorskip("skops.io")
pytestmark = quiet
SOME = [
    "pca",
    "incremental",
    "probabilistic",
    "probabilistic, gaps",
    "kernel",
    "kernel, weights, features",
    "landmarks",
    "landmarks, standardize",
    "precomputed",
]
SOME += [
    "kernel, sparse",
    "bytes",
    "series",
    "tables",
    "lle",
    "lle, sparse",
    "lle, kernel",
    "lle, distances",
    "novelty",
]

# Types of others that skops does not trust by itself: sparse arrays of scipy, and the cells of columns of sets.
HOLLOW = {"scipy.sparse._csr.csr_array"}
ALSO = {"kernel, sparse": HOLLOW, "lle, sparse": HOLLOW, "tables": {"builtins.frozenset"}}


@pytest.mark.parametrize("name", SOME)
def test_our_types_are_the_only_ones_to_trust(name):
    assert name in MODELS
    model, new = fitted(name)
    kept = io.dumps(model)
    trusted = io.get_untrusted_types(data=kept)
    assert {kind for kind in trusted if not kind.startswith("mercer_old.")} == ALSO.get(name, set())
    loaded = io.loads(kept, trusted=trusted)
    method = "p_values" if hasattr(model, "p_values") else "transform"
    assert np.array_equal(getattr(model, method)(new), getattr(loaded, method)(new))
