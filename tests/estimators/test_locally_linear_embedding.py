"""Locally linear embedding: against the first edition, scikit-learn, closed forms and itself on structured data."""

import pickle
import warnings

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn import manifold
from sklearn.datasets import load_digits, load_iris
from sklearn.neighbors import NearestNeighbors

import mercer_old
from mercer.data.dataset import ArrayDataset
from mercer.errors import DataError, MemoryLimitError, MercerWarning, ParameterError
from mercer.estimators import LocallyLinearEmbedding, locally_linear_embedding
from mercer.kernels.base import Pairwise
from mercer.kernels.distance import RBF, Matern, RationalQuadratic
from mercer.kernels.dot import Linear
from support.local import apart, cloud, every_method, flat, neighbours_of, roll, sheet


def quietly(function, *args, **kwargs):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(*args, **kwargs)


def fit(X, **params):
    return quietly(LocallyLinearEmbedding(**params).fit, X)


def old(X, **params):
    return quietly(mercer_old.LocallyLinearEmbedding(**params).fit, X)


def distance(Y, Z):
    """Largest difference after the columns of Z were given the signs of Y."""
    return np.abs(Y - Z * np.sign((Y * Z).sum(axis=0))).max()


def structured():
    rng = np.random.default_rng(3)
    grid = np.stack(np.meshgrid(*2 * [np.arange(15.0)]), axis=-1).reshape(-1, 2) @ rng.normal(size=(2, 4))
    return {
        "normal": rng.normal(size=(150, 4)),
        "iris": load_iris().data,
        "digits": load_digits().data[:600],
        "roll": roll(700)[0],
        "few duplicates": np.concatenate([sheet(144), sheet(144)[:40]]),
        "many duplicates": np.repeat(sheet(100), 12, axis=0),
        "grid": grid,
        "offset": 1e8 + sheet(196),
        "tiny": 1e-150 * sheet(196),
        "huge": 1e150 * sheet(196),
        "collinear": np.linspace(0, 1, 120)[:, None] * np.ones(4) + 1e-3 * rng.normal(size=(120, 4)),
        "disconnected": apart((64, 36)),
        "wide": rng.normal(size=(90, 300)),
    }


# ---------------------------------------------------------------------- results


@every_method
@pytest.mark.parametrize("kind", structured())
def test_embeddings_agree_with_the_first_edition_within_their_certificates(kind, method):
    X, params = structured()[kind], neighbours_of(method) | {"n_components": 2}
    new, first = fit(X, **params), old(X, **params)
    c, d = new.certificate_, first.certificate_
    noise = c.rounding + d.rounding
    assert (c.lower <= d.upper + noise).all() and (d.lower <= c.upper + noise).all()
    np.testing.assert_array_equal(new.connected_component_labels_, first.part_labels_)
    assert new.n_ties_ == first.n_ties_
    np.testing.assert_allclose(new.reconstruction_error_, first.reconstruction_error_, rtol=1e-6, atol=4 * noise)
    np.testing.assert_allclose(new.residuals_, first.residuals_, rtol=1e-6, atol=1e-6 * first.residuals_.max())  # roots
    clear = [i for i in range(2) if c.angles[i] < 0.05 and d.angles[i] < 0.05]
    clear = [i for i in clear if not any(start <= i < stop for start, stop in c.clusters)]
    for i in clear:
        assert distance(new.embedding_[:, [i]], first.embedding_[:, [i]]) <= 2 * (c.angles[i] + d.angles[i]) + 1e-9


@every_method
def test_embeddings_are_those_of_a_dense_eigensolver(method):
    X = sheet(256)
    model = fit(X, **neighbours_of(method), eigen_solver="arpack")
    dense = fit(X, **neighbours_of(method), eigen_solver="auto")
    assert model.plan_.solver.factor == "sparse" and dense.plan_.solver.description == "LAPACK"
    assert distance(model.embedding_, dense.embedding_) < 1e-6
    np.testing.assert_allclose(model.embedding_.T @ model.embedding_, np.eye(2), atol=1e-12)
    assert (model.embedding_[np.abs(model.embedding_).argmax(axis=0), [0, 1]] > 0).all()


@pytest.mark.parametrize("method", ["standard", "ltsa"])
def test_scikit_learn_agrees(method):
    X = roll(500)[0]
    theirs = manifold.LocallyLinearEmbedding(n_neighbors=14, method=method, eigen_solver="dense").fit(X)
    assert distance(fit(X, n_neighbors=14, method=method).embedding_, theirs.embedding_) < 1e-4


