"""Locally linear embedding: scikit-learn's class with certified errors, warnings about graphs, files and landmarks."""

from collections.abc import Iterator
from dataclasses import replace
from numbers import Integral, Real
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import LinearOperator
from sklearn.neighbors import NearestNeighbors
from sklearn.utils.validation import check_is_fitted

from mercer.analysis.columns import dominating_text
from mercer.certificates.gap import GapCertificate, PlacementCertificate
from mercer.compat.sklearn_private import Interval, NotConvergedWarning, StrOptions, validate_params
from mercer.contract import Eigenspectrum, TrainingSet
from mercer.data.dataset import ArrayDataset, Dataset, Kind, scaled
from mercer.data.validation import is_finite, raise_nonfinite
from mercer.errors import DataError, MercerWarning, ParameterError, Remedy, warn, warn_each
from mercer.estimators._base import COMMON_ATTRIBUTES, COMMON_CONSTRAINTS, Estimator, check_scores, fit_method
from mercer.estimators._local_embedding import (
    Method,
    NeighborGraph,
    Placement,
    build_alignment,
    check_distances,
    check_embedding,
    check_kernel_values,
    choose_landmarks,
    choose_n_neighbors,
    connecting_n_neighbors,
    extend,
    extend_to_all,
    zero_pairs,
)
from mercer.kernels.base import Kernel, get_kernel
from mercer.kernels.names import KERNELS
from mercer.linalg.alignment import local_weights, map_neighborhoods, reconstruction_residuals
from mercer.linalg.eigen import Eigenpairs, column_signs
from mercer.linalg.neighbors import NeighborSpace, neighbor_space
from mercer.numerics.blocking import block_rows
from mercer.numerics.random_state import lazy_generator
from mercer.numerics.threads import working
from mercer.planning.plan import Plan
from mercer.planning.plan_lle import (
    DEFAULT_TOL,
    LARGE_SAMPLES,
    SMALL_SAMPLES,
    LLEProblem,
    estimate_width,
    graph_width,
    plan_lle,
)
from mercer.storable import Stored

_NAMED = {name for name, kernel in KERNELS.items() if kernel.input_kind not in ("vectors", "precomputed")}
_CHOOSING_SAMPLES = 1000  # from which n_neighbors="auto" is chosen
_ONE_THREAD = 1000  # new samples up to which other threads are not worth it
_SINGULAR = (
    "Error in determining null-space with ARPACK. Error message: 'all rows are equal'. Note that eigen_solver='arpack' "
    "can fail when the weight matrix is singular or otherwise ill-behaved; eigen_solver='auto' warns instead."
)


