"""Parameters and arguments of every kind that they cannot be, and some that they can."""

from functools import partial

import numpy as np
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.neighbors import NearestNeighbors

from estimators.invalid_input.cases import Case, near, oracle, rows
from mercer import (
    PCA,
    IncrementalPCA,
    KernelPCA,
    LocallyLinearEmbedding,
    ProbabilisticPCA,
    kernels,
    locally_linear_embedding,
)
from mercer.kernels import check_kernel

BENT = rows()
MODELS = {
    "PCA": partial(PCA),
    "IncrementalPCA": partial(IncrementalPCA),
    "ProbabilisticPCA": partial(ProbabilisticPCA),
    "KernelPCA": partial(KernelPCA, kernel="rbf"),
    "LocallyLinearEmbedding": partial(LocallyLinearEmbedding, n_neighbors=8),
}


def refused(name, call, what, kind=Exception):
    return Case(name, call, refuses=what, kind=kind)


def fit(model, X=BENT, **params):
    return lambda: MODELS[model](**params).fit(X)


def refused_parameter(name, values, what=None, models=tuple(MODELS), **others):
    """A value that no model takes, and the name of the parameter in what is said."""
    return [
        refused(f"{model}({name}={short(value)})", fit(model, **{name: value}, **others), what or f"'?{name}'?")
        for model in models
        for value in values
    ]


def short(value):
    return repr(value)[:30]


# ---------------------------------------------------------------------- numbers of components

ALL = ("PCA", "IncrementalPCA", "ProbabilisticPCA", "KernelPCA", "LocallyLinearEmbedding")
LINEAR, KERNEL, LOCAL = ("PCA", "IncrementalPCA", "ProbabilisticPCA"), ("KernelPCA",), ("LocallyLinearEmbedding",)
COMPONENTS = [
    *refused_parameter(
        "n_components", [-1, 1.5, np.float32(0.9), True, False, np.nan, np.inf, "two", [2], np.array([1, 2]), 2 + 0j]
    ),
    *refused_parameter("n_components", [0], models=("IncrementalPCA", "KernelPCA", "LocallyLinearEmbedding")),
    *refused_parameter("n_components", ["mle", "bic", "scree"], models=("IncrementalPCA", *KERNEL, *LOCAL)),
    *refused_parameter("n_components", [0.9, None, 5, 10**6], models=LOCAL, what="n_components|dimension"),
    *refused_parameter("n_components", [10**400]),
    *refused_parameter("n_components", [5, 10**30], models=LINEAR, what="n_components=.*4|n_features=4"),
    *[
        Case(f"{model}(n_components={k!r})", fit(model, n_components=k), right=lambda m, k=k: widths(m) == 2)
        for model in ALL
        for k in (2, np.int64(2), np.uint8(2))
    ],
    *[
        Case(
            f"PCA(n_components={share!r})",
            fit("PCA", n_components=share),
            right=lambda m, share=share: m.n_components_ == number_for(float(share)),
        )
        for share in (0.9, np.float64(0.5))
    ],
    Case("KernelPCA(n_components=10**6)", fit("KernelPCA", n_components=10**6), warns="more than the 30 rows"),
    Case("KernelPCA(n_components=10**30)", fit("KernelPCA", n_components=10**30), warns="more than the 30 rows"),
]


def widths(model):
    return len(model.get_feature_names_out())


def number_for(share):
    """How many components explain more than this share, by the definition."""
    values = np.linalg.eigvalsh(np.cov(rows().T))[::-1]
    return int(np.sum(np.cumsum(values) / values.sum() <= share)) + 1


# ---------------------------------------------------------------------- what all models have

SHARED = [
    *refused_parameter("memory_limit", [0, -1, np.nan, np.inf, True, "", "lots", "-1GB", "0GB", "1e400", "GB", [1]]),
    *refused_parameter("memory_limit", [1, "1 B", 10], what=r"limit of 1|memory|over the limit"),
    *refused_parameter("n_jobs", [0, 1.5, "two", True, np.nan, [1]]),
    *refused_parameter("random_state", [-1, 1.5, "seed", [1, 2], True], models=("PCA", *KERNEL, *LOCAL)),
    *refused_parameter("tol", [np.nan, -1, np.inf, "small", None, True], models=("PCA", *KERNEL, *LOCAL)),
    *refused_parameter("progress", ["yes", 3, None]),
    *[
        Case(f"{model}(n_jobs={jobs})", fit(model, n_components=2, n_jobs=jobs), right=lambda m: widths(m) == 2)
        for model in ALL
        for jobs in (-1, -1000, 10**6)
    ],
]