@pytest.mark.parametrize("method", ["hessian", "ltsa"])
def test_a_plane_comes_back_up_to_an_affine_map(method):
    X, plane = flat(150)
    Y = fit(X, n_neighbors=12, method=method).embedding_
    affine = np.column_stack([plane, np.ones(150)])
    rest = Y - affine @ np.linalg.lstsq(affine, Y, rcond=None)[0]
    assert np.abs(rest).max() < 1e-6


@every_method
@pytest.mark.parametrize("change", ["offset", "tiny", "huge"])
def test_shifts_and_scales_change_nothing(method, change):
    X = np.round(sheet(196) * 2**20) / 2**20
    moved = {"offset": X + 2**12, "tiny": X * 2.0**-400, "huge": X * 2.0**400}[change]
    one, two = fit(X, **neighbours_of(method)), fit(moved, **neighbours_of(method))
    assert distance(one.embedding_, two.embedding_) < 1e-6


# ---------------------------------------------------------------------- graphs


@every_method
def test_a_disconnected_graph_is_in_the_certificate(method):
    with pytest.warns(MercerWarning, match=r"is disconnected: 3 connected components of 64, 36 and 25 rows") as found:
        model = LocallyLinearEmbedding(n_neighbors=10, method=method).fit(apart((25, 64, 36)))
    assert len(found) == 1 and found[0].message.severity == "meaningless"
    assert model.n_connected_components_ == 3
    np.testing.assert_array_equal(model.connected_component_labels_, np.repeat([2, 0, 1], [25, 64, 36]))
    assert model.certificate_.caveats == (found[0].message.summary,)
    assert "Not meaningful: The graph of the 10 nearest neighbors is disconnected" in model.certificate_.summary
    assert model.fit_warnings_ == (found[0].message,)
    with pytest.raises(DataError, match="disconnected"):
        LocallyLinearEmbedding(n_neighbors=10, method=method, on_disconnected="raise").fit(apart((25, 64, 36)))
    LocallyLinearEmbedding(n_neighbors=10, method=method, on_disconnected="raise").fit(sheet())


def test_a_collapsed_embedding_is_in_the_certificate():
    rng = np.random.default_rng(0)
    X = rng.standard_t(1.2, size=(800, 3))
    model = fit(X, n_neighbors=8, method="modified")
    assert model.n_connected_components_ == 1
    assert any("collapsed" in caveat for caveat in model.certificate_.caveats), model.certificate_
    for honest in (roll(900)[0], sheet(400), load_digits().data[:900]):
        assert not any("collapsed" in text for text in fit(honest, n_neighbors=12).certificate_.caveats)


def test_closed_groups_are_reported():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(30, 3)), rng.normal(size=(30, 3)) + 50, [[25.0, 25.0, 25.0]]])
    model = fit(X, n_neighbors=8)
    assert any("groups of rows" in caveat or "disconnected" in caveat for caveat in model.certificate_.caveats)


@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_duplicates_are_merged_where_a_neighborhood_is_a_point(convert):
    X = sheet(64)
    model = fit(convert(np.repeat(X, 9, axis=0)), n_neighbors=8)
    assert distance(model.embedding_[::9], fit(X, n_neighbors=8).embedding_) < 1e-6
    assert model.embedding_.shape == (576, 2) and model.neighbors_.shape == (64, 8)
    assert any("distinct rows were embedded" in str(warning) for warning in model.fit_warnings_)
    few = fit(convert(np.repeat(X[:5], 9, axis=0)), n_neighbors=8)
    assert "Only 5 of 45 rows are distinct" in few.certificate_.caveats[0]


def test_equal_rows_have_no_structure():
    model = fit(np.ones((20, 3)), n_neighbors=3)
    np.testing.assert_array_equal(model.embedding_, 0)
    assert "All 20 rows are equal" in model.certificate_.caveats[0]
    with pytest.raises(ValueError, match="Error in determining null-space with ARPACK"):
        LocallyLinearEmbedding(n_neighbors=3, eigen_solver="arpack").fit(np.ones((20, 3)))


def test_rows_that_vanish_next_to_a_number_are_an_error():
    X = np.concatenate([np.random.default_rng(0).normal(size=(40, 3)), [[1e300, 0, 0]]])
    with pytest.raises(DataError, match="at distance zero"):
        LocallyLinearEmbedding(n_neighbors=5).fit(X)


# ---------------------------------------------------------------------- new rows


