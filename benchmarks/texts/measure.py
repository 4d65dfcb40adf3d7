"""Texts: one system on one case in a process of its own: times, peak memory and accuracy, as JSON."""

import json
import sys
import time
import warnings
from collections import Counter
from itertools import combinations

import numpy as np

from benchmarks.shared.peak import give_back
from benchmarks.shared.running import timed
from benchmarks.texts.cases import CASES
from benchmarks.texts.systems import COMPONENTS, GRAMS, MATRICES, of_counts

FEW = 200  # texts of the first run, which is not measured
LOOKED_AT = 60  # rows of a matrix that are compared with the definition


def fitted_and_placed(system, case):
    def run(texts):
        model = COMPONENTS[system](case.k, case.of).fit(texts)
        return model, model.transform(texts)

    return run


# ---------------------------------------------------------------------- accuracy


def judged(texts, scores, of):
    """Captured: tr(UᵀAU)/tr(A), with A the centred kernel matrix and U a basis of the centred scores; residual: the
    worst ‖Au − θu‖/θ over their columns u, of unit length, with θ = uᵀAu. The features are scikit-learn's."""
    Phi = of_counts("passthrough", of).fit_transform(texts).tocsr()
    mean = np.asarray(Phi.mean(axis=0)).ravel()
    scores = np.asarray(scores, dtype=float)
    scores = scores - scores.mean(axis=0)

    def times(U):
        inner = Phi.T @ U - np.outer(mean, U.sum(axis=0))
        return Phi @ inner - mean @ inner

    total = float((Phi.data**2).sum() - Phi.shape[0] * mean @ mean)
    basis, U = np.linalg.qr(scores)[0], scores / np.linalg.norm(scores, axis=0)
    captured = float(np.sum(basis * times(basis)) / total)
    product = times(U)
    theta = np.sum(U * product, axis=0)
    return {"captured": captured, "residual": float(np.max(np.linalg.norm(product - U * theta, axis=0) / theta))}


def grams(text):
    return Counter(text[i : i + m] for m in range(1, GRAMS + 1) for i in range(len(text) - m + 1))


def weighed_subsequences(text):
    """Each chosen set of letters counts for 2 to the power of minus the letters from its first to its last."""
    found = Counter()
    for m in range(1, GRAMS + 1):
        for places in combinations(range(len(text)), m):
            found["".join(text[i] for i in places)] += 0.5 ** (places[-1] - places[0] + 1)
    return found


def by_definition(texts, others, features):
    """The kernel, feature by feature."""

    def product(a, b):
        return sum(count * b[gram] for gram, count in a.items())

    left, right = [features(text) for text in texts], [features(text) for text in others]
    sizes = np.sqrt(np.outer([product(a, a) for a in left], [product(b, b) for b in right]))
    return np.array([[product(a, b) for b in right] for a in left]) / sizes


def off(texts, K, of):
    some = texts[:LOOKED_AT]
    true = by_definition(some, some, grams if of == "grams" else weighed_subsequences)
    return {"error": float(np.max(np.abs(np.asarray(K)[: len(some), : len(some)] - true)))}


def main(number, scale, name):
    warnings.simplefilter("ignore")
    case = CASES[int(number)].scaled(float(scale))
    texts, run = case.make(case.n), MATRICES[case.of][name] if case.matrix else fitted_and_placed(name, case)
    run(texts[: 5 if case.matrix else FEW])  # imports, thread pools, first-call costs
    times, worked, peak = [], [], 0
    while len(times) < case.repeats and sum(times) < case.patience:
        found = None
        give_back()
        before = time.process_time()
        found, seconds, used = timed(run, texts)
        times.append(seconds)
        worked.append(time.process_time() - before)
        peak = max(peak, used)
    if case.matrix:
        accuracy, said = off(texts, found, case.of), {}
    else:
        accuracy = judged(texts, found[1], case.of)
        said = {what: str(getattr(found[0], f"{what}_", "")) for what in ("certificate", "plan")}
    print(json.dumps({"times": times, "worked": worked, "peak": peak} | accuracy | said))


if __name__ == "__main__":
    main(*sys.argv[1:])
