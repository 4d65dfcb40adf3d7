"""The problems of tools/parity.py: fits that both editions must agree on, and inputs that both must reject."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse

# Parameters of the first edition that have another name in the second.
RENAMED = {"forget": "forgetting_factor", "held_out": "validation_fraction"}


def made(cls: Any, params: dict[str, Any]) -> Any:
    """An estimator with these parameters, by the names that its class has."""
    known = cls().get_params()
    return cls(**{RENAMED.get(name, name) if name not in known else name: params[name] for name in params})


@dataclass(frozen=True)
class Sample:
    """What is fitted: X as it is passed, the same rows as a dense array, and weights."""

    X: Any
    rows: NDArray
    weights: NDArray | None = None


@dataclass(frozen=True)
class Fit:
    """A fit that both editions must agree on."""

    name: str
    data: Callable[[Path], Sample]
    params: dict[str, Any] = field(default_factory=dict)
    estimator: str = "PCA"
    batches: int = 0  # calls of partial_fit


@dataclass(frozen=True)
class Rejection:
    """An input that both editions must reject."""

    name: str
    call: Callable[[Any, Path], Any]  # takes the class and a folder
    estimator: str = "PCA"


# ---------------------------------------------------------------------- data


def normal(n: int, d: int, seed: int = 0) -> NDArray:
    """Independent columns of different spread."""
    return np.random.default_rng(seed).normal(size=(n, d)) * np.linspace(3.0, 1.0, d)


def spectrum(n: int, values: Any, seed: int = 0) -> NDArray:
    """Rows with these singular values, and mean zero."""
    values, rng = np.asarray(values, float), np.random.default_rng(seed)
    left = np.linalg.qr(rng.normal(size=(n, len(values))))[0]
    left = np.linalg.qr(left - left.mean(axis=0))[0]
    return (left * values) @ np.linalg.qr(rng.normal(size=(len(values), len(values))))[0]


def given(X: Any, weights: Any = None) -> Callable[[Path], Sample]:
    """A sample in memory."""
    rows = X.toarray() if sparse.issparse(X) else X
    return lambda folder: Sample(X, np.asarray(rows, float), None if weights is None else np.asarray(weights))


def saved(X: NDArray, name: str) -> Callable[[Path], Sample]:
    """A sample in a file."""

    def write(folder: Path) -> Sample:
        path = folder / name
        if path.suffix == ".npy":
            np.save(path, X)
        elif path.suffix == ".csv":
            header = ",".join(f"c{j}" for j in range(X.shape[1]))
            np.savetxt(path, X, delimiter=",", header=header, comments="", fmt="%.17g")
        else:
            import pyarrow
            import pyarrow.parquet

            table = pyarrow.table({f"c{j}": column for j, column in enumerate(X.T)})
            pyarrow.parquet.write_table(table, path, row_group_size=37)
        return Sample(path, np.asarray(X, float))

    return write


def frame(X: NDArray) -> Callable[[Path], Sample]:
    def make(folder: Path) -> Sample:
        import pandas

        return Sample(pandas.DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])]), X)

    return make


def one_hot(levels: int, times: int) -> NDArray:
    return np.tile(np.eye(levels), (times, 1))


def with_missing(X: NDArray, fraction: float) -> NDArray:
    holes = np.random.default_rng(1).random(X.shape) < fraction
    holes[:, 0] &= np.arange(len(X)) % 2 == 0
    return np.where(holes, np.nan, X)


SOLVERS = ("auto", "full", "covariance_eigh", "arpack", "randomized", "qr", "gram", "krylov")


def pca_fits() -> Iterator[Fit]:
    rng = np.random.default_rng(3)
    ordinary = normal(600, 10)
    for solver in SOLVERS:
        yield Fit(f"solver {solver}", given(ordinary), dict(n_components=3, svd_solver=solver))
    tall = normal(8000, 6)
    for solver in ("auto", "covariance_eigh", "qr", "krylov"):
        yield Fit(f"tall, {solver}", given(tall), dict(n_components=2, svd_solver=solver))
    wide = normal(40, 2000)
    for solver in ("auto", "full", "gram", "krylov", "arpack", "randomized"):
        yield Fit(f"wide, {solver}", given(wide), dict(n_components=5, svd_solver=solver))
    square = normal(620, 510)
    for solver in ("auto", "krylov"):
        yield Fit(f"620 x 510, {solver}", given(square), dict(n_components=4, svd_solver=solver))
    decaying = spectrum(700, 2.0 ** -np.arange(520.0).clip(max=40))
    yield Fit("decaying spectrum, krylov", given(decaying), dict(n_components=8, svd_solver="krylov"))

    small = normal(150, 4)
    for k in (None, 0, 1, 4):
        yield Fit(f"n_components={k}", given(small), dict(n_components=k))
    for fraction in (0.5, 0.9, 0.99, 0.999999):
        yield Fit(f"fraction {fraction}", given(ordinary), dict(n_components=fraction))
    yield Fit("fraction met exactly", given(np.kron([[1.0], [-1.0]], np.eye(4))), dict(n_components=0.5))
    yield Fit("fraction, krylov", given(decaying), dict(n_components=0.95, svd_solver="krylov"))
    low_noise = spectrum(300, [9, 7, 5, 0.1, 0.1, 0.1, 0.1, 0.1])
    for name, X in (("mle", normal(300, 8)), ("mle, low noise", low_noise)):
        yield Fit(name, given(X), dict(n_components="mle", svd_solver="full"))

    spectra = {
        "geometric": np.logspace(0, -6, 8),
        "geometric to 1e-11": np.logspace(0, -11, 8),
        "clustered": [3, 3, 3, 2, 2, 1 + 1e-9, 1, 1e-4],
        "rank 3 of 10": [3, 2, 1, *[0.0] * 7],
        "close to zero": [3, 2, 1, *np.logspace(-9, -15, 5)],
    }
    for name, values in spectra.items():
        for solver in ("auto", "full", "covariance_eigh"):
            yield Fit(f"{name}, {solver}", given(spectrum(60, values)), dict(svd_solver=solver))
    yield Fit("geometric to 1e-11, qr", given(spectrum(900, spectra["geometric to 1e-11"])), dict(svd_solver="qr"))
    for offset in (1e3, 1e6, 1e9, 1e12):
        for solver in ("auto", "covariance_eigh"):
            params = dict(n_components=3, svd_solver=solver)
            yield Fit(f"offset {offset:.0e}, {solver}", given(normal(300, 5) + offset), params)
    yield Fit("rank 3 at 1e6", given(spectrum(60, spectra["rank 3 of 10"]) + 1e6), {})
    for power in (-300, -200, -150, -100, -10, 10, 100, 150):
        yield Fit(f"scale 1e{power}", given(normal(80, 5) * 10.0**power), dict(n_components=3))
        if abs(power) > 100:
            params = dict(n_components=3, svd_solver="covariance_eigh")
            yield Fit(f"scale 1e{power}, covariance_eigh", given(normal(80, 5) * 10.0**power), params)

    columns = normal(200, 6) * 10.0 ** np.arange(-6, 6, 2.0)
    standardize = dict(n_components=3, standardize=True)
    yield Fit("standardize", given(columns), standardize)
    yield Fit("standardize, large", given(normal(6000, 6) * 10.0 ** np.arange(-6, 6, 2.0)), standardize)
    yield Fit("standardize, scale 1e150", given(columns * 1e144), standardize)
    yield Fit("standardize, constant column", given(np.column_stack([columns, np.full(200, 7.0)])), standardize)
    yield Fit("standardize, weights", given(columns, rng.integers(0, 4, 200)), standardize)
    yield Fit(
        "standardize, sparse", given(sparse.csr_array(normal(200, 6) * (rng.random((200, 6)) < 0.5))), standardize
    )
    yield Fit("whiten", given(ordinary), dict(n_components=4, whiten=True))
    yield Fit("whiten, standardize", given(columns), dict(n_components=4, whiten=True, standardize=True))
    yield Fit("whiten, zero variance", given(spectrum(60, spectra["rank 3 of 10"])), dict(whiten=True))

    yield Fit("duplicates", given(normal(5, 4)[rng.integers(0, 5, 500)]), {})
    yield Fit("duplicates at 1e5", given(normal(5, 4)[rng.integers(0, 5, 500)] + 1e5), {})
    hadamard = linalg.hadamard(64).astype(float)[:, 1:9]
    yield Fit("ties", given(hadamard * [3, 3, 3, 2, 2, 1, 1, 1]), {})
    yield Fit("ties, cut", given(hadamard * [3, 3, 3, 2, 2, 1, 1, 1]), dict(n_components=4))
    yield Fit("one-hot", given(one_hot(12, 3)), {})
    yield Fit("one-hot, sparse", given(sparse.csr_array(one_hot(12, 30))), dict(n_components=5))
    yield Fit("constant column", given(np.column_stack([small, np.full(150, 0.1)])), {})
    yield Fit("equal rows", given(np.full((20, 3), 0.1)), {})
    yield Fit("zeros", given(np.zeros((20, 3))), {})
    yield Fit("one row", given(np.ones((1, 3))), {})
    yield Fit("two rows", given(normal(2, 3)), {})
    yield Fit("one column", given(normal(50, 1)), {})
    yield Fit("two levels", given((normal(500, 5) > 0) * 0.3 + 1e6), {})

    for name, X in {
        "ordinary": ordinary,
        "offset 100": normal(300, 5) + 100,
        "wide": wide,
        "tall": tall,
        "scale 1e-30": normal(80, 5) * 1e-30,
    }.items():
        yield Fit(f"float32, {name}", given(X.astype(np.float32)), dict(n_components=3))
    yield Fit("float32, whiten", given(ordinary.astype(np.float32)), dict(n_components=3, whiten=True))
    counts = rng.integers(-50, 50, (200, 5))
    for dtype in (np.int8, np.int64, np.uint16, np.bool_, np.float16):
        yield Fit(f"type {np.dtype(dtype)}", given(np.abs(counts).astype(dtype)), dict(n_components=2))
    yield Fit("Fortran order", given(np.asfortranarray(ordinary)), dict(n_components=3))
    yield Fit("strided", given(np.repeat(ordinary, 2, axis=1)[::2, ::2]), dict(n_components=3))
    yield Fit("list of lists", given(small.tolist()), dict(n_components=2))
    yield Fit("data frame", frame(small), dict(n_components=2))

    hollow = normal(400, 8) * (rng.random((400, 8)) < 0.2)
    for solver in ("auto", "covariance_eigh", "arpack", "krylov"):
        yield Fit(f"sparse, {solver}", given(sparse.csr_array(hollow)), dict(n_components=3, svd_solver=solver))
    yield Fit("sparse, CSC", given(sparse.csc_matrix(hollow)), dict(n_components=3))
    yield Fit("sparse, float32", given(sparse.csr_array(hollow.astype(np.float32))), dict(n_components=3))
    yield Fit("sparse, int8", given(sparse.csr_array((hollow * 3).astype(np.int8))), dict(n_components=3))
    yield Fit(
        "sparse, constant column",
        given(sparse.csr_array(np.column_stack([hollow, np.full(400, 0.1)]))),
        dict(n_components=3),
    )
    yield Fit("sparse, weights", given(sparse.csr_array(hollow), rng.integers(0, 4, 400)), dict(n_components=3))
    yield Fit(
        "sparse, wide", given(sparse.csr_array(normal(60, 900) * (rng.random((60, 900)) < 0.1))), dict(n_components=3)
    )

    for name, weights in {
        "uniform": rng.uniform(0.5, 2, 150),
        "zeros": rng.integers(0, 2, 150) * rng.uniform(0.5, 2, 150),
        "integers": rng.integers(1, 5, 150),
        "tiny": np.full(150, 1e-9),
        "huge": rng.uniform(0.5, 2, 150) * 1e100,
        "wild": 10.0 ** rng.uniform(-8, 8, 150),
        "one positive": np.arange(150) == 3,
        "sum of one": np.full(150, 1 / 150),
        "sum of a half": np.full(150, 1 / 300),
        "equal": np.full(150, 3.0),
    }.items():
        yield Fit(f"weights, {name}", given(small, weights), dict(n_components=1))
    yield Fit("weights, wide", given(wide, rng.integers(0, 3, 40)), dict(n_components=3))
    yield Fit("weights, tall", given(tall, rng.uniform(0, 2, 8000)), dict(n_components=3))

    yield Fit("tol=0.5, krylov", given(normal(600, 510)), dict(n_components=5, svd_solver="krylov", tol=0.5))
    yield Fit("tol=1e-3, krylov", given(decaying), dict(n_components=5, svd_solver="krylov", tol=1e-3))
    yield Fit("random_state=7, n_jobs=2", given(square), dict(n_components=3, random_state=7, n_jobs=2))
    yield Fit("n_jobs=1", given(tall), dict(n_components=3, n_jobs=1))

    for name in ("rows.npy", "rows.csv", "rows.parquet"):
        yield Fit(f"file {name}", saved(normal(500, 6), name), dict(n_components=3))
    yield Fit("file, float32 npy", saved(normal(500, 6).astype(np.float32), "single.npy"), dict(n_components=3))
    yield Fit("file, Fortran npy", saved(np.asfortranarray(normal(500, 6)), "fortran.npy"), dict(n_components=3))
    yield Fit("file, int64 parquet", saved(counts, "counts.parquet"), dict(n_components=3))
    yield Fit("file, offset", saved(normal(500, 6) + 1e9, "offset.npy"), dict(n_components=3))
    yield Fit("file, standardize", saved(columns, "columns.csv"), standardize)


def other_fits() -> Iterator[Fit]:
    rng = np.random.default_rng(4)
    X = normal(600, 6)

    def incremental(name: str, data: Any, batches: int = 4, **params: Any) -> Fit:
        return Fit(f"incremental, {name}", data, dict(n_components=3) | params, "IncrementalPCA", batches)

    yield incremental("fit", given(X), batches=0)
    yield incremental("batch_size", given(X), batches=0, batch_size=50)
    yield incremental("batches", given(X))
    yield incremental("all components", given(X), n_components=None)
    yield incremental("many batches", given(X), batches=100)
    yield incremental("forget", given(X + np.linspace(0, 9, 600)[:, None]), forget=0.5)
    yield incremental("whiten", given(X), whiten=True)
    yield incremental("offset", given(X + 1e8))
    yield incremental("scale 1e-200", given(X * 1e-200))
    yield incremental("float32", given(X.astype(np.float32)))
    yield incremental("sparse", given(sparse.csr_array(X * (rng.random(X.shape) < 0.3))))
    yield incremental("weights", given(X, rng.integers(0, 4, 600)))
    yield incremental("sketch", given(normal(400, 60)), sketch_size=12)
    yield incremental("file", saved(X, "batches.npy"), batches=0)

    def probabilistic(name: str, data: Any, **params: Any) -> Fit:
        return Fit(f"probabilistic, {name}", data, dict(n_components=2) | params, "ProbabilisticPCA")

    low_rank = spectrum(200, [30, 20, 10, 3, 3, 3, 3]) + 5
    yield probabilistic("complete", given(low_rank))
    yield probabilistic("cross-validation", given(low_rank), n_components="cv")
    yield probabilistic("mle", given(low_rank), n_components="mle")
    yield probabilistic("fraction", given(low_rank), n_components=0.8)
    yield probabilistic("standardize", given(low_rank * 10.0 ** np.arange(7)), standardize=True)
    yield probabilistic("whiten", given(low_rank), whiten=True)
    yield probabilistic("weights", given(low_rank, rng.integers(0, 4, 200)))
    yield probabilistic("wide", given(normal(30, 200)), n_components=3)
    yield probabilistic("no noise", given(spectrum(60, [3, 2, 0, 0])))
    for prior in ("normal", "ard", None):
        yield probabilistic(f"missing values, prior {prior}", given(with_missing(low_rank, 0.1)), prior=prior)
    yield probabilistic("many missing values", given(with_missing(low_rank, 0.4)))
    params = dict(standardize=True, held_out=0.0)
    yield probabilistic(
        "missing values, standardize", given(with_missing(low_rank * 10.0 ** np.arange(7), 0.1)), **params
    )

    def factors(name: str, data: Any, **params: Any) -> Fit:
        return Fit(f"factors, {name}", data, dict(n_components=2) | params, "FactorAnalysis")

    made = rng.normal(size=(400, 2)) @ rng.normal(size=(2, 8)) * 2 + rng.normal(size=(400, 8)) * np.linspace(0.2, 2, 8)
    yield factors("two", given(made))
    yield factors("varimax", given(made), rotation="varimax")
    yield factors("quartimax", given(made), rotation="quartimax")
    yield factors("start", given(made), noise_variance_init=np.ones(8))
    yield factors("offset and scale", given(made * 1e-3 + 1e4))
    yield factors(
        "wide",
        given(rng.normal(size=(60, 1)) @ rng.normal(size=(1, 150)) * 3 + rng.normal(size=(60, 150))),
        n_components=1,
    )
    yield factors("constant column", given(np.column_stack([made, np.full(400, 2.0)])))


# ---------------------------------------------------------------------- rejected inputs

_X = normal(40, 4)


def parameters(**params: Any) -> Callable[[Any, Path], Any]:
    return lambda cls, folder: made(cls, params).fit(_X)


def data(make: Callable[[Path], Any], **params: Any) -> Callable[[Any, Path], Any]:
    return lambda cls, folder: cls(**params).fit(make(folder))


def weights(sample_weight: Any) -> Callable[[Any, Path], Any]:
    return lambda cls, folder: cls(2).fit(_X, sample_weight=sample_weight)


def use(call: Callable[[Any, Path], Any]) -> Callable[[Any, Path], Any]:
    """A call on a fitted model."""
    return lambda cls, folder: call(cls(2).fit(_X), folder)


def two_batches(first: Any, second: Any) -> Callable[[Any, Path], Any]:
    return lambda cls, folder: cls(2).partial_fit(first).partial_fit(second)


def spoiled(value: float, X: Any = _X) -> NDArray:
    out = np.array(X, float)
    out[3, 1] = value
    return out


def text_file(name: str, text: str) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        (folder / name).write_text(text, encoding="utf-8")
        return folder / name

    return write


def truncated(folder: Path) -> Path:
    np.save(folder / "cut.npy", _X)
    content = (folder / "cut.npy").read_bytes()
    (folder / "cut.npy").write_bytes(content[:-100])
    return folder / "cut.npy"


def pandas_frame(**columns: Any) -> Any:
    import pandas

    return pandas.DataFrame(columns)


def fit_names_then_transform(cls: Any, folder: Path) -> Any:
    model = cls(1).fit(pandas_frame(a=_X[:, 0], b=_X[:, 1]))
    return model.transform(pandas_frame(a=_X[:, 0], c=_X[:, 1]))


def rejections() -> Iterator[Rejection]:
    name: str
    value: Any
    for value in (-1, 1.5, "nonsense", True, 10**400, float("nan"), 5):
        yield Rejection(f"n_components={str(value)[:9]}", parameters(n_components=value))
    for solver, k in (
        ("full", 5),
        ("arpack", 4),
        ("arpack", 0),
        ("randomized", 5),
        ("randomized", "mle"),
        ("krylov", 0),
    ):
        yield Rejection(f"n_components={k}, {solver}", parameters(n_components=k, svd_solver=solver))
    yield Rejection("mle of wide rows", data(lambda folder: normal(4, 9), n_components="mle"))
    for name, value in {
        "copy": "no",
        "whiten": "yes",
        "svd_solver": "none",
        "tol": -1.0,
        "iterated_power": -1,
        "n_oversamples": 0,
        "power_iteration_normalizer": "x",
        "random_state": "x",
        "standardize": 2,
        "n_jobs": "two",
        "memory_limit": -3,
        "progress": 2,
    }.items():
        yield Rejection(f"{name}={value!r}", parameters(**{name: value}))
    yield Rejection("tol='a'", parameters(tol="a"))
    yield Rejection("n_jobs=1.5", parameters(n_jobs=1.5))
    yield Rejection("memory_limit='lots'", parameters(memory_limit="lots"))
    yield Rejection("memory_limit too small", data(lambda folder: normal(3000, 200), memory_limit=1000))

    yield Rejection("NaN", data(lambda folder: spoiled(np.nan)))
    yield Rejection("infinity", data(lambda folder: spoiled(np.inf)))
    yield Rejection("NaN in tall rows", data(lambda folder: spoiled(np.nan, normal(6000, 4))))
    yield Rejection("NaN in float32", data(lambda folder: spoiled(np.nan).astype(np.float32)))
    yield Rejection("NaN, sparse", data(lambda folder: sparse.csr_array(spoiled(np.nan))))
    yield Rejection("overflow", data(lambda folder: np.array([[1.7e308], [-1.7e308]])))
    yield Rejection("no rows", data(lambda folder: np.empty((0, 3))))
    yield Rejection("no columns", data(lambda folder: np.empty((3, 0))))
    yield Rejection("one dimension", data(lambda folder: np.arange(5.0)))
    yield Rejection("three dimensions", data(lambda folder: np.zeros((2, 2, 2))))
    yield Rejection("a number", data(lambda folder: 3.0))
    yield Rejection("None", data(lambda folder: None))
    yield Rejection("strings", data(lambda folder: np.array([["a", "b"], ["c", "d"]])))
    yield Rejection("objects", data(lambda folder: np.array([[object(), 1], [2, 3]], dtype=object)))
    yield Rejection("complex numbers", data(lambda folder: _X + 1j))
    yield Rejection("dates", data(lambda folder: np.array([["2020-01-01"], ["2020-01-02"]], dtype="datetime64[D]")))
    yield Rejection("ragged lists", data(lambda folder: [[1.0, 2.0], [3.0]]))
    yield Rejection("a column of strings", data(lambda folder: pandas_frame(a=[1.0, 2.0], b=["x", "y"])))
    for solver in ("full", "randomized", "qr", "gram"):
        yield Rejection(
            f"sparse, {solver}", data(lambda folder: sparse.csr_array(_X), n_components=2, svd_solver=solver)
        )

    yield Rejection("no such file", data(lambda folder: folder / "nothing.npy"))
    yield Rejection("unknown extension", data(text_file("rows.xyz", "1,2\n3,4\n")))
    yield Rejection("truncated file", data(truncated))
    yield Rejection("CSV with text", data(text_file("text.csv", "a,b\n1,2\n3,x\n4,5\n")))
    yield Rejection("CSV with missing values", data(text_file("missing.csv", "a,b\n1,2\n3,\n4,5\n")))
    yield Rejection("CSV with ragged rows", data(text_file("ragged.csv", "a,b\n1,2\n3\n4,5\n")))
    yield Rejection("empty file", data(text_file("empty.csv", "")))

    yield Rejection("negative weight", weights(np.append(-1.0, np.ones(39))))
    yield Rejection("NaN weight", weights(np.append(np.nan, np.ones(39))))
    yield Rejection("weights of other rows", weights(np.ones(39)))
    yield Rejection("weights in a table", weights(np.ones((40, 2))))
    yield Rejection("weights all zero", weights(np.zeros(40)))
    yield Rejection("weights that are strings", weights(["a"] * 40))

    yield Rejection("transform before fit", lambda cls, folder: cls(2).transform(_X))
    yield Rejection("inverse_transform before fit", lambda cls, folder: cls(2).inverse_transform(_X))
    yield Rejection("loadings_ before fit", lambda cls, folder: cls(2).loadings_)
    yield Rejection("transform NaN", use(lambda model, folder: model.transform(spoiled(np.nan))))
    yield Rejection("transform other columns", use(lambda model, folder: model.transform(_X[:, :3])))
    yield Rejection("transform other names", fit_names_then_transform)
    yield Rejection("score NaN", use(lambda model, folder: model.score(spoiled(np.nan))))
    yield Rejection("inverse_transform other columns", use(lambda model, folder: model.inverse_transform(_X)))
    yield Rejection("inverse_transform NaN", use(lambda model, folder: model.inverse_transform([[np.nan, 1.0]])))
    yield Rejection("transform_to unknown extension", use(lambda m, folder: m.transform_to(_X, folder / "a.xyz")))
    yield Rejection("transform_to no folder", use(lambda m, folder: m.transform_to(_X, folder / "no" / "a.npy")))

    for name, value in {"n_components": 0, "batch_size": 0, "forget": 0.0, "sketch_size": 0}.items():
        yield Rejection(f"incremental, {name}={value}", parameters(**{name: value}), "IncrementalPCA")
    yield Rejection("incremental, n_components=5", lambda cls, folder: cls(5).partial_fit(_X), "IncrementalPCA")
    yield Rejection("incremental, NaN", lambda cls, folder: cls(2).partial_fit(spoiled(np.nan)), "IncrementalPCA")
    yield Rejection("incremental, other columns", two_batches(_X, _X[:, :3]), "IncrementalPCA")
    for name, value in {"n_components": -1, "prior": "x", "held_out": 0.9, "max_iter": 0}.items():
        yield Rejection(f"probabilistic, {name}={value!r}", parameters(**{name: value}), "ProbabilisticPCA")
    yield Rejection("probabilistic, infinity", data(lambda folder: spoiled(np.inf)), "ProbabilisticPCA")
    empty = np.column_stack([_X, np.full(40, np.nan)])
    yield Rejection("probabilistic, empty column", data(lambda folder: empty), "ProbabilisticPCA")
    for name, value in {"n_components": -1, "rotation": "x", "svd_method": "x", "noise_variance_init": [1.0]}.items():
        yield Rejection(f"factors, {name}={value!r}", parameters(**{name: value}), "FactorAnalysis")
    yield Rejection("factors, NaN", data(lambda folder: spoiled(np.nan), n_components=1), "FactorAnalysis")


@cache
def probes() -> dict[str, Fit | Rejection]:
    """All probes by name."""
    every: list[Fit | Rejection] = [*pca_fits(), *other_fits(), *rejections()]
    found = {probe.name: probe for probe in every}
    assert len(found) == len(every), "two probes have the same name"
    return found