@every_method
@pytest.mark.parametrize("kind", ["normal", "few duplicates", "many duplicates", "grid", "offset", "roll", "one-hot"])
def test_training_rows_have_their_own_coordinates(kind, method):
    rng = np.random.default_rng(0)
    X = np.eye(12)[rng.integers(12, size=200)] + 0.0 if kind == "one-hot" else structured()[kind]
    params = dict(n_neighbors=5, method=method, n_components=1) if kind == "one-hot" else neighbours_of(method)
    model = fit(X, **params)
    found = model.place(X)
    first = np.unique(X, axis=0, return_index=True, return_inverse=True)
    np.testing.assert_array_equal(found.embedding, model.embedding_[first[1][first[2].reshape(-1)]])
    assert not found.residuals.any() and not found.nearest.any() and not found.far.any()


@every_method
def test_new_rows_agree_with_the_first_edition(method):
    X, new = roll(400)[0], roll(100, seed=1)[0]
    model, first = fit(X, **neighbours_of(method)), old(X, **neighbours_of(method))
    one, two = model.place(new), first.place(new)
    assert distance(one.embedding, two.embedding) < 1e-7
    np.testing.assert_allclose(one.residuals, two.residuals, rtol=1e-8)
    np.testing.assert_allclose(one.nearest, two.nearest)
    np.testing.assert_array_equal(one.far, two.far)
    np.testing.assert_array_equal(quietly(model.transform, new), one.embedding)
    assert set(one.columns()) == {"coordinate0", "coordinate1", "residual", "nearest", "far"} and "100 rows" in str(one)


@pytest.mark.parametrize("size", [1e15, 1e200])
def test_far_rows_are_reported_once(size):
    X = roll(300)[0]
    model = fit(X, n_neighbors=12)
    with pytest.warns(MercerWarning, match=r"1 of 3 rows are farther .*row index 1 ") as found:
        model.transform(np.array([X[0], [size] * 3, X[1]]))
    assert len(found) == 1


def test_new_rows_do_not_depend_on_their_batch():
    X = load_digits().data
    model = fit(X[:700], n_neighbors=10)
    new = X[700:800] + 0.25
    together = quietly(model.transform, new)
    np.testing.assert_allclose(
        np.concatenate([quietly(model.transform, row[None]) for row in new]), together, atol=1e-12
    )


# ---------------------------------------------------------------------- metrics


@every_method
def test_all_spaces_give_the_same_embedding(method):
    X = sheet(144)
    params = neighbours_of(method)
    expected = fit(X, **params).embedding_
    for other in (
        fit(sparse.csr_array(X), **params),
        fit(X, metric=Linear(), **params),
        fit(cdist(X, X), metric="precomputed", **params),
        fit(X, neighbors_algorithm="brute", **params),
        fit(X, eigen_solver="dense", **params),
    ):
        assert distance(expected, other.embedding_) < 1e-5


def test_new_rows_in_all_spaces():
    X, new = roll(300)[0], roll(40, seed=2)[0]
    expected = fit(X, n_neighbors=12).place(new)
    for model, given in (
        (fit(sparse.csr_array(X), n_neighbors=12), sparse.csr_array(new)),
        (fit(X, metric=Linear(), n_neighbors=12), new),
        (fit(cdist(X, X), metric="precomputed", n_neighbors=12), cdist(new, X)),
    ):
        found = model.place(given)
        assert distance(expected.embedding, found.embedding) < 1e-5
        np.testing.assert_allclose(found.residuals, expected.residuals, atol=1e-5)
        np.testing.assert_array_equal(found.far, expected.far)


def test_a_kernel_has_its_own_neighborhoods():
    X = cloud(150, 3)
    model = fit(X, metric=RBF(gamma=0.2), n_neighbors=9)
    first = old(X, metric=mercer_old.kernels.RBF(gamma=0.2), n_neighbors=9)
    assert distance(model.embedding_, first.embedding_) < 1e-6
    with pytest.raises(AttributeError, match="kernel"):
        model.nbrs_  # noqa: B018


@pytest.mark.parametrize(
    ("D", "message"),
    [
        (np.ones((4, 5)), "square"),
        (-np.ones((5, 5)) + np.eye(5), "Negative"),
        (np.ones((5, 5)), "must be 0"),
        (np.triu(np.ones((5, 5)), 1), r"Pass D \+ D\.T"),
        (np.tril(cdist(sheet(64), sheet(64))).astype(np.float32), r"Pass D \+ D\.T"),
        (sparse.csr_array(np.ones((5, 5))), "Sparse distances"),
    ],
)
def test_unusable_distances_are_refused(D, message):
    with pytest.raises(DataError, match=message):
        LocallyLinearEmbedding(metric="precomputed", n_neighbors=2).fit(D)