# ---------------------------------------------------------------------- kernels

KERNELS = [
    *refused_parameter("gamma", [0, -1, np.nan, np.inf, True, "foo", np.array([1.0, 2.0]), [1], 1j], models=KERNEL),
    Case("KernelPCA(gamma=1e-320)", fit("KernelPCA", gamma=1e-320), warns="look the same to this kernel"),
    refused("KernelPCA(gamma=1e308)", fit("KernelPCA", gamma=1e308), "overflow.*smaller gamma"),
    Case("KernelPCA(gamma=1e9)", fit("KernelPCA", gamma=1e9), warns="alone to this kernel"),
    *refused_parameter("kernel", ["RBF", "foo", None, 3, ["rbf"], {}], models=KERNEL),
    *refused_parameter("degree", [-1, np.nan, np.inf, "3", None, True], models=KERNEL, kernel="poly"),
    *refused_parameter("degree", [1e300, 10**6, 10**400], "degree", KERNEL, kernel="poly"),
    *refused_parameter("coef0", [np.nan, np.inf, "1", None, True], models=KERNEL, kernel="poly"),
    *refused_parameter("coef0", [np.nan, np.inf, "1", None], models=KERNEL, kernel="sigmoid"),
    *refused_parameter("kernel_params", [3, "a", [1]], models=KERNEL),
    *refused_parameter("alpha", [-1, np.nan, "a", True], models=KERNEL),
    *refused_parameter("eigen_solver", ["lapack", 3, None], models=(*KERNEL, *LOCAL)),
    *refused_parameter("max_iter", [0, -1, 1.5, "all", True], models=(*KERNEL, *LOCAL)),
    *refused_parameter("n_landmarks", [0, -1, 2.5, "all", True, np.nan], models=KERNEL),
    *refused_parameter("refine", [-1, 0.5, "all", np.nan], models=KERNEL),
    *refused_parameter(
        "landmarks",
        [
            3,
            "rows",
            [],
            [0.5, 1.5],
            [30],
            [-31],
            [0, 0, 10**9],
            [True, False],
            ["a", "b"],
            [[1.0, 2.0]],
            [[np.nan] * 4] * 3,
            np.zeros((2, 2, 2)),
            np.zeros((0, 4)),
            [None, 1],
            np.array([1, 2], dtype="datetime64[D]"),
            np.ma.MaskedArray([1, 2, 3], mask=[0, 1, 0]),
            {1, 2},
        ],
        "landmark",
        KERNEL,
    ),
    *refused_parameter("gamma", [10**400], "gamma", KERNEL),
    *refused_parameter("alpha", [10**400], "alpha", KERNEL, fit_inverse_transform=True),
    *refused_parameter("landmarks", [[[1.0, 2.0], [3.0]]], "landmarks is ragged", KERNEL),
    *[
        refused(
            f"a kernel function that returns {value!r}",
            lambda value=value: KernelPCA(2, kernel=lambda x, y: value).fit(BENT),
            "The kernel function returned .* no number|shape|function that returns nan",
        )
        for value in ("a", None, {}, [1, 2], 1j)
    ],
    refused(
        "blocks of text",
        lambda: KernelPCA(2, kernel=kernels.Blockwise(lambda X, Y: [["a"] * len(Y)] * len(X))).fit(BENT),
        "The kernel function returned .* no number",
    ),
    refused("landmarks and their number", fit("KernelPCA", n_landmarks=3, landmarks=[1, 2]), "not both"),
    refused("landmarks and LAPACK", fit("KernelPCA", n_landmarks=3, eigen_solver="dense"), "n_landmarks is for"),
    Case(
        "a polynomial of degree 30",
        lambda: KernelPCA(2, kernel=kernels.Polynomial(degree=30, gamma=0.1)).fit(BENT),
        right=lambda m: near(m.eigenvalues_, centred_values((0.1 * BENT @ BENT.T + 1) ** 30), 1e-9),
    ),
    Case(
        "a polynomial of degree 2.5",
        lambda: KernelPCA(2, kernel="poly", degree=2.5, gamma=0.01).fit(BENT),
        right=lambda m: near(m.eigenvalues_, centred_values((0.01 * BENT @ BENT.T + 1) ** 2.5), 1e-9),
    ),
    refused(
        "half a power of negative numbers", lambda: KernelPCA(2, kernel="poly", degree=0.5).fit(9 * BENT), "finite|nan"
    ),
    *[
        refused(f"kernels.{name}({short(args)})", lambda name=name, args=args: getattr(kernels, name)(**args), what)
        for name, args, what in [
            ("RBF", dict(gamma=0), "gamma must be a positive number; got 0"),
            ("RBF", dict(gamma=-1.0), "gamma must be a positive number"),
            ("RBF", dict(gamma=np.nan), "gamma must be a positive number"),
            ("RBF", dict(gamma=np.inf), "gamma must be a positive number"),
            ("RBF", dict(gamma=True), "gamma must be a positive number"),
            ("RBF", dict(gamma="wide"), "gamma must be a positive number"),
            ("RBF", dict(gamma=np.array([1.0, 2.0])), "gamma must be a positive number"),
            ("RBF", dict(gamma=10**400), "gamma must be a positive number"),
            ("Laplacian", dict(gamma=0), "gamma must be a positive number"),
            ("Laplacian", dict(gamma="mean"), "gamma must be a positive number"),
            ("Sigmoid", dict(gamma=-1), "gamma must be a positive number"),
            ("Sigmoid", dict(coef0=np.nan), "coef0 must be a finite number"),
            ("Sigmoid", dict(coef0="a"), "coef0 must be a finite number"),
            ("Polynomial", dict(coef0=np.inf), "coef0 must be a finite number"),
            ("Polynomial", dict(coef0=None), "coef0 must be a finite number"),
            ("Polynomial", dict(degree=-1), "degree must be a non-negative number"),
            ("Polynomial", dict(degree=1e300), r"degree must be at most 1,000; got 1e\+300"),
            ("Polynomial", dict(degree=np.nan), "degree must be a non-negative number"),
            ("Polynomial", dict(gamma=0), "gamma must be a positive number"),
            ("Matern", dict(nu=2), "nu must be 0.5, 1.5 or 2.5; got 2"),
            ("Matern", dict(nu=np.array([0.5])), "nu must be 0.5, 1.5 or 2.5"),
            ("Matern", dict(length_scale=0), "length_scale must be a positive number"),
            ("Constant", dict(value=-1), "value must be a non-negative number"),
            ("Constant", dict(value=np.nan), "value must be a non-negative number"),
        ]
    ],
    refused("a kernel times minus one", lambda: -1 * kernels.RBF(), "factor must be a positive number"),
    refused("a kernel times NaN", lambda: kernels.RBF() * np.nan, "factor must be a positive number"),
    refused("a kernel plus a text", lambda: kernels.RBF() + "1", "combined with a kernel or a number"),
    refused("a kernel times a text", lambda: kernels.RBF() * "2", "combined with a kernel or a number"),
    refused("an unknown name in a kernel", lambda: kernels.RBF().with_params(width=1), "Invalid parameter 'width'"),
    refused("a length scale of zero", lambda: kernels.RBF.from_length_scale(0), "length_scale must be a positive"),
    refused("a length scale whose square is zero", lambda: kernels.RBF.from_length_scale(1e-200), "length_scale|gamma"),
]


