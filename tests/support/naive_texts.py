"""Slow twins of the kernels of texts: the definitions, over all grams of a pair of texts, one pair after the other."""

from collections import Counter, defaultdict
from fractions import Fraction
from functools import cache
from itertools import combinations, product
from math import comb

import mpmath
import numpy as np


def by_definition(kernel, some, others):
    """k of all pairs, divided as the kernel says."""
    return np.array(exactly(kernel, some, others).tolist(), dtype=float).reshape(len(some), len(others))


def exactly(kernel, some, others):
    """The same to 40 digits: sums are fractions, and one root is taken."""
    some, others = ([t if isinstance(t, str) else t.decode("latin-1") for t in side] for side in (some, others))

    @cache
    def similarity(s, t):
        return SIMILARITIES[type(kernel).__name__](s, t, kernel)

    def entry(s, t):
        return ratio(similarity(min(s, t), max(s, t)), similarity(s, s), similarity(t, t), kernel)

    return np.array([[entry(s, t) for t in others] for s in some])


def ratio(k, a, b, kernel):
    return divided(k, a, b, kernel.normalize) if k else mpmath.mpf(0)


@cache
def divided(k, a, b, normalize):
    with mpmath.workdps(40):
        root = mpmath.sqrt(as_real(a) * as_real(b))
        return as_real(k) / {True: root, False: 1, "dice": as_real(a + b) / 2, "jaccard": as_real(a + b - k)}[normalize]


def as_real(fraction):
    return mpmath.mpf(fraction.numerator) / fraction.denominator


def spectrum(s, t, kernel):
    weights = kernel.weights or [1] * len(kernel.lengths)
    return sum(
        (Fraction(w) * common(s, t, m, kernel.by, kernel.counts) for w, m in zip(weights, kernel.lengths, strict=True)),
        Fraction(0),
    )


@cache
def grams(text, m, by):
    parts = text.split() if by == "words" else text
    return Counter(tuple(parts[i : i + m]) for i in range(len(parts) - m + 1))


@cache
def common(s, t, m, by, counts):
    a, b = grams(s, m, by), grams(t, m, by)
    return {
        "product": lambda: sum(count * b[gram] for gram, count in a.items()),
        "min": lambda: sum(min(count, b[gram]) for gram, count in a.items()),
        "once": lambda: sum(gram in b for gram in a),
    }[counts]()


def subsequence(s, t, kernel):
    return sum((subsequences_in_common(s, t, q, kernel.decay) for q in kernel.lengths), Fraction(0))


def subsequences_in_common(s, t, q, decay):
    """Σ λ^(span in s + span in t) over all places of q letters in s and in t that spell the same."""
    a, b = weighed_spans(s, q, decay), weighed_spans(t, q, decay)
    return sum((a[u] * b[u] for u in a if u in b), Fraction(0))


@cache
def weighed_spans(text, q, decay):
    """Σ λ^span over all places where a subsequence is."""
    found = defaultdict(Counter)
    for places in combinations(range(len(text)), q):
        found[tuple(text[i] for i in places)][places[-1] - places[0] + 1] += 1
    return {u: sum(times * Fraction(decay) ** span for span, times in spans.items()) for u, spans in found.items()}


def windows(text, length):
    return [text[i : i + length] for i in range(len(text) - length + 1)]


def differences(a, b):
    return sum(x != y for x, y in zip(a, b, strict=True))


def gapped_kmer(s, t, kernel):
    """Σ over pairs of windows of the number of ways to look at places where they are the same."""
    looked_at = kernel.length - kernel.wildcards
    pairs = product(windows(s, kernel.length), windows(t, kernel.length))
    return Fraction(sum(comb(kernel.length - differences(a, b), looked_at) for a, b in pairs))


def mismatch(s, t, kernel):
    a, b = (Counter(g for w in windows(x, kernel.n) for g in becomes(w, kernel.m, kernel.alphabet)) for x in (s, t))
    return Fraction(sum(count * b[gram] for gram, count in a.items()))


@cache
def becomes(window, most, alphabet):
    """All grams that differ from the window in few places, where they have letters of the alphabet."""
    choices = product(*({letter, *alphabet} for letter in window))
    return ["".join(gram) for gram in choices if differences(gram, window) <= most]


def weighted_degree(s, t, kernel):
    n, total = kernel.n, Fraction(0)
    for d in range(1, n + 1):
        same = sum(a == b for a, b in zip(windows(s, d), windows(t, d), strict=False))
        total += Fraction(2 * (n - d + 1), n * (n + 1)) * same
    return total


SIMILARITIES = {
    "Spectrum": spectrum,
    "Subsequence": subsequence,
    "GappedKmer": gapped_kmer,
    "Mismatch": mismatch,
    "WeightedDegree": weighted_degree,
}


# ---------------------------------------------------------------------------- of no Mercer kernel


@cache
def edit_distance(s, t):
    """The fewest letters to insert, delete or exchange, by the three ways to end."""
    if not s or not t:
        return len(s) + len(t)
    if s[-1] == t[-1]:
        return edit_distance(s[:-1], t[:-1])
    return 1 + min(edit_distance(s[:-1], t), edit_distance(s, t[:-1]), edit_distance(s[:-1], t[:-1]))