def test_distances_that_are_not_symmetric_are_reported():
    X = sheet(64)
    D = cdist(X, X)
    D[3, 5] *= 1.01
    with pytest.warns(MercerWarning, match="not symmetric"):
        LocallyLinearEmbedding(metric="precomputed", n_neighbors=8).fit(D)


# ---------------------------------------------------------------------- landmarks, files, parameters


@pytest.mark.parametrize("kind", ["rows", "sparse", "kernel", "distances"])
def test_landmarks_keep_their_coordinates_and_others_lie_between(kind):
    X = roll(1500)[0]
    given = {"rows": X, "sparse": sparse.csr_array(X), "kernel": X, "distances": cdist(X, X)}[kind]
    metric = {"kernel": Linear(), "distances": "precomputed"}.get(kind, "euclidean")
    model = fit(given, n_neighbors=10, n_landmarks=400, metric=metric)
    chosen = model.landmark_indices_
    assert len(np.unique(chosen)) == 400 and (np.diff(chosen) > 0).all()
    own = given[chosen][:, chosen] if kind == "distances" else given[chosen]
    alone = fit(own, n_neighbors=10, metric=metric)
    assert distance(model.embedding_[chosen] * np.sqrt(1500 / 400), alone.embedding_) < 1e-6
    assert distance(quietly(model.transform, given), model.embedding_) < 1e-9
    certificate = model.certificate_
    assert certificate.n_landmarks == 400 and certificate.n_placed == 1100 and certificate.certified
    np.testing.assert_allclose(certificate.landmarks.values, alone.certificate_.values, rtol=1e-5)
    np.testing.assert_allclose(certificate.replacement_errors, np.sqrt(certificate.landmarks.values), rtol=1e-3)
    placed = np.delete(np.arange(1500), chosen)
    if kind == "rows":
        residuals = model.place(X[placed]).residuals / np.median(model.neighbor_distances_[:, -1])
        np.testing.assert_allclose(certificate.residuals, np.quantile(residuals, [0.5, 0.95, 1.0]))


def test_files_are_embedded_like_arrays(tmp_path):
    X = roll(900)[0]
    np.save(tmp_path / "rows.npy", X)
    for params in (
        dict(n_neighbors=12),
        dict(n_neighbors=12, n_landmarks=200),
        dict(n_neighbors="auto", n_components=1),
    ):
        one, two = fit(X, **params), fit(tmp_path / "rows.npy", **params)
        np.testing.assert_allclose(one.embedding_, two.embedding_, atol=1e-12)
    model = fit(X, n_neighbors=12)
    quietly(model.transform_to, tmp_path / "rows.npy", tmp_path / "scores.npy")
    np.testing.assert_allclose(np.load(tmp_path / "scores.npy"), model.embedding_)
    quietly(model.transform_to, tmp_path / "rows.npy", tmp_path / "fitted.npy", method="fit_transform")
    np.testing.assert_allclose(np.load(tmp_path / "fitted.npy"), model.embedding_)


def test_landmarks_stand_in_where_the_memory_does_not_suffice():
    X = roll(6000)[0]
    with pytest.warns(MercerWarning, match="landmarks are embedded and all other rows placed"):
        model = LocallyLinearEmbedding(n_neighbors=12, memory_limit="45MB", n_jobs=1).fit(X)
    assert model.plan_.route == "landmarks" and len(model.landmark_indices_) == model.plan_.n_landmarks
    with pytest.raises(MemoryLimitError) as caught:
        LocallyLinearEmbedding(n_neighbors=12, memory_limit="20MB", eigen_solver="dense").fit(X)
    assert caught.value.remedies


def test_the_number_of_neighbors_is_that_of_the_first_edition():
    for X, method in ((sheet(324), "standard"), (roll(600)[0], "ltsa"), (load_digits().data[:700], "standard")):
        model, first = fit(X, n_neighbors="auto", method=method), old(X, n_neighbors="auto", method=method)
        assert model.n_neighbors_ == first.n_neighbors_
        assert model.n_neighbors_reason_.startswith(f"n_neighbors={model.n_neighbors_}: the smallest of")
        if not model.certificate_.clusters:
            again = fit(X, n_neighbors=model.n_neighbors_, method=method)
            assert distance(model.embedding_, again.embedding_) < 1e-6