def centred_values(K):
    J = np.eye(len(K)) - 1 / len(K)
    return np.linalg.eigvalsh(J @ K @ J)[::-1][:2]


# ---------------------------------------------------------------------- check_kernel

VERDICTS = [
    *[
        Case(f"check_kernel({name!r})", lambda name=name: check_kernel(name, BENT), right=bool)
        for name in ("linear", "poly", "polynomial", "rbf", "laplacian", "cosine")
    ],
    Case("check_kernel('sigmoid')", lambda: check_kernel("sigmoid", BENT), right=lambda v: not v.positive_semidefinite),
    Case("check_kernel of a Gram matrix", lambda: check_kernel("precomputed", BENT @ BENT.T), right=bool),
    Case("check_kernel of distances", lambda: check_kernel("precomputed", cdist(BENT, BENT)), right=lambda v: not v),
    Case("check_kernel of words", lambda: check_kernel(lambda s, t: s == t, ["a", "b", "ab"]), right=bool),
    Case("check_kernel of a list", lambda: check_kernel("rbf", BENT.tolist()), right=bool),
    Case("check_kernel of sparse rows", lambda: check_kernel("rbf", sparse.coo_array(BENT)), right=bool),
    refused("check_kernel('foo')", lambda: check_kernel("foo", BENT), "Unknown kernel 'foo'"),
    refused("check_kernel(None)", lambda: check_kernel(None, BENT), "Unknown kernel None"),
    refused("check_kernel of one row", lambda: check_kernel("rbf", BENT[:1]), "at least two rows"),
    refused("check_kernel of a number", lambda: check_kernel("rbf", 3.0), "2D array"),
    refused("check_kernel of one dimension", lambda: check_kernel("rbf", BENT[0]), "2D array"),
    refused("check_kernel of NaN", lambda: check_kernel("rbf", BENT * np.nan), "contains NaN"),
    refused("check_kernel of text", lambda: check_kernel("rbf", BENT.astype(str)), "text"),
    refused("check_kernel of dates", lambda: check_kernel("rbf", BENT.astype("datetime64[D]")), "dates"),
    refused("check_kernel of None", lambda: check_kernel("rbf", None), "X is None"),
    refused("check_kernel of an oblong matrix", lambda: check_kernel("precomputed", BENT), "square"),
    *[
        refused(f"check_kernel(n_sampled={n!r})", lambda n=n: check_kernel("rbf", BENT, n_sampled=n), "n_sampled")
        for n in (0, 1, -1, 2.5, "all", None, True)
    ],
    refused("check_kernel(random_state='a')", lambda: check_kernel("rbf", BENT, random_state="a"), "random_state"),
    refused("check_kernel(random_state=-1)", lambda: check_kernel("rbf", BENT, random_state=-1), "random_state"),
]

