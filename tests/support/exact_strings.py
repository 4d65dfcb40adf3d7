"""Kernels on strings by their definitions: sums of fractions over all features of a pair, and one root to 40 digits."""

from collections import Counter, defaultdict
from fractions import Fraction
from functools import cache
from itertools import combinations, product
from math import comb

import mpmath
import numpy as np


def exact_matrix(kernel, X, Y):
    """k of all pairs, as numbers of mpmath."""
    features = {string: FEATURES[type(kernel).__name__](as_text(string), kernel) for string in {*X, *Y}}

    @cache
    def similarity(s, t):
        return sum((compare(kernel, a, features[t].get(g, 0)) for g, a in features[s].items()), Fraction(0))

    rows = [[normalized(similarity(s, t), similarity(s, s), similarity(t, t), kernel.normalize) for t in Y] for s in X]
    return np.array(rows, dtype=object).reshape(len(X), len(Y))


def distance_to_exact(computed, exact):
    """|computed − exact| of every entry."""
    return np.array(
        [[float(abs(a - b)) for a, b in zip(*rows, strict=True)] for rows in zip(computed, exact, strict=True)]
    )


def as_text(string):
    return string if isinstance(string, str) else string.decode("latin-1")


def compare(kernel, a, b):
    (a, weight), b = a, b[0] if b else 0
    counts = kernel.counts
    return Fraction(weight) * {"product": a * b, "min": min(a, b), "binary": int(bool(a and b))}[counts]


def normalized(k, a, b, normalize):
    if not k:
        return mpmath.mpf(0)
    with mpmath.workdps(40):
        real = [mpmath.mpf(x.numerator) / x.denominator for x in (k, a, b, a + b, a + b - k)]
        divisor = {True: mpmath.sqrt(real[1] * real[2]), False: 1, "dice": real[3] / 2, "jaccard": real[4]}
        return real[0] / divisor[normalize]


def spectrum(string, kernel):
    """Count and weight of every n-gram; graphemes are tested by stand-ins."""
    parts = string.split() if kernel.analyzer == "word" else string
    lengths = range(kernel.min_n or kernel.n, kernel.n + 1)
    weights = kernel.weights or [1] * len(lengths)
    found = {}
    for m, weight in zip(lengths, weights, strict=True):
        counts = Counter(tuple(parts[i : i + m]) for i in range(len(parts) - m + 1))
        found |= {ngram: (count, weight) for ngram, count in counts.items()}
    return found


def gapped_kmer(string, kernel):
    masks = list(combinations(range(kernel.length), kernel.length - kernel.wildcards))
    counts = Counter((mask, *(w[i] for i in mask)) for w in windows(string, kernel.length) for mask in masks)
    return {ngram: (count, 1) for ngram, count in counts.items()}


def mismatch(string, kernel):
    counts = Counter()
    for window in windows(string, kernel.n):
        choices = product(*({symbol, *kernel.alphabet} for symbol in window))
        counts.update(g for g in choices if sum(x != y for x, y in zip(g, window, strict=True)) <= kernel.m)
    return {ngram: (count, 1) for ngram, count in counts.items()}


def weighted_degree(string, kernel):
    n = kernel.degree
    return {
        (i, window): (1, Fraction(2 * (n - d + 1), n * (n + 1)))
        for d in range(1, n + 1)
        for i, window in enumerate(windows(string, d))
    }


def subsequence(string, kernel):
    """Σ λ^span over all places where a subsequence is."""
    found = defaultdict(Fraction)
    for q in range(kernel.min_length or kernel.length, kernel.length + 1):
        for places in combinations(range(len(string)), q):
            found[tuple(string[i] for i in places)] += Fraction(kernel.decay) ** (places[-1] - places[0] + 1)
    return {u: (total, 1) for u, total in found.items()}


def windows(string, length):
    return [string[i : i + length] for i in range(len(string) - length + 1)]


FEATURES = {
    "Spectrum": spectrum,
    "GappedKmer": gapped_kmer,
    "Mismatch": mismatch,
    "WeightedDegree": weighted_degree,
    "Subsequence": subsequence,
}


def neighborhood_size(n, m, n_symbols):
    """n-grams with at most m exchanged symbols."""
    return sum(comb(n, j) * (n_symbols - 1) ** j for j in range(m + 1))


def edit_distance(s, t):
    """Levenshtein's distance by the dynamic program over prefixes."""
    row = list(range(len(t) + 1))
    for i, a in enumerate(s, 1):
        before, row = row, [i]
        for j, b in enumerate(t, 1):
            row.append(min(before[j] + 1, row[-1] + 1, before[j - 1] + (a != b)))
    return row[-1]