@pytest.mark.parametrize("n", [500, 1797])
def test_a_chosen_number_of_neighbors_determines_the_embedding(n):
    """With 5 or 6 neighbors there are closed groups among the first 500 digits, and two components among all."""
    X = load_digits().data[:n]
    assert fit(X, n_neighbors=6).certificate_.caveats
    model = fit(X, n_neighbors="auto")
    assert model.n_neighbors_ > 6 and model.certificate_.certified and not model.certificate_.caveats
    assert (n > 1000) == ("With all rows, n_neighbors=8 leaves fewer connected" in model.n_neighbors_reason_)


@pytest.mark.parametrize("kernel", [RBF(), Matern(), RationalQuadratic(), RBF() * Linear(), RBF() + 1.0])
def test_training_rows_have_their_own_coordinates_for_all_kernels(kernel):
    X = roll(300)[0]
    model = fit(X, n_neighbors=10, metric=kernel)
    assert np.array_equal(quietly(model.transform, X), model.embedding_)
    twice = fit(np.repeat(X[:60], 12, axis=0), n_neighbors=10, metric=kernel)
    assert len(twice.neighbors_) == 60 and np.array_equal(twice.embedding_[::12], twice.embedding_[11::12])


BAD_KERNELS = {
    "nan": (lambda x, y: np.nan, r"returned nan for row 0 \(300 of 300 rows\)"),
    "not symmetric": (lambda x, y: float(x[0] - y[1]), "is not symmetric: k.x, y. and k.y, x. differ by up to"),
    "one value": (lambda x, y: 1.0, "differ from their neighbors, but at distance zero"),
}


@pytest.mark.parametrize(("function", "message"), BAD_KERNELS.values(), ids=BAD_KERNELS)
def test_functions_that_are_not_kernels_are_refused(function, message):
    with pytest.raises(DataError, match=message):
        LocallyLinearEmbedding(metric=Pairwise(function)).fit(roll(300)[0])


@pytest.mark.parametrize(
    ("params", "message"),
    [
        (dict(n_components=4), "output dimension must be less than or equal to input dimension"),
        (dict(n_neighbors=20), "Expected n_neighbors < n_samples, but n_samples = 20, n_neighbors = 20"),
        (dict(method="hessian", n_neighbors=5), r"n_neighbors must be greater than \[n_components"),
        (dict(method="modified", n_neighbors=1), "modified LLE requires n_neighbors >= n_components"),
        (dict(method="ltsa", n_neighbors=3), "n_neighbors=3 must be at least 4"),
        (dict(n_landmarks=5), "n_landmarks=5 must be more than"),
        (dict(on_disconnected="separate"), "on_disconnected"),
    ],
)
def test_impossible_parameters_are_refused(params, message):
    with pytest.raises(ParameterError, match=message) as caught:
        LocallyLinearEmbedding(**params).fit(cloud(20, 3))
    assert caught.value.parameter in params


def test_sample_weights_are_not_supported(tmp_path):
    X = cloud(40, 3)
    with pytest.raises(ParameterError, match="does not support sample_weight"):
        LocallyLinearEmbedding().transform_to(X, tmp_path / "a.npy", method="fit_transform", sample_weight=np.ones(40))


