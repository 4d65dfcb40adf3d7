"""Locally linear embedding: the systems that are measured, each with `fit` and `embedding_`."""

from functools import partial

import numpy as np

from benchmarks.lle.cases import LIMIT, SAMPLE

SAME_AS = {"scikit-learn": {"hessian": "ltsa"}}  # whose method is really another one
SAMPLED = 20_000  # rows
IN_TAPKEE = {"standard": "lle", "hessian": "hlle", "ltsa": "ltsa"}


class Tapkee:
    """Its one function as an estimator; it takes samples as columns.

    Without check_connectivity=False it doubles the neighbours until the graph hangs together both ways, which would be
    another question.
    """

    def __init__(self, n_neighbors, n_components, method):
        self.options = {"num_neighbors": n_neighbors, "target_dimension": n_components, "method": IN_TAPKEE[method]}

    def fit(self, X):
        import tapkee

        self.embedding_ = tapkee.embed(X.T, check_connectivity=False, **self.options)


def ours(**options):
    from mercer import LocallyLinearEmbedding

    return LocallyLinearEmbedding(**options)


def scikit_learn(solver, **options):
    from sklearn.manifold import LocallyLinearEmbedding

    return LocallyLinearEmbedding(eigen_solver=solver, n_jobs=-1, random_state=0, **options)


class BySample:
    """scikit-learn on rows that were drawn by lot, which then places all rows: what its users do by hand."""

    def __init__(self, **options):
        self.model = scikit_learn("auto", **options)

    def fit(self, X):
        some = np.random.default_rng(0).choice(len(X), min(SAMPLED, len(X)), replace=False)
        self.embedding_ = self.model.fit(X[some]).transform(X)


SYSTEMS = {
    "mercer": ours,
    f"mercer in {LIMIT}": partial(ours, memory_limit=LIMIT),
    SAMPLE: BySample,
    **{f"scikit-learn {solver}": partial(scikit_learn, solver) for solver in ("auto", "arpack", "dense")},
    "tapkee": Tapkee,
}


def true_method(system, method):
    """The method by which a system's answer is to be judged."""
    return SAME_AS.get(system.split()[0], {}).get(method, method)
