"""Pre-images that are items of the fit, or strings found by a search from these."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.estimators._preimages import Geometry, nearest
from mercer.kernels.algebra import Composite
from mercer.kernels.base import Kernel
from mercer.kernels.strings.ngrams import tokenize

_BEAM, _AROUND = 8, 20  # strings that are edited in every round; nearest strings whose tokens are tried
_ROUNDS = 50
_GAIN = 1e-3  # of k(t, t) of the nearest string: what a round of edits has to gain


def nearest_items(geometry: Geometry, Y: NDArray) -> NDArray:
    """Indices of the samples whose images are nearest to p(y)."""
    found = [_distances_to_items(geometry, Y[rows]).argmin(axis=1) for rows in geometry.blocks(len(Y))]
    return np.concatenate(found)


def _distances_to_items(geometry: Geometry, Y: NDArray) -> NDArray:
    """Squared distances, where a string without n-grams, whose image is zero, counts as long as the longest."""
    own = geometry.norms + geometry.shift
    return np.asarray(geometry.squared_distances(Y) + np.where(own > 0, 0.0, own.max(initial=0.0)))


def search_strings(geometry: Geometry, Y: NDArray) -> NDArray:
    """A string for every y, by beam search from the nearest samples over single edits with their tokens.

    No string is longer than the longest of these. Strings that mean nothing can be nearer than any sample, so a round
    of edits has to gain more than a little.
    """
    out = np.empty(len(Y), dtype=object)
    for rows in geometry.blocks(len(Y)):
        columns, squared = nearest(_distances_to_items(geometry, Y[rows]), _AROUND)
        norms = geometry.squared_norms(Y[rows]) + geometry.shift
        for i, y in enumerate(Y[rows]):
            known = [geometry.samples[column] for column in columns[i]]
            out[rows.start + i] = _search(geometry, known, float(squared[i, 0]), float(norms[i]), y)
    return out


def _search(geometry: Geometry, known: list[Any], squared: float, norm: float, y: NDArray) -> Any:
    """The nearest string that is found, from known ones whose first is as near as `squared`; norm = ‖p‖²."""
    analyzer = _analyzer(geometry.kernel)
    tokens = [tokenize(string, analyzer) for string in known]
    alphabet, longest = sorted({token for some in tokens for token in some}), max(map(len, tokens))
    beam, best, seen = known[:_BEAM], (squared, known[0]), set(known)
    first = np.empty(1, dtype=object)
    first[0] = known[0]
    gain = _GAIN * float(geometry.kernel.diag(first)[0])
    for _ in range(_ROUNDS if squared > gain else 0):
        edits = (
            new for string in beam for new in _edits(tokenize(string, analyzer), string, alphabet, analyzer, longest)
        )
        edited = [string for string in dict.fromkeys(edits) if string not in seen]
        if not edited:
            break
        seen.update(edited)
        distances = _heights(geometry, edited, y) + norm
        order = np.argsort(distances, kind="stable")[:_BEAM]
        beam = [edited[i] for i in order]
        if not distances[order[0]] < best[0] - gain:
            break
        best = float(distances[order[0]]), beam[0]
    return best[1]


def _heights(geometry: Geometry, strings: list[Any], y: NDArray) -> NDArray:
    """k(z, z) − 2⟨φ(z), p(y)⟩; infinite for a string without n-grams."""
    items = np.empty(len(strings), dtype=object)
    items[:] = strings
    own = np.asarray(geometry.kernel.diag(items), dtype=np.float64)
    if geometry.feature_map is None:
        products = geometry.kernel(items, geometry.samples) @ geometry.coefficients(y[None])[0]
    else:
        products = geometry.feature_map.transform(items) @ (geometry.axes @ np.append(y, 1.0))
    return np.where(own > 0, own - 2 * products, np.inf)


def _analyzer(kernel: Kernel) -> str:
    """What a kernel takes for a token; the smallest of these if its parts differ."""
    if isinstance(kernel, Composite):
        return min(map(_analyzer, kernel.parts), default="char")  # the order of the alphabet is that of the sizes
    return getattr(kernel, "analyzer", "word" if kernel.input_kind == "any" else "char")


def _edits(tokens: list[Any], string: Any, alphabet: list[Any], analyzer: str, longest: int) -> Iterator[Any]:
    """All strings with one token less, another one, or one more up to the longest."""
    separator: Any = " " if analyzer == "word" else ""
    if isinstance(string, bytes):
        separator = separator.encode()
    for i in range(len(tokens) + 1):
        before, after = tokens[:i], tokens[i:]
        for token in alphabet:
            if len(tokens) < longest:
                yield separator.join([*before, token, *after])
            if after and token != after[0]:
                yield separator.join([*before, token, *after[1:]])
        if after:
            yield separator.join([*before, *after[1:]])