class LocallyLinearEmbedding(Estimator):
    """Locally linear embedding with bounds on the numerical error and warnings about the neighbor graph.

    Each row is described by its nearest neighbors, and the embedding is where these descriptions fit best: the
    eigenvectors of the smallest eigenvalues of

        M = (I − W)ᵀ(I − W),   xᵢ ≈ Σⱼ Wᵢⱼxⱼ over the neighbors j of i,   Σⱼ Wᵢⱼ = 1,

    without the constant one. The other methods put other matrices Bᵢ of each neighborhood into M = Σᵢ SᵢᵀBᵢSᵢ. A
    drop-in replacement for `sklearn.manifold.LocallyLinearEmbedding`: the same parameters, defaults and attributes.

    Parameters
    ----------
    n_neighbors : int or "auto", default=5
        Number of neighbors. "auto": of some numbers from 4 to 40, the smallest whose graph has the fewest connected
        components, also with all rows, and whose embedding of up to 1,000 rows preserves neighborhoods as well as
        larger ones do.
    n_components : int, default=2
        Number of coordinates.
    reg : float, default=1e-3
        Weights solve (G + reg·tr(G)·I)w ∝ 1, for "standard" and "modified".
    eigen_solver : {"auto", "arpack", "dense"}, default="auto"
        All invert M plus a tiny multiple of I: "arpack" by a sparse factorization, "dense" by Cholesky, "auto" by what
        the neighbor graph makes faster. Up to 400 rows, LAPACK takes the whole matrix.
    tol : float, default=1e-6
        Tolerance of the residuals, relative to the gaps between eigenvalues. 0: 1e-6.
    max_iter : int, default=100
        Maximum number of passes with the inverse.
    method : {"standard", "modified", "hessian", "ltsa"}, default="standard"
        How a neighborhood is described: by a vector of weights, by several of them, by second derivatives or by its
        tangent space.
    hessian_tol : float, default=1e-4
        Ignored.
    modified_tol : float, default=1e-12
        Reflections of modified LLE shorter than this are the identity.
    neighbors_algorithm : {"auto", "brute", "kd_tree", "ball_tree"}, default="auto"
        All find the exact neighbors: "brute" by all distances, both trees by a k-d tree.
    random_state : int, RandomState or None, default=None
        Seed of the solver's start, the probes of the certificate and the landmarks. None is a fixed seed.
    n_jobs : int, default=None
        Number of threads. None: all processors.
    metric : {"euclidean", "cosine", "precomputed"}, name of a kernel on strings or tables, or Kernel, \
default="euclidean"
        Distances between rows. "cosine" scales rows to length one first. A kernel gives the distance in its feature
        space, ‖x − y‖² = k(x, x) + k(y, y) − 2k(x, y). "precomputed": X holds distances; the matrix is not
        copied and must not change afterwards.
    on_disconnected : {"warn", "raise"}, default="warn"
        What to do if the neighbor graph is disconnected.
    memory_limit : int, str or None, default=None
        Bytes, or a text such as "2GB". None: half of the memory of the machine or container.
    progress : bool or callable, default=False
        True: a progress bar. A function is called with a `Progress`; what it raises stops the fit.
    standardize : bool, default=False
        Divide each column by its standard deviation first.
    n_landmarks : int or None, default=None
        Embed so many rows that lie apart from each other, and place all others between them as `transform` does. None:
        all rows, or up to 20,000 landmarks with a warning if they do not fit into `memory_limit` or take more than
        about 10 minutes. Files are read twice then and never loaded.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        Coordinates as unit columns, the largest entry of each positive. With landmarks, nearly so.
    reconstruction_error_ : float
        Sum of the eigenvalues; with landmarks, those of the landmarks.
    certificate_ : GapCertificate or PlacementCertificate
        Bounds on eigenvalues and directions, whether an eigenvalue was missed, and why the embedding may be
        meaningless. With landmarks, also how well all other rows were placed.
    plan_ : Plan
        The route of the fit and its reason.
    connected_component_labels_ : ndarray of shape (n_samples,)
        Connected component of the neighbor graph that each row belongs to; 0 is the largest. With landmarks, that of
        the nearest one.
    n_connected_components_ : int
        Number of connected components.
    neighbors_ : ndarray of shape (n_distinct, n_neighbors)
        Indices of the neighbors of each distinct row, or landmark, nearest first.
    neighbor_distances_ : ndarray of shape (n_distinct, n_neighbors)
        Distances to these neighbors.
    n_ties_ : int
        Number of rows whose last neighbor is one of several that are equally near.
    residuals_ : ndarray of shape (n_samples,)
        Distance of each row from the weighted combination of its neighbors, in the units of the input. With
        landmarks, that of each landmark.
    n_neighbors_ : int
        Number of neighbors.
    n_neighbors_reason_ : str
        Why. Only if ``n_neighbors="auto"``.
    landmark_indices_ : ndarray of shape (n_landmarks,)
        Indices of the landmarks. Only with landmarks.
    scale_ : ndarray of shape (n_features,)
        Standard deviation of each column, 1 for constant ones. Only if ``standardize=True``.
    nbrs_ : NearestNeighbors
        scikit-learn's search over the distinct rows, or landmarks. Not for kernels.
    n_components_ : int
        Number of coordinates.
    n_samples_ : int
        Number of rows.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features. Only if X has names that are strings.
    fit_warnings_ : tuple of MercerWarning
        Warnings of the fit.

    See Also
    --------
    KernelPCA : Kernel principal component analysis, which needs no neighbor graph.

    Notes
    -----
    Differences from scikit-learn: `reg` counts for "modified", too. "hessian" uses the reduced QR factorization (with
    the full one it is the same as "ltsa"). For these two methods, a row that is not a neighbor of any other counts as
    its own neighbor. Equal rows are neighbors of each other. `sample_weight` is not supported.

    `transform` combines the coordinates of the nearest training rows by the weights that combine these to the new row.
    It returns the coordinates of the training row for a row that equals one (the first, if it equals several). A
    warning reports rows that are more than 1.25 times as far from the training rows as these are from their own
    neighbors; see `place`.

    References
    ----------
    Roweis and Saul (2000), Nonlinear dimensionality reduction by locally linear embedding. Donoho and Grimes (2003),
    Hessian eigenmaps. Zhang and Zha (2004), Local tangent space alignment. Zhang and Wang (2007), MLLE.

    Examples
    --------
    >>> from mercer import LocallyLinearEmbedding
    >>> from mercer.datasets import spiral
    >>> X, place = spiral(300, 2)
    >>> model = LocallyLinearEmbedding(n_neighbors=12, n_components=1).fit(X)
    >>> model.certificate_.certified
    True
    """

    model_key = "lle"
    _stored_attributes = (
        *COMMON_ATTRIBUTES,
        Stored("embedding_", "float", "nk"),
        Stored("reconstruction_error_", "number"),
        Stored("connected_component_labels_", "int", "n"),
        Stored("n_connected_components_", "count"),
        Stored("n_neighbors_", "count"),
        Stored("n_neighbors_reason_", "text", optional=True),
        Stored("landmark_indices_", "int", "m", optional=True),
        Stored("scale_", "positive", "d", optional=True),
        Stored("_graph", "object"),
    )
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
        "metric": [StrOptions({"euclidean", "cosine", "precomputed", *_NAMED}), Kernel],
        "on_disconnected": [StrOptions({"warn", "raise"})],
        "standardize": ["boolean"],
        "n_landmarks": [Interval(Integral, 1, None, closed="left"), None],
        **COMMON_CONSTRAINTS,
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

    # ------------------------------------------------------------------ fit

    @fit_method
    def fit(self, X: Any, y: Any = None) -> Self:
        """Embed the rows of X.

        Parameters
        ----------
        X : {array-like, sparse matrix, pathlib.Path, Dataset} of shape (n_samples, n_features)
            Training data, or a file; distances between all samples if ``metric="precomputed"``.
        y : Ignored
            Present for API consistency.

        Returns
        -------
        self : LocallyLinearEmbedding
            The fitted estimator.
        """
        self._fit(self._open(X, reset=True), None)
        return self

    def _fit(self, data: Dataset, sample_weight: Any) -> NDArray:
        if sample_weight is not None:
            raise ParameterError("sample_weight", sample_weight, "None",
                message="Locally linear embedding does not support sample_weight.")  # fmt: skip
        budget, dtype, rng = self.resources(), data.dtype, lazy_generator(self.random_state)
        if isinstance(metric := self._metric(), Kernel):
            metric = metric.resolve(data, rng)
        problem = LLEProblem.from_params(self, data, metric)
        method = Method(self.method, problem.n_components, self.reg, self.modified_tol)
        plan = plan_lle(problem, budget)  # may raise MemoryLimitError: nothing has been read yet
        if self.standardize:
            data = self._standardized(data, budget.threads)
        with working(self.progress, 4 if plan.n_landmarks else 3, "neighbors", budget.threads) as progress:
            if self.n_neighbors == "auto":
                k, self.n_neighbors_reason_ = self._choose_n_neighbors(data, metric, method, rng, budget.threads)
                problem = replace(problem, n_neighbors=k)
                plan = plan_lle(problem, budget)
            space, landmarks, plan = self._samples_to_embed(data, metric, problem, plan, rng, budget)
            if self.n_neighbors == "auto" and space.n > _CHOOSING_SAMPLES:
                problem = self._connected(space, problem, budget.threads)
            graph = NeighborGraph.build(space, problem.n_neighbors, budget.threads, progress)
            if self.on_disconnected == "raise" and (defects := graph.defects(self.method)):
                raise DataError(defects[0].summary, remedies=defects[0].remedies)
            pairs, plan = self._solve(graph, method, problem, plan, rng, budget, progress)
            coordinates = pairs.vectors * column_signs(pairs.vectors)
            proven, labels, warnings = check_embedding(graph, pairs, coordinates, self.method, problem.tol)
            certificate: GapCertificate | PlacementCertificate = proven
            if landmarks is None:
                embedding, labels = graph.expand(coordinates), graph.expand(labels)
            else:
                self.landmark_indices_ = landmarks
                if progress:
                    progress.start("placing rows")
                embedding, labels, certificate = extend_to_all(
                    data, landmarks, graph, coordinates, labels, proven, self.reg, budget.threads, progress
                )
        self.embedding_ = embedding.astype(dtype if dtype == np.float32 else np.float64, copy=False)
        self.n_samples_, self.n_components_ = embedding.shape
        self.connected_component_labels_, self.n_connected_components_ = labels, int(labels.max()) + 1
        self.certificate_, self.plan_, self._graph, self.n_neighbors_ = certificate, plan, graph, problem.n_neighbors
        self.reconstruction_error_ = float(np.maximum(pairs.values, 0.0).sum())
        self._report([*filter(None, [plan.warning]), *warnings], metric, data.kind)
        return self.embedding_.copy()

    def _samples_to_embed(
        self, data: Dataset, metric: Any, problem: LLEProblem, plan: Plan, rng: Any, budget: Any
    ) -> tuple[NeighborSpace, NDArray | None, Plan]:
        """All samples; or landmarks from a random pool, with their indices in order. The graph may change the plan."""
        if not plan.n_landmarks:
            space = self._space(data, None, metric)
            if problem.n > LARGE_SAMPLES:
                plan = plan_lle(replace(problem, width=estimate_width(space, problem.n_neighbors, rng())), budget)
        if plan.n_landmarks:
            is_whole = data.kind == "precomputed"  # a matrix of distances is not copied
            pool = None if is_whole else np.sort(rng().choice(len(data), plan.pool_size, replace=False))
            space = self._space(data, pool, metric)
        if isinstance(metric, Kernel) and not metric.psd:
            check_kernel_values(space)
        if not plan.n_landmarks:
            return space, None, plan
        chosen = np.sort(choose_landmarks(space, plan.n_landmarks, rng(), budget.threads))
        return space.take(chosen), chosen if pool is None else pool[chosen], plan

    def _solve(
        self,
        graph: NeighborGraph,
        method: Method,
        problem: LLEProblem,
        plan: Plan,
        rng: Any,
        budget: Any,
        progress: Any,
    ) -> tuple[Eigenpairs, Plan]:
        """The bottom eigenvectors, by the factorization that suits the graph."""
        n = graph.space.n
        if graph.n_distinct == 1:
            if self.eigen_solver == "arpack":
                raise ParameterError("eigen_solver", "arpack", "auto", message=_SINGULAR)
            return zero_pairs(n, problem.n_components), plan
        small = n <= SMALL_SAMPLES and self.eigen_solver != "arpack"
        M = build_alignment(graph, method, small, budget.threads, progress)
        if progress:
            progress.start("eigenvectors")
        known = problem.of_landmarks(n) if n < problem.n else problem
        if not small:
            known = replace(known, width=graph_width(M), row_entries=M.nnz / n)
        actual = plan_lle(known, budget, embed_all=True)
        if plan.n_landmarks:
            actual = replace(plan, solver=actual.solver, memory=max(plan.memory, actual.memory))
        assert actual.solver is not None
        return actual.solver.solve(M, problem.n_components, rng, progress=progress), actual

    def _report(self, warnings: list[MercerWarning], metric: Any, kind: Kind) -> None:
        """Warn about the graph and the embedding, a column that decides alone, and convergence."""
        by_distance = metric.decreasing if isinstance(metric, Kernel) else metric == "euclidean"
        if by_distance and not self.standardize and kind == "vectors":
            unit = dominating_text(self._graph.space.samples, getattr(self, "feature_names_in_", None))
            if unit:
                text = f"{unit} It decides alone which rows are near, unless its size is meant."
                warnings.append(MercerWarning(text, remedies=(Remedy("standardize", True),)))
        warn_each(warnings)
        if not self.certificate_.converged:
            warn(
                f"The solver stopped before every coordinate met the tolerance. {self.certificate_.summary}",
                remedies=(Remedy("max_iter", 10 * self.max_iter),),
                category=NotConvergedWarning,
            )

    def _plan(self, data: Dataset, sample_weight: Any) -> Plan:
        budget, rng = self.resources(), lazy_generator(self.random_state)
        if isinstance(metric := self._metric(), Kernel):
            metric = metric.resolve(data, rng)
        problem = LLEProblem.from_params(self, data, metric)
        plan = plan_lle(problem, budget)
        if plan.n_landmarks or problem.n <= LARGE_SAMPLES or not data.in_memory:
            return plan
        width = estimate_width(self._space(data, None, metric), problem.n_neighbors, rng())
        return plan_lle(replace(problem, width=width), budget)

    # ------------------------------------------------------------------ samples

    def _metric(self) -> Any:
        """The metric; the kernel for a name of one."""
        return get_kernel(self.metric) if isinstance(self.metric, str) and self.metric in _NAMED else self.metric

    @property
    def input_kind(self) -> Kind:  # type: ignore[override]
        """Kind of the samples."""
        if isinstance(metric := self._metric(), Kernel):
            return "vectors" if metric.input_kind == "any" else metric.input_kind
        return "precomputed" if metric == "precomputed" else "vectors"

    def _open(self, X: Any, *, reset: bool, check_finite: bool = True) -> Dataset:
        if self.input_kind == "precomputed":
            return self._open_distances(X, reset)
        data = super()._open(X, reset=reset, check_finite=check_finite)
        metric = self._metric() if reset else getattr(self._graph.space, "kernel", None)
        if isinstance(metric, Kernel) and data.in_memory:
            metric.validate(data.load(), data.source.name)
        scale = None if reset else getattr(self, "scale_", None)
        return data if scale is None else scaled(data, np.asarray(scale, dtype=np.float64))

    def _open_distances(self, X: Any, reset: bool) -> Dataset:
        """A matrix of distances in memory: between all training samples, or from new samples to these."""
        if self.standardize:
            raise ParameterError("standardize", True, "False for a matrix of distances: standardize the rows instead")
        if isinstance(X, LinearOperator) or sparse.issparse(X):
            raise DataError(
                "Sparse distances are not supported: those between neighbors are needed, too. Pass a dense matrix."
            )
        if isinstance(X, Dataset) and X.kind == "precomputed":
            X = X.load()
        data = ArrayDataset(super()._open(X, reset=reset, check_finite=not reset).load(), "precomputed")
        D: Any = data.load()
        if not is_finite(D):
            raise_nonfinite(data)
        if reset and D.shape[0] != D.shape[1]:
            raise DataError(
                f"Precomputed distance must be a square matrix. Input is a {D.shape[0]}x{D.shape[1]} matrix."
            )
        if D.min() < 0:
            raise DataError(f"Negative values in data: distances cannot be negative; the smallest is {D.min():.3g}.")
        if reset:
            check_distances(D)
        return data

    def _standardized(self, data: Dataset, n_threads: int) -> Dataset:
        """The data with divided columns; sets `scale_`."""
        if data.kind != "vectors":
            raise ParameterError("standardize", True, f"False for {data.kind}, which have no columns")
        from mercer.linalg.scatter import column_moments

        scale = column_moments(data, None, n_threads).standard_deviations
        self.scale_ = scale.astype(data.dtype if data.dtype == np.float32 else np.float64)
        return scaled(data, self.scale_.astype(np.float64))  # as `transform` divides: equal rows stay equal

    def _space(self, data: Dataset, indices: NDArray | None, metric: Any) -> NeighborSpace:
        """All samples, or some, with their distances."""
        if indices is None:
            samples = data.load()
            if isinstance(metric, Kernel) and data.kind == "vectors" and not data.owns_samples:
                samples = samples.copy()  # other spaces copy what they keep
            return neighbor_space(samples, metric, self.neighbors_algorithm)
        if data.kind == "precomputed":
            return self._space(data, None, metric).take(indices)
        return neighbor_space(data.take(indices), metric, self.neighbors_algorithm)

    def _choose_n_neighbors(
        self, data: Dataset, metric: Any, method: Method, rng: Any, n_threads: int
    ) -> tuple[int, str]:
        """The number of neighbors for some samples, which are as far apart as landmarks if there are to be some."""
        n, most = len(data), min(len(data), self.n_landmarks or len(data)) - 1
        some = np.sort(rng().choice(n, size=min(_CHOOSING_SAMPLES, most + 1), replace=False))
        space = self._space(data, some, metric)
        return choose_n_neighbors(space, method, most, rng, self.tol or DEFAULT_TOL, n_threads)

    def _connected(self, space: NeighborSpace, problem: LLEProblem, n_threads: int) -> LLEProblem:
        """The problem with more neighbors if those chosen for some samples leave more components of all of them."""
        few, k = problem.n_neighbors, connecting_n_neighbors(space, self.method, problem.n_neighbors, n_threads)
        if k > few:
            self.n_neighbors_reason_ += f" With all rows, n_neighbors={k} leaves fewer connected components."
        return replace(problem, n_neighbors=k)

    # ------------------------------------------------------------------ new samples

    def place(self, X: Any) -> Placement:
        """Return coordinates of new rows with the residual of each and its distance from the training rows.

        Parameters
        ----------
        X : {array-like, sparse matrix, pathlib.Path, Dataset} of shape (n_samples, n_features)
            New data; distances to all training samples if ``metric="precomputed"``.

        Returns
        -------
        placement : Placement
            Coordinates, residuals and distances.
        """
        data = self.open(X)
        blocks = data.map_blocks(self._placed, self.resources().threads, size=block_rows(data.shape[1]))
        return Placement.concatenate(list(blocks))

    def iter_scores(self, data: Dataset, *, whiten: bool | None = None) -> Iterator[tuple[int, NDArray]]:
        """The first row and the coordinates of each block; rows that are far away are reported at the end."""
        n_threads = self.resources().threads if len(data) > _ONE_THREAD else 1
        start = n_far = farthest = 0
        distance = 0.0
        for placed in data.map_blocks(self._placed, n_threads, size=block_rows(data.shape[1])):
            check_scores(placed.embedding, start)
            away = np.where(placed.far, placed.nearest, 0.0)
            if away.max() > distance:
                farthest, distance = start + int(away.argmax()), float(away.max())
            n_far += int(placed.far.sum())
            first, start = start, start + len(away)
            if n_far and start == len(data):  # before the last block: a caller may not come back after it
                warn(
                    f"{n_far:,} of {start:,} rows are farther from the training rows than these are from their own "
                    f"neighbors (row index {farthest} is {distance:.3g} away): the embedding is a guess there."
                )
            yield first, placed.embedding

    def _placed(self, rows: Any, n_threads: int) -> Placement:
        graph, chosen, embedding = self._graph, getattr(self, "landmark_indices_", None), np.asarray(self.embedding_)
        samples = graph.space.samples
        if self.input_kind == "table" and {*samples.names} <= {*rows.names}:  # rows are equal if these columns are
            rows = type(samples)({name: rows.columns[name] for name in samples.names}, len(rows))
        coordinates = graph.reduce(embedding if chosen is None else embedding[chosen])
        with np.errstate(over="ignore", invalid="ignore"):
            return extend(rows, graph, coordinates, self.reg, n_threads)[0]

    # ------------------------------------------------------------------ fitted attributes that are computed

    @property
    def neighbors_(self) -> NDArray:
        """Indices of the neighbors of each distinct row."""
        check_is_fitted(self)
        return self._graph.indices

    @property
    def neighbor_distances_(self) -> NDArray:
        """Distances of the neighbors of each distinct row."""
        check_is_fitted(self)
        return self._graph.distances

    @property
    def n_ties_(self) -> int:
        """Number of rows with more equally near neighbors than were taken."""
        check_is_fitted(self)
        return self._graph.n_ties

    @property
    def residuals_(self) -> NDArray:
        """Distance of each training row from the combination of its neighbors, computed when it is used."""
        check_is_fitted(self)

        def lengths(G: NDArray) -> NDArray:
            return reconstruction_residuals(G, local_weights(G, self.reg))

        graph = self._graph
        found = map_neighborhoods(graph.space, graph.indices, lengths, self.resources().threads)
        return graph.expand(found * graph.space.scale)

    @property
    def nbrs_(self) -> Any:
        """scikit-learn's search over the distinct rows, made when it is used."""
        check_is_fitted(self)
        if isinstance(self._metric(), Kernel):
            raise AttributeError("nbrs_: scikit-learn has no search for the distance of a kernel.")
        metric = "precomputed" if self.input_kind == "precomputed" else "minkowski"
        search = NearestNeighbors(n_neighbors=self.n_neighbors_, algorithm=self.neighbors_algorithm, metric=metric)
        return search.fit(self._graph.space.to_input())

    # ------------------------------------------------------------------ contract

    def spectrum(self) -> Eigenspectrum:
        """Eigenvalues of the alignment matrix with their intervals."""
        certificate: Any = getattr(self.certificate_, "landmarks", self.certificate_)
        return Eigenspectrum(
            eigenvalues=np.maximum(certificate.values, 0.0),
            lower=certificate.lower,
            upper=certificate.upper,
            variances=None,
            total=None,
            complete=False,
            total_weight=float(self.n_samples_),
            ddof=0,
            feature_variances=None,
            bound_beyond=certificate.bound_beyond,
            unresolved=certificate.unresolved,
        )

    def training_set(self) -> TrainingSet | None:
        """The embedded samples with their coordinates; None for duplicates that were merged, and for distances."""
        chosen, graph = getattr(self, "landmark_indices_", None), self._graph
        if graph.duplicates is not None or self.input_kind == "precomputed":
            return None
        samples = graph.space.to_input()
        if hasattr(self, "scale_"):
            scale = np.asarray(self.scale_)
            samples = sparse.csr_array(samples.multiply(scale)) if sparse.issparse(samples) else samples * scale
        indices = np.arange(self.n_samples_) if chosen is None else chosen
        return TrainingSet(samples, indices, np.asarray(self.embedding_)[indices], None)

    # ------------------------------------------------------------------ scikit-learn

    def to_sklearn(self) -> Any:
        """Return a fitted `sklearn.manifold.LocallyLinearEmbedding` with the same attributes.

        Its `transform` differs for rows that equal a training row.

        Returns
        -------
        estimator : sklearn.manifold.LocallyLinearEmbedding or sklearn.pipeline.Pipeline
            A pipeline that divides the columns first, if they were standardized.
        """
        from mercer.compat.to_sklearn import to_sklearn_lle

        check_is_fitted(self)
        plain = isinstance(self.metric, str) and self.metric == "euclidean"
        if not plain or sparse.issparse(self._graph.space.samples):
            raise DataError("scikit-learn's LocallyLinearEmbedding takes dense rows and Euclidean distances only.")
        if hasattr(self, "landmark_indices_") or self._graph.duplicates is not None:
            raise DataError("scikit-learn's LocallyLinearEmbedding has no landmarks and does not merge duplicates.")
        return to_sklearn_lle(self)

    @property
    def _n_features_out(self) -> int:
        check_is_fitted(self)
        return int(self.embedding_.shape[1])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        is_precomputed = isinstance(self.metric, str) and self.metric == "precomputed"
        tags.input_tags.sparse = not is_precomputed
        tags.input_tags.pairwise = tags.input_tags.positive_only = is_precomputed
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


