"""Locally linear embedding with a proof."""

from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, Self

from sklearn.utils.validation import check_is_fitted

from mercer_old.arrays import Array
from mercer_old.fits.lazily import fit_transform_lazily, lazy_on_collections
from mercer_old.fits.local.placing import Placement
from mercer_old.fits.local.task import given_distances
from mercer_old.kernel_names import OF_TABLES, OF_TEXTS
from mercer_old.kernels.base import Kernel
from mercer_old.models.base import all_or_nothing
from mercer_old.models.local_model import LocalModel
from mercer_old.operators import local_methods
from mercer_old.operators.alignment import over_blocks
from mercer_old.unpromised import Interval, StrOptions, fits

if TYPE_CHECKING:
    from sklearn.neighbors import NearestNeighbors


class LocallyLinearEmbedding(LocalModel):
    """Locally linear embedding and its relatives, with a certificate and honest warnings.

    Every row is described by its nearest neighbours, and the embedding is where those descriptions fit best: the
    eigenvectors of the smallest eigenvalues of

        M = (I − W)ᵀ(I − W),   xᵢ ≈ Σⱼ Wᵢⱼxⱼ over the neighbours j of i,   Σⱼ Wᵢⱼ = 1,

    without the constant one. The other methods put other matrices Bᵢ of each neighbourhood into M = Σᵢ SᵢᵀBᵢSᵢ.
    A drop-in replacement for ``sklearn.manifold.LocallyLinearEmbedding``: same parameters, defaults and attributes.

    Parameters
    ----------
    n_neighbors : int or "auto", default=5
        How many neighbours describe a row. "auto": of some numbers from 4 to 40 that the method allows, the smallest
        whose graph hangs together (or has the fewest parts) and whose embedding keeps neighbourhoods as well as any:
        its mean of trustworthiness and continuity, by 10 neighbours, is within 0.002 of the best, and so is that of the
        next larger number; if there is none such, the best. Up to 1,000 rows are looked at.
    n_components : int, default=2
        Number of coordinates.
    reg : float, default=1e-3
        Weights solve (G + reg·tr(G)·I)w ∝ 1, for "standard" and "modified"; the other methods solve for no weights.
    eigen_solver : {"auto", "arpack", "dense"}, default="auto"
        All invert M plus a tiny multiple of I: "arpack" by a sparse factorisation, "dense" by Cholesky, "auto" by what
        is faster, which a small piece of the data tells. Up to 300 rows LAPACK takes the whole matrix.
    tol : float, default=1e-6
        Each residual is to be this small against the gap around its eigenvalue, or rounding.
    max_iter : int, default=100
        At most so many passes with the inverse, before and without those that polish and prove.
    method : {"standard", "modified", "hessian", "ltsa"}, default="standard"
        How a neighbourhood is described: by one vector of weights, by several of them (MLLE), by second derivatives
        (Hessian eigenmaps) or by its tangent space.
    hessian_tol : float, default=1e-4
        Accepted and not used: there is nothing to scale, as the columns it was for sum to zero.
    modified_tol : float, default=1e-12
        A reflection of MLLE shorter than this is none.
    neighbors_algorithm : {"auto", "brute", "kd_tree", "ball_tree"}, default="auto"
        All find the exact neighbours: "brute" by all distances, in tiles, both trees by a k-d tree.
    random_state : int, RandomState instance or None, default=None
        Of the solver's start; None is a fixed seed, so that runs repeat.
    n_jobs : int or None, default=None
        Threads, those of LAPACK among them; None is all of them.
    metric : {"euclidean", "cosine", "precomputed"} or kernel, default="euclidean"
        Where neighbourhoods live. "cosine" scales rows to length one first. A `mercer.kernels` object means its
        feature space, ‖x − y‖² = k(x, x) + k(y, y) − 2k(x, y), and should be positive semi-definite; kernels of texts
        and of tables have names too, as in `KernelPCA`: "spectrum" is ``Spectrum()``. "precomputed" says that X holds
        distances; the matrix is not copied, so it must not change afterwards.
    on_disconnected : {"warn", "separate", "raise"}, default="warn"
        What to do if the graph of neighbours falls apart: warn and let the coordinates tell the parts apart, embed
        every part on its own, or raise ValueError.
    memory_limit : int, str or None, default=None
        Bytes, or "2GB"; None is half the machine. Where all rows do not fit, landmarks are embedded, with a warning;
        what does not fit either, or was asked for by `eigen_solver`, is refused before it starts.
    progress : bool or callable, default=False
        True shows a bar on a terminal; a callable is called with the state.
    standardize : bool, default=False
        Divide every column by its standard deviation first, so that its unit does not matter: distances are those of
        ``x/scale_``. Nothing is subtracted.
    n_landmarks : int or None, default=None
        Embed so many rows that lie apart from each other, and place all others between them as `transform` does, block
        by block: for more rows than fit, or more than there is time for. None: all rows, if they fit into
        `memory_limit` and take less than some ten minutes; otherwise up to 20,000 landmarks, with a warning. Files are
        read twice then, and never held.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        The coordinates, as unit columns, each with its largest entry positive; by landmarks, nearly so.
    reconstruction_error_ : float
        The sum of their eigenvalues; by landmarks, of theirs.
    certificate_ : GapCertificate, PartsCertificate or PlacedCertificate
        What is proven: residuals against gaps, directions, whether an eigenvalue was missed. By landmarks, that of
        theirs, and how well all other rows were placed.
    plan_ : Plan
        What was done, and why.
    part_labels_ : ndarray of shape (n_samples,)
        The part of the graph that each row is in; 0 is the largest. By landmarks, that of the nearest one.
    n_parts_ : int
        How many there are.
    n_ties_ : int
        Rows whose last neighbour is one of several that are equally near: one of them was taken, so another order
        of the rows would give them other neighbours. Warned of if most rows are so.
    residuals_ : ndarray of shape (n_samples,)
        Distance of every row from what its neighbours make of it, in the units of the input (of ``x/scale_``, if
        ``standardize``). By landmarks, of those alone; so is ``n_ties_``.
    n_neighbors_ : int
        How many neighbours there were.
    n_neighbors_reason_ : str
        Why, in words, only if ``n_neighbors="auto"``.
    landmark_indices_ : ndarray of shape (n_landmarks,)
        Numbers of the rows that were embedded, only by landmarks.
    scale_ : ndarray of shape (n_features,)
        What columns were divided by, only if ``standardize``: s = √(Σ(x − mean)²/(n − 1)), and 1 for constant ones.
    nbrs_ : NearestNeighbors
        scikit-learn's search over the (distinct) training rows, or landmarks; only where it has one.
    n_features_in_ : int
        How many columns.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, only if X has names that are texts.

    See Also
    --------
    KernelPCA : With a kernel that knows what is near, where no graph of neighbours is wanted.

    Notes
    -----
    Different from scikit-learn, on purpose: ``reg`` counts for "modified" too; "hessian" is the true one (there a full
    QR factorisation makes it the same as "ltsa"); for these two, a row that is nobody's neighbour counts as its own, as
    nothing else would hold it; equal rows are neighbours of each other; ``transform`` gives training rows their own
    places (a row that was given twice, the first of its two); graphs that fall apart and answers without a meaning are
    warned of.

    Examples
    --------
    >>> from mercer import LocallyLinearEmbedding
    >>> from mercer.datasets import spiral
    >>> X, place = spiral(300, 2)
    >>> model = LocallyLinearEmbedding(n_neighbors=12, n_components=1).fit(X)
    >>> bool(model.certificate_.certified), model.n_parts_
    (True, 1)
    """

    _parameter_constraints: ClassVar[dict] = {
        "n_neighbors": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "reg": [Interval(Real, 0, None, closed="left")],
        "eigen_solver": [StrOptions({"auto", "arpack", "dense"})],
        "tol": [Interval(Real, 0, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "method": [StrOptions({"standard", "modified", "hessian", "ltsa"})],
        "hessian_tol": [Interval(Real, 0, None, closed="left")],
        "modified_tol": [Interval(Real, 0, None, closed="left")],
        "neighbors_algorithm": [StrOptions({"auto", "brute", "kd_tree", "ball_tree"})],
        "random_state": ["random_state"],
        "n_jobs": [None, Integral],
        "metric": [StrOptions({"euclidean", "cosine", "precomputed", *OF_TEXTS, *OF_TABLES}), Kernel],
        "on_disconnected": [StrOptions({"warn", "separate", "raise"})],
        "memory_limit": [Interval(Real, 0, None, closed="neither"), str, None],
        "progress": ["boolean", callable],
        "standardize": ["boolean"],
        "n_landmarks": [Interval(Integral, 1, None, closed="left"), None],
    }

    def __init__(
        self,
        *,
        n_neighbors: int | str = 5,
        n_components: int = 2,
        reg: float = 1e-3,
        eigen_solver: str = "auto",
        tol: float = 1e-6,
        max_iter: int = 100,
        method: str = "standard",
        hessian_tol: float = 1e-4,
        modified_tol: float = 1e-12,
        neighbors_algorithm: str = "auto",
        random_state: Any = None,
        n_jobs: int | None = None,
        metric: Any = "euclidean",
        on_disconnected: str = "warn",
        memory_limit: int | str | None = None,
        progress: Any = False,
        standardize: bool = False,
        n_landmarks: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.n_components = n_components
        self.reg = reg
        self.eigen_solver = eigen_solver
        self.tol = tol
        self.max_iter = max_iter
        self.method = method
        self.hessian_tol = hessian_tol
        self.modified_tol = modified_tol
        self.neighbors_algorithm = neighbors_algorithm
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.metric = metric
        self.on_disconnected = on_disconnected
        self.memory_limit = memory_limit
        self.progress = progress
        self.standardize = standardize
        self.n_landmarks = n_landmarks

    # ------------------------------------------------------------------ fitting

    @all_or_nothing
    @fits
    def fit(self, X: Any, y: Any = None) -> Self:
        """Embed the rows of X.

        Parameters
        ----------
        X : {array-like, sparse matrix, pathlib.Path, Rows} of shape (n_samples, n_features)
            The rows; a file of rows, or what `mercer.open_rows` made of one; distances between all items if
            ``metric="precomputed"``.
        y : Ignored
            Present for compatibility.

        Returns
        -------
        self : LocallyLinearEmbedding
            The fitted model.
        """
        self._fit(X)
        return self

    @fit_transform_lazily
    def fit_transform(self, X: Any, y: Any = None) -> Array:
        """Fit, and return ``embedding_``.

        Parameters
        ----------
        X : {array-like, sparse matrix, pathlib.Path, Rows} of shape (n_samples, n_features)
            The rows.
        y : Ignored
            Present for compatibility.

        Returns
        -------
        embedding : ndarray of shape (n_samples, n_components)
            A copy of ``embedding_``.
        """
        self.fit(X)
        return self.embedding_.copy()

    # ------------------------------------------------------------------ using

    @lazy_on_collections
    def transform(self, X: Any) -> Array:
        """Find places for new rows: their weights over the nearest training rows, times the places of those.

        A row that equals a training row gets its place. Rows more than 1.25 times as far from the training rows as
        those are from their own neighbours are warned of: there the embedding is a guess. See `place` for what is known
        of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix, pathlib.Path, Rows} of shape (n_samples, n_features)
            The rows; if ``metric="precomputed"``, their distances to the training items.

        Returns
        -------
        places : ndarray of shape (n_samples, n_components)
            In the coordinates of ``embedding_``.
        """
        return self._by_blocks(self._new_items(X))

    def place(self, X: Any) -> Placement:
        """Find places for new rows, with the local residual and the distance to the training rows of each.

        Parameters
        ----------
        X : {array-like, sparse matrix, pathlib.Path, Rows} of shape (n_samples, n_features)
            The rows; if ``metric="precomputed"``, their distances to the training items.

        Returns
        -------
        placement : Placement
            The places, and what is known of each.
        """
        return self._placed(self._new_items(X).load(), self._limits().threads)

    @property
    def residuals_(self) -> Array:
        """Distance of every training row from what its neighbours make of it, computed when it is asked for."""
        check_is_fitted(self)
        hoods = self._hoods

        def lengths(G: Array) -> Array:
            return local_methods.residuals(G, local_methods.weights(G, self.reg))

        found = over_blocks(hoods.space, hoods.indices, lengths, self._limits().threads)
        return hoods.all_rows(found * hoods.space.scale)

    @property
    def nbrs_(self) -> "NearestNeighbors":
        """The search of scikit-learn over the (distinct) training rows, made when it is asked for."""
        from sklearn.neighbors import NearestNeighbors  # as slow to import as all of mercer

        check_is_fitted(self)
        space = self._hoods.space
        if space.by_kernel:
            raise AttributeError("nbrs_: scikit-learn has no search by the distance of a kernel.")
        metric = "precomputed" if given_distances(self) else "minkowski"
        search = NearestNeighbors(n_neighbors=self.n_neighbors_, algorithm=self.neighbors_algorithm, metric=metric)
        return search.fit(space.as_given())

    # ------------------------------------------------------------------ scikit-learn's ways

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = not given_distances(self)
        tags.input_tags.pairwise = tags.input_tags.positive_only = given_distances(self)
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