# ---------------------------------------------------------------------- neighbourhoods

DISTANCES = cdist(BENT, BENT)


def changed(i, j, value):
    D = DISTANCES.copy()
    D[i, j] = value
    return D


def given(D, **params):
    return lambda: LocallyLinearEmbedding(n_neighbors=8, metric="precomputed", **params).fit(D)


def right_error(model):
    return near(model.reconstruction_error_, oracle("local", "rows").reconstruction_error_, 1e-3)


HOODS = [
    *[
        refused(f"LLE(n_neighbors={k!r})", fit("LocallyLinearEmbedding", n_neighbors=k), "n_neighbors")
        for k in (0, -1, 2.5, 30, 31, 10**9, 10**30, "all", None, True, np.nan, [5])
    ],
    *refused_parameter("reg", [10**400, -1, np.nan, np.inf, "a", None, True], models=LOCAL),
    *refused_parameter("method", ["mlle", None, 1], models=LOCAL),
    *refused_parameter("n_landmarks", [0, -1, 2.5, "all", True, [20], np.nan], models=LOCAL),
    *refused_parameter("n_landmarks", [1, 8], "n_landmarks=. must be more than n_neighbors=8", LOCAL),
    refused(
        "a metric that overflows",
        fit("LocallyLinearEmbedding", metric=kernels.Polynomial(degree=900)),
        "Distances between rows are not finite: an overflow",
    ),
    *refused_parameter("metric", ["manhattan", None, 1, min], models=LOCAL),
    *refused_parameter("on_disconnected", ["join", None, True], models=LOCAL),
    *refused_parameter("neighbors_algorithm", ["annoy", None], models=LOCAL),
    refused("hessian with few neighbours", fit("LocallyLinearEmbedding", n_neighbors=5, method="hessian"), "hessian"),
    refused("ltsa with few neighbours", fit("LocallyLinearEmbedding", n_neighbors=3, method="ltsa"), "ltsa"),
    Case("distances", given(DISTANCES), right=right_error),
    Case("distances with rounding on the diagonal", given(changed(3, 3, 1e-9)), right=right_error),
    refused("distances of items to themselves", given(changed(3, 3, 0.5)), r"row index 3.*0\.5|0\.5.*row index 3"),
    refused("similarities", given(np.exp(-DISTANCES)), "distance of an item to itself.*similarit"),
    refused("negative distances", given(changed(3, 4, -0.5)), r"distances cannot be negative.*-0\.5"),
    refused("NaN distances", given(changed(3, 4, np.nan)), "NaN.*row index 3, column 4"),
    refused("infinite distances", given(changed(3, 4, np.inf)), "infinity.*row index 3, column 4"),
    refused("oblong distances", given(DISTANCES[:, :20]), "square matrix.*30x20"),
    refused("sparse distances", given(sparse.csr_array(DISTANCES)), "Sparse distances"),
    refused("distances with a mask", given(np.ma.MaskedArray(DISTANCES, DISTANCES > 2)), "masked array that hides"),
    refused("dates for distances", given(DISTANCES.astype("timedelta64[s]")), "durations"),
    Case("distances that differ by direction", given(changed(3, 4, 2.5)), warns="not symmetric, by up to"),
    *[
        refused(
            f"locally_linear_embedding({name}={short(value)})",
            lambda name=name, value=value: locally_linear_embedding(
                BENT, **dict(n_neighbors=8, n_components=2) | {name: value}
            ),
            name if name != "colour" else "colour",
        )
        for name, values in {
            "n_neighbors": [0, 2.5, "a", 30, None],
            "n_components": [0, 2.5, "a", 5],
            "reg": [-1, "a"],
            "method": ["mlle"],
            "colour": ["red"],
        }.items()
        for value in values
    ],
    refused(
        "a search by another metric",
        lambda: locally_linear_embedding(NearestNeighbors(metric="manhattan").fit(BENT), n_neighbors=5, n_components=2),
        "manhattan",
    ),
    refused(
        "a search without rows",
        lambda: locally_linear_embedding(NearestNeighbors(), n_neighbors=5, n_components=2),
        "fitted",
    ),
]

