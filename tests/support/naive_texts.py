"""Slow twins of the kernels of texts: the definitions, over all grams of a pair of texts, one pair after the other."""

from collections import Counter, defaultdict
from fractions import Fraction
from functools import cache
from itertools import combinations

import mpmath
import numpy as np


def by_definition(kernel, some, others):
    """k of all pairs, divided as the kernel says."""
    return np.array(exactly(kernel, some, others).tolist(), dtype=float).reshape(len(some), len(others))


def exactly(kernel, some, others):
    """The same to 40 digits: sums are fractions, and one root is taken."""
    similarity = SIMILARITIES[type(kernel).__name__]
    some, others = ([t if isinstance(t, str) else t.decode("latin-1") for t in side] for side in (some, others))
    own = {text: similarity(text, text, kernel) for text in {*some, *others}}
    return np.array([[ratio(similarity(s, t, kernel), own[s], own[t], kernel) for t in others] for s in some])


def ratio(k, a, b, kernel):
    with mpmath.workdps(40):
        root = mpmath.sqrt(as_real(a) * as_real(b))
        whole = {True: root, False: 1, "dice": as_real(a + b) / 2, "jaccard": as_real(a + b - k)}[kernel.normalize]
        return as_real(k) / whole if whole else mpmath.mpf(0)


def as_real(fraction):
    return mpmath.mpf(fraction.numerator) / fraction.denominator


def spectrum(s, t, kernel):
    total = Fraction(0)
    for place, m in enumerate(kernel.lengths):
        a, b = (
            Counter(tuple(x[i : i + m]) for i in range(len(x) - m + 1)) for x in (parts(s, kernel), parts(t, kernel))
        )
        total += Fraction(1 if kernel.weights is None else kernel.weights[place]) * common(a, b, kernel.counts)
    return total


def parts(text, kernel):
    return text.split() if kernel.by == "words" else text


def common(a, b, counts):
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


SIMILARITIES = {"Spectrum": spectrum, "Subsequence": subsequence}