def test_standardized_columns_are_those_of_scaled_data():
    X = sheet(144) * [1.0, 100.0, 0.01]
    model = fit(X, standardize=True, n_neighbors=10)
    scale = X.std(axis=0, ddof=1)
    np.testing.assert_allclose(model.scale_, scale)
    assert distance(model.embedding_, fit(X / scale, n_neighbors=10).embedding_) < 1e-6
    np.testing.assert_array_equal(quietly(model.transform, X), model.embedding_)
    np.testing.assert_allclose(model.training_set().samples, X, rtol=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("n_landmarks", [None, 80])
def test_standardized_training_rows_have_their_own_coordinates(dtype, convert, n_landmarks):
    X = convert((cloud(200, 4) * [1, 100, 3, 7]).astype(dtype))
    model = fit(X, n_neighbors=8, standardize=True, n_landmarks=n_landmarks)
    own = slice(None) if n_landmarks is None else model.landmark_indices_
    np.testing.assert_array_equal(quietly(model.transform, X)[own], model.embedding_[own])
    kept = model.training_set()
    rows = kept.samples[[3, 5]]  # sparse ones have rows, too
    rows, given = (A.toarray() if sparse.issparse(A) else A for A in (rows, X[kept.indices[[3, 5]]]))
    np.testing.assert_allclose(rows, given, rtol=1e-6)


def test_a_column_whose_unit_decides_is_reported():
    X = np.column_stack([sheet(196), 1e4 * np.random.default_rng(0).normal(size=196)])
    for metric in ("euclidean", RBF(gamma=1e-9)):
        with pytest.warns(MercerWarning, match=r"Column 3 has 100\.0% of the summed variance of 4 columns") as found:
            LocallyLinearEmbedding(n_neighbors=10, metric=metric).fit(X)
        assert any(warning.message.remedies == (("standardize", True),) for warning in found)
    for params in (dict(standardize=True), dict(metric="cosine")):
        assert "summed variance" not in " ".join(map(str, fit(X, n_neighbors=10, **params).fit_warnings_))


def test_float32_stays_float32_and_models_travel():
    X = sheet(100).astype(np.float32)
    model = fit(X, n_neighbors=8)
    assert model.embedding_.dtype == np.float32 and quietly(model.transform, X).dtype == np.float32
    again = pickle.loads(pickle.dumps(model))  # noqa: S301
    np.testing.assert_array_equal(quietly(again.transform, X + 0.01), quietly(model.transform, X + 0.01))


def test_threads_and_seeds_repeat():
    X = roll(900)[0]
    one, two = fit(X, n_neighbors=12, n_jobs=1), fit(X, n_neighbors=12, n_jobs=2)
    np.testing.assert_array_equal(one.embedding_, two.embedding_)
    assert distance(one.embedding_, fit(X, n_neighbors=12, random_state=5).embedding_) < 1e-6


def test_the_function_takes_rows_and_searches():
    X = sheet(100)
    Y, error = quietly(locally_linear_embedding, X, n_neighbors=8, n_components=2)
    model = fit(X, n_neighbors=8)
    np.testing.assert_array_equal(Y, model.embedding_)
    assert error == model.reconstruction_error_
    again, _ = quietly(locally_linear_embedding, NearestNeighbors(n_neighbors=8).fit(X), n_neighbors=8, n_components=2)
    np.testing.assert_array_equal(again, Y)
    with pytest.raises(ParameterError, match="metric"):
        locally_linear_embedding(NearestNeighbors(metric="manhattan").fit(X), n_neighbors=8, n_components=2)


def test_scikit_learns_object_places_new_rows_alike():
    X, new = sheet(144), sheet(144, seed=1)
    for params in (dict(), dict(standardize=True)):
        model = fit(X, n_neighbors=10, **params)
        theirs = model.to_sklearn()
        np.testing.assert_allclose(theirs.transform(new), quietly(model.transform, new), rtol=1e-6, atol=1e-9)
    for model in (fit(X, metric="cosine", n_neighbors=9), fit(X, n_landmarks=50, n_neighbors=9)):
        with pytest.raises(DataError):
            model.to_sklearn()


def test_the_contract_of_a_fitted_model():
    X = sheet(100)
    model = fit(X, n_neighbors=8)
    assert model.model_key == "lle" and model.input_kind == "vectors"
    assert LocallyLinearEmbedding(metric="precomputed").input_kind == "precomputed"
    spectrum = model.spectrum()
    assert spectrum.variances is None and (spectrum.lower <= spectrum.eigenvalues).all()
    assert model.linear_map() is None and model.project(X) is None and model.expansion() is None
    training = model.training_set()
    np.testing.assert_allclose(training.samples, X, rtol=1e-12)
    np.testing.assert_array_equal(training.scores, model.embedding_)
    assert model.n_samples_ == 100 and model.n_components_ == 2
    assert [*model.get_feature_names_out()] == ["locallylinearembedding0", "locallylinearembedding1"]
    assert model.plan(X).route == "dense" and model.plan(ArrayDataset(roll(2000)[0])).route == "sparse"
    search = model.nbrs_
    np.testing.assert_allclose(search.kneighbors(return_distance=True)[0], model.neighbor_distances_)


@pytest.mark.parametrize("metric", ["euclidean", "cosine", Linear()], ids=str)
@pytest.mark.parametrize("hold", [np.asarray, sparse.csr_array])
def test_training_rows_may_be_changed_after_the_fit(metric, hold):
    X, new = hold(cloud(50, 3)), cloud(50, 3)[:20] + 0.01
    model = LocallyLinearEmbedding(n_neighbors=7, metric=metric).fit(X)
    expected = model.transform(new)
    X *= 0
    np.testing.assert_array_equal(model.transform(new), expected)
