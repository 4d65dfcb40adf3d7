"""Texts: the words and reads, and the cases."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

KNOWN = 400_000  # words of wordfreq's large English list that are asked for; it has some 320 000
LETTERS = "abcdefghijklmnopqrstuvwxyz"
READ = 50  # letters of a read
SMALLEST = 100  # texts below which --scale does not go


def words(n):
    """So many English words at random; where there are not as many, the rest has a letter put in, left out or changed,
    as typing errors do."""
    from wordfreq import top_n_list

    known, rng = top_n_list("en", KNOWN, wordlist="large"), np.random.default_rng(0)
    more = max(0, n - len(known))
    chosen = [known[i] for i in rng.permutation(len(known))[: n - more]]
    which, how, where = rng.integers(len(known), size=more), rng.integers(3, size=more), rng.random(more)
    letters = rng.integers(len(LETTERS), size=more)
    for i, error, share, letter in zip(which, how, where, letters, strict=True):
        word = known[i]
        at = int(share * len(word))
        chosen.append(word[:at] + ("" if error == 1 else LETTERS[letter]) + word[at + (error > 0) :])
    return [chosen[i] for i in rng.permutation(n)]


def capitals(n):
    """Words of three plain letters or more, in capitals: those that all systems can read."""
    plain = (word for word in words(20 * n) if word.isascii() and word.isalpha() and len(word) >= 3)
    return [word.upper() for word, _ in zip(plain, range(n), strict=False)]


def middling(n):
    """Words of 6 to 12 plain letters."""
    return [word for word in capitals(4 * n) if 6 <= len(word) <= 12][:n]


def reads(n):
    """Random reads of DNA."""
    rng = np.random.default_rng(0)
    return ["".join(letters) for letters in rng.choice(list("ACGT"), size=(n, READ))]


@dataclass(frozen=True)
class Case:
    kind: str
    make: Callable
    n: int
    systems: tuple[str, ...]  # names in `systems.COMPONENTS` or `systems.MATRICES`, ours first
    of: str = "grams"  # what is counted: "grams" or "subsequences"
    matrix: bool = False  # whether it is the kernel matrix that is asked for, or components of it
    repeats: int = 3
    patience: float = 30  # seconds in all, after which a run is not repeated
    limit: float = 200  # seconds for all of it, after which it is given up
    k: int = 10

    @property
    def name(self):
        return f"{self.n:,} {self.kind}"

    def scaled(self, factor):
        """The same with fewer texts, to try things out."""
        return replace(self, n=max(min(self.n, SMALLEST), round(self.n * factor)))


PEERS = "CountVectorizer + TruncatedSVD", "CountVectorizer + PCA", "skrub StringEncoder", "skrub MinHashEncoder"
MATRIX = "mercer", "strkernels", "CountVectorizer and a product"
CASES = [
    *(Case("words", words, n, ("mercer", *PEERS)) for n in (500, 5_000, 100_000, 1_000_000)),
    *(
        Case("words, subsequences", words, n, ("mercer", *PEERS[:1]), of="subsequences", limit=600)
        for n in (5_000, 100_000, 1_000_000)
    ),
    *(Case("reads of DNA, the matrix", reads, n, MATRIX, matrix=True) for n in (500, 5_000)),
    Case("words in capitals, the matrix", capitals, 100, MATRIX, matrix=True),
    Case(
        "words of 6–12 letters, the matrix of subsequences", middling, 1_000, MATRIX[:2], of="subsequences", matrix=True
    ),
]
