"""The sizes of a kernel problem, and the bytes that follow from them."""

from dataclasses import dataclass

from mercer_old.blocks import FEATURE_ROWS, LANES, MOST_FEATURES, SPARSE_COLUMNS, THREAD_ROWS, sparse_rows
from mercer_old.plans.plan import BUFFERS
from mercer_old.plans.share import Share
from mercer_old.sources.chunked import Chunks
from mercer_old.sources.collections import COPIES
from mercer_old.sources.groups import IDLE

__all__ = ["Problem", "Spread"]

_MOST_SPARSE_FEATURES = 2000
_COUNTED = 2_000_000  # sparse features that are counted at a time
_FEATURE_PIECES = 8  # blocks of features that threads share
_VECTORS = 4  # with a number for each feature: an origin, sums and counts
_FEW = 8  # columns of a product
_SCALED = 48  # bytes for each number of sparse rows that are scaled, while that is done
_TILES = 5_000_000  # bytes of the tiles a thread works on
_USED = 0.9  # of a worker's memory: somewhat beyond it Dask ends the worker
_OF_A_WORKER = 0.5  # of its memory: beyond a little more, Dask moves what it holds to a disk


@dataclass(frozen=True)
class Spread:
    """Rows in chunks, and who works on them."""

    count: int  # of chunks
    largest: int  # rows of one
    workers: int
    room: int | None = None  # bytes of memory that each of them has; None: nobody said
    here: bool = False  # whether that is this process

    @classmethod
    def of(cls, chunks: Chunks) -> "Spread":
        """How items lie in chunks."""
        engine = chunks.engine
        return cls(len(chunks.counts), max(chunks.counts), engine.workers, engine.room, here=not engine.elsewhere)

    def rows_of_one(self, n: int) -> int:
        """Of n rows, those that a worker has at the most."""
        return min(n, -(-self.count // self.workers) * self.largest)

    def most(self, memory: int) -> int:
        """Bytes that a worker may hold of a factor, where this process may take so many."""
        return memory if self.here or self.room is None else int(_OF_A_WORKER * self.room)

    def factor_bytes(self, n: int, width: int, columns: int, at_once: int) -> int:
        """That a worker needs for its rows and their part of a factor of so many columns, which grows by some at once:
        with those and what is left of the diagonal after every step, and a copy of one chunk's while it grows."""
        rows = self.rows_of_one(n)
        held = rows * (width + columns + columns // 8 + 2)
        return 8 * (held + self.largest * (columns + 4 * at_once + 2 * width))

    def sweep_bytes(self, width: int, columns: int, block: int) -> int:
        """That a worker needs to sum up what so many landmarks see: itself, a chunk in several forms, the features of a
        block, and matrices between landmarks."""
        chunk = COPIES * self.largest * width
        return IDLE + 8 * (chunk + 6 * columns**2 + block * (2 * columns + 3 * width))

    def too_small(self, needed: int) -> bool:
        """Whether a worker has not so many bytes."""
        return not self.here and self.room is not None and needed > _USED * self.room


@dataclass(frozen=True)
class Problem:
    """The sizes that decide. k = None asks for all components."""

    n: int
    k: int | None
    width: int = 0  # columns of an item, or as many numbers as it takes while it is worked on
    working: int = 0  # numbers that one takes in memory, and a third of what is prepared of it; 0: width
    n_features: int | None = None  # of an exact feature map, if the kernel has one
    free_features: bool = True  # whether features of the width of the rows are the rows themselves
    copied: int = 0  # bytes of X that the model keeps a copy of
    loaded: int = 0  # bytes of X that have to be read from a file first
    reading: int = 0  # bytes that reading it takes meanwhile
    sparse: bool = False
    sparse_features: bool = False  # whether exact features are sparse, whatever the items are
    stored: int = 0  # numbers of sparse rows or features that are not zero, if that is known
    cheap_features: bool = False  # whether they can be made anew, block by block, whenever they are asked for
    given: bool = False  # the matrix (or its products) came from the user: it costs nothing to hold
    psd: bool = True  # whether the kernel is known to be positive semi-definite
    entry_cost: float = 5.0  # nominal nanoseconds to evaluate an entry
    inverse: bool = False  # whether the way back is learned too, which takes an n×n matrix
    eigen_solver: str = "auto"
    tol: float = 0.0
    max_passes: int | None = None
    n_landmarks: int | None = None  # None: as many as seem right
    refine: int = 0  # exact passes after landmarks
    chunks: Spread | None = None  # where the rows lie, if in chunks
    lent: Spread | None = None  # workers of a cluster who may be sent items that are here, to compare all with all
    drawn: bool = True  # whether landmarks are, and not given
    share: Share | None = None  # of the variance, if that was asked for: k is then the upper end of a range

    # ------------------------------------------------------------------ counts

    @property
    def wanted(self) -> int:
        """Components that are looked for."""
        return self.n if self.k is None else min(self.k, self.n)

    @property
    def elsewhere(self) -> Spread | None:
        """The workers of a cluster, who have the items or may be sent them; None: there are none."""
        return self.chunks if self.chunks is not None and not self.chunks.here else self.lent

    @property
    def workers(self) -> int:
        """How many those are."""
        return 0 if self.elsewhere is None else self.elsewhere.workers

    @property
    def anew(self) -> str:
        """How a matrix is held that is evaluated anew in each pass: by whoever has the rows."""
        return "spread" if self.workers else "recomputed"

    @property
    def numbers_each(self) -> int:
        """Numbers that an item takes in memory."""
        return self.working or self.width

    @property
    def _entries(self) -> int:
        """Numbers of sparse features that are not zero, counted or guessed."""
        return self.stored or 3 * self.n * self.width

    @property
    def narrow(self) -> bool:
        """Whether exact features are so few that the matrix between them is held."""
        return self.n_features is not None and self.n_features <= min(
            self.n, _MOST_SPARSE_FEATURES if self.sparse or self.sparse_features else MOST_FEATURES
        )

    @property
    def far_fewer_features(self) -> bool:
        """Whether features of texts are so few that the basis of a solver had better have a row for each of them.

        Not of sparse rows, whose columns may lie far from zero: sums over rows would lose the digits of what varies.
        """
        return self.sparse_features and not self.sparse and 2 * (self.n_features or 0) <= self.n

    @property
    def no_wider_than_rows(self) -> bool:
        """Features that are the rows, or the rows scaled, cost little where K would cost more."""
        return self.n_features is not None and self.n_features == self.width and (self.sparse or self.width > self.n)

    @property
    def far_wider(self) -> bool:
        """Whether sparse rows have so many columns that products with them take more than K."""
        return 8 * self.n**2 < self.sums_bytes(_FEW)

    # ------------------------------------------------------------------ bytes

    def matrix_bytes(self, held: str, threads: int = 1) -> int:
        """Of the matrix as it is held, with the rows kept and prepared for it."""
        return self.loaded + (
            self.copied
            if held == "given"
            else self._feature_bytes(threads)
            if held == "features"
            else self.copied + 8 * self.n**2 + self._prepared
            if held == "gram"
            else self._recomputed_bytes(threads)
        )

    @property
    def _prepared(self) -> int:
        return 8 * self.n * (3 * self.numbers_each + 6)

    def _recomputed_bytes(self, threads: int) -> int:
        """Of rows in double and in single precision, and of tiles."""
        return self.copied + BUFFERS + threads * _TILES + self._prepared + 8 * self.n * (self.numbers_each + 2)

    def _feature_bytes(self, threads: int) -> int:
        """Of features that are not the rows themselves, with what making them takes, and of blocks moved to the mean;
        or of the rows' copy, which is made when the blocks are gone."""
        n, D = self.n, self.n_features or 0
        if self.sparse_features:  # in pieces, and put together; or what counting some of them at a time takes
            entries = self._entries
            return 12 * entries + max(12 * entries, 100 * min(entries, _COUNTED)) + self.copied
        dense = 8 * n * D * (1 if self.width == D else 3)
        scaled = _SCALED * self.stored if self.sparse and self.stored and self.width == D else dense
        made = 0 if self.free_features and self.width == D else min(scaled, dense)
        whole = -(-n // -(-n // FEATURE_ROWS))  # rows of a block, all at once
        moved = 8 * D * min(n, max(whole, threads * min(FEATURE_ROWS, -(-n // _FEATURE_PIECES))))
        return made + max(self.copied, 0 if self.sparse else moved)

    def passing_bytes(self, threads: int) -> int:
        """Of features that are made block by block, and forgotten: what a sweep or threads work on, and its pieces."""
        rows = min(self.n, max(threads * FEATURE_ROWS, 2 * FEATURE_ROWS + LANES * THREAD_ROWS))
        return self.loaded + self.copied + 3 * 8 * rows * (self.n_features or 0)

    def sums_bytes(self, columns: int, threads: int = 1) -> int:
        """Of ΦᵀB with sparse Φ, a row for each feature: in as many lanes as there are blocks of rows, and what each
        thread adds to one of them, or the sum of all."""
        D = self.n_features or 0
        density = (self.stored or self.n * D) / max(self.n * D, 1)
        lanes = min(LANES, -(-self.n // sparse_rows(max(D, 1), density)))
        some = min(columns, SPARSE_COLUMNS)
        return 8 * D * (some * (lanes + min(threads, lanes)) + _VECTORS) if self.sparse else 0

    def axes_bytes(self, columns: int) -> int:
        """Of what a model keeps of sparse Φ: as many columns of ΦᵀB."""
        return 8 * (self.n_features or 0) * columns if self.sparse else 0

    def with_features(self, making: int, solving: int) -> int:
        """With what a solver takes: sparse features are made before it begins."""
        if not self.sparse_features:
            return making + solving
        most = max(making, self.loaded + self.copied + 12 * self._entries + 4 * self.n + solving)
        return most + min(BUFFERS, 20 * most)  # of little, the allocator keeps little