# ---------------------------------------------------------------------- linear models

OTHERS = [
    *refused_parameter("whiten", ["yes", 1, None], models=LINEAR),
    *refused_parameter("svd_solver", ["lapack", None, 3], models=("PCA",)),
    *refused_parameter("standardize", ["yes", None], models=("PCA",)),
    *refused_parameter("prior", ["flat", 1, True, 0.5], models=("ProbabilisticPCA",)),
    *refused_parameter("held_out", [-0.1, 0.6, np.nan, "some", None, True], models=("ProbabilisticPCA",)),
    *refused_parameter("max_iter", [0, -1, 2.5, None, True], models=("ProbabilisticPCA",)),
    *refused_parameter("batch_size", [0, -1, 2.5, "all", True], models=("IncrementalPCA",)),
    *refused_parameter("sketch_size", [0, -1, 2.5, "all", True], models=("IncrementalPCA",)),
    *refused_parameter("forget", [0, -0.5, 1.5, np.nan, "a", None, True], models=("IncrementalPCA",)),
    refused("PCA('mle') with fewer rows than columns", fit("PCA", X=BENT[:3], n_components="mle"), "mle"),
    Case("PCA of one row", fit("PCA", X=BENT[:1]), warns="All rows are the same"),
    refused("LLE of one row", fit("LocallyLinearEmbedding", X=BENT[:1]), "n_neighbors < n_samples"),
    refused("LLE of two rows", fit("LocallyLinearEmbedding", X=BENT[:2]), "n_neighbors < n_samples"),
]
CASES = [*COMPONENTS, *SHARED, *KERNELS, *VERDICTS, *HOODS, *OTHERS]