_FUNCTION_PARAMETERS = (
    "n_neighbors", "n_components", "reg", "eigen_solver", "tol", "max_iter", "method", "hessian_tol", "modified_tol",
    "random_state", "n_jobs",
)  # fmt: skip


@validate_params(
    {"X": ["array-like", "sparse matrix", NearestNeighbors, Path, Dataset]}
    | {name: LocallyLinearEmbedding._parameter_constraints[name] for name in _FUNCTION_PARAMETERS},
    prefer_skip_nested_validation=False,
)
def locally_linear_embedding(
    X: Any,
    *,
    n_neighbors: int | str,
    n_components: int,
    reg: float = 1e-3,
    eigen_solver: str = "auto",
    tol: float = 1e-6,
    max_iter: int = 100,
    method: str = "standard",
    hessian_tol: float = 1e-4,
    modified_tol: float = 1e-12,
    random_state: Any = None,
    n_jobs: int | None = None,
    **params: Any,
) -> tuple[NDArray, float]:
    """Perform a locally linear embedding.

    Parameters
    ----------
    X : {array-like, sparse matrix, NearestNeighbors}
        Training data, or a search that was fitted to it.
    n_neighbors : int or "auto"
        Number of neighbors.
    n_components : int
        Number of coordinates.
    reg, eigen_solver, tol, max_iter, method, hessian_tol, modified_tol, random_state, n_jobs
        As in `LocallyLinearEmbedding`.
    **params
        Its other parameters.

    Returns
    -------
    Y : ndarray of shape (n_samples, n_components)
        Coordinates.
    squared_error : float
        Sum of the eigenvalues.

    See Also
    --------
    LocallyLinearEmbedding : The estimator, with a certificate and coordinates of new rows.

    Examples
    --------
    >>> from mercer import locally_linear_embedding
    >>> from mercer.datasets import spiral
    >>> Y, error = locally_linear_embedding(spiral(300, 2)[0], n_neighbors=12, n_components=1)
    >>> Y.shape
    (300, 1)
    """
    if isinstance(X, NearestNeighbors):
        check_is_fitted(X)
        metric = {"l2": "euclidean"}.get(X.effective_metric_, X.effective_metric_)
        if metric not in ("euclidean", "cosine", "precomputed"):
            raise ParameterError("metric", metric, "euclidean, cosine or precomputed for a NearestNeighbors object")
        X, params = X._fit_X, {"metric": metric} | params
    model = LocallyLinearEmbedding(
        n_neighbors=n_neighbors,
        n_components=n_components,
        reg=reg,
        eigen_solver=eigen_solver,
        tol=tol,
        max_iter=max_iter,
        method=method,
        hessian_tol=hessian_tol,
        modified_tol=modified_tol,
        random_state=random_state,
        n_jobs=n_jobs,
        **params,
    )
    model.fit(X)
    return model.embedding_, model.reconstruction_error_
