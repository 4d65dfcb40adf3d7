"""`tune`: cases with known answers, the choices of the first edition, what must not matter, and its messages."""

import numpy as np
import pytest
from scipy import sparse
from sklearn import datasets
from sklearn.base import clone

from mercer.analysis.tuning import draw_samples, tune
from mercer.data.dataset import ArrayDataset
from mercer.datasets import VOC, family, rings
from mercer.errors import DataError, MemoryLimitError, MercerWarning, ParameterError
from mercer.kernels.base import Precomputed
from mercer.kernels.distance import RBF, Laplacian
from mercer.kernels.dot import Linear, Polynomial
from mercer.kernels.histograms import ChiSquared
from mercer.kernels.strings.counting import Spectrum

quiet = pytest.mark.filterwarnings("ignore::mercer.errors.MercerWarning", "ignore::mercer_old.errors.MercerWarning")


def plane(n=150, d=6, seed=0):
    """Two directions with variance, and a little noise in all others."""
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, 2)) @ rng.standard_normal((2, d)) + 0.1 * rng.standard_normal((n, d))


def knot(n=200, noise=0.05, seed=0):
    """A closed curve that winds three times: its two largest directions do not separate the windings."""
    rng = np.random.default_rng(seed)
    angle = rng.uniform(0, 2 * np.pi, n)
    curve = np.column_stack([np.cos(3 * angle), np.sin(3 * angle), 0.6 * np.cos(angle), 0.6 * np.sin(angle)])
    return curve + noise * rng.standard_normal((n, 4))


def best_value(result, name):
    """The best value of the criterion for this kernel."""
    table = result.columns()
    values = [value for kernel, value in zip(table["kernel"], table[result.criterion], strict=True) if kernel == name]
    return np.nanmin(values) if result.criterion == "error" else np.nanmax(values)


# ---------------------------------------------------------------------- known answers


def test_rows_in_a_plane_need_the_linear_kernel():
    result = tune(plane(), n_components=2)
    assert (result.kernel, result.gamma, result.n_components) == (Linear(), None, 2)
    assert best_value(result, "linear") < 0.05


def test_rings_need_a_bandwidth_between_their_width_and_their_distance():
    X, ring = rings(80)
    result = tune(X, ring, kernels=("linear", "rbf"))
    assert 0.1 < 1 / np.sqrt(2 * result.gamma) < 2.0
    assert best_value(result, "linear") < 0.05 < 0.4 < best_value(result, "rbf")


def test_a_knot_is_reconstructed_from_two_curved_components():
    """Of two pairs of directions, PCA keeps that of variance ½ + ½ and loses 0.36 of 1.36."""
    result = tune(knot(), kernels=("linear", "rbf"), n_components=2)
    assert best_value(result, "linear") == pytest.approx(0.36 / 1.36, abs=0.05)
    assert best_value(result, "rbf") < 0.7 * best_value(result, "linear")
    assert isinstance(result.kernel, RBF)


def test_a_product_needs_the_polynomial_kernel():
    X = np.random.default_rng(0).standard_normal((150, 3))
    assert isinstance(tune(X, X[:, 0] * X[:, 1], kernels=("linear", "poly")).kernel, Polynomial)


def test_strings_are_compared_by_their_labels():
    families = ("simpson", "flanders", "bouvier", "lovejoy", "skinner", "wiggum")
    names = [name for name in VOC if family(name) in families]
    result = tune(names, [family(name) for name in names], kernels=(Spectrum(1), Spectrum(4)), cv=3)
    assert result.kernel == Spectrum(4)
    assert result.to_estimator().fit(names).transform(names).shape == (len(names), result.n_components)


# ---------------------------------------------------------------------- the first edition


@quiet
@pytest.mark.parametrize("labeled", [False, True])
@pytest.mark.parametrize("name", ["iris", "wine", "breast_cancer", "digits"])
def test_the_choice_is_that_of_the_first_edition(name, labeled):
    from mercer_old.studies.tuning import tune as tune_old

    data = getattr(datasets, f"load_{name}")()
    step = 5 if name == "digits" else 3  # 360 rows, so that block Lanczos is used
    X, y = data.data[::step], data.target[::step] if labeled else None
    old, new = tune_old(X, y, standardize=True), tune(X, y, standardize=True)
    assert (repr(new.kernel).partition("(")[0], new.n_components) == (
        repr(old.kernel).partition("(")[0],
        old.n_components,
    )
    assert new.gamma == (None if old.gamma is None else pytest.approx(old.gamma, rel=1e-9))
    expected = [np.nan if row[old.criterion] is None else row[old.criterion] for row in old.table]
    assert new.columns()[new.criterion] == pytest.approx(expected, rel=1e-3, nan_ok=True)


# ---------------------------------------------------------------------- what must not matter


@pytest.mark.parametrize("kernels", [("linear", "rbf"), ("laplacian",)])
def test_origin_and_unit_do_not_change_the_choice(kernels):
    X = knot(120)
    result, again, moved, scaled = (
        tune(rows, kernels=kernels, n_components=2, random_state=3) for rows in (X, X, X + 1e5, 1e-4 * X)
    )
    assert {name: list(map(repr, values)) for name, values in result.columns().items()} == {
        name: list(map(repr, values)) for name, values in again.columns().items()
    }
    assert moved.gamma == pytest.approx(result.gamma, rel=1e-4)
    power = 1 if isinstance(result.kernel, Laplacian) else 2
    assert scaled.gamma == pytest.approx(result.gamma * 1e4**power, rel=1e-9)


@quiet
def test_duplicates_do_not_favor_a_narrow_kernel():
    X = np.random.default_rng(0).standard_normal((60, 4))
    once, thrice = (tune(rows, kernels="rbf", n_components=2) for rows in (X, np.repeat(X, 3, axis=0)))
    assert best_value(thrice, "rbf") > 0.8 * best_value(once, "rbf")
    assert best_value(once, "rbf") > 0.4  # two of four directions that are all alike cannot do better


def test_sparse_matrices_frames_files_and_integers_have_the_result_of_the_array(tmp_path):
    X = np.round(10 * plane(60))
    result = tune(X, kernels=("linear", "rbf"))
    np.save(tmp_path / "rows.npy", X)
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=list("abcdef"))
    for same in (sparse.csr_array(X), tmp_path / "rows.npy", frame, X.astype(np.int16), X.tolist()):
        again = tune(same, kernels=("linear", "rbf"))
        assert again.kernel == result.kernel
        assert again.columns()["error"] == pytest.approx(result.columns()["error"], rel=1e-6, nan_ok=True)


def test_standardized_rows_do_not_depend_on_units():
    X = plane(80)
    units = np.array([1.0, 1e3, 1e-3, 1.0, 10.0, 1.0])
    result, other = (tune(rows, kernels=("linear", "rbf"), standardize=True) for rows in (X, X * units))
    assert other.columns()["error"] == pytest.approx(result.columns()["error"], rel=1e-6, nan_ok=True)
    assert other.to_estimator().standardize


def test_random_numbers_come_from_a_seed_or_a_generator():
    X = np.random.default_rng(0).standard_normal((40, 3)) * [3, 1, 1]
    states = (7, np.random.default_rng(7), np.random.default_rng(8))
    errors = [tune(X, kernels="linear", random_state=state).columns()["error"] for state in states]
    assert errors[0] == errors[1] != errors[2]
    X = np.random.default_rng(0).standard_normal((500, 10)) * np.linspace(3, 0.3, 10)
    samples = [tune(X, kernels="linear", max_samples=100, random_state=seed) for seed in (0, 0, 1)]
    losses = [result.columns()["error"] for result in samples]
    assert losses[0] == losses[1] != losses[2]
    assert (samples[0].n_samples, samples[0].n_compared) == (500, 100)
    assert "Compared on 100 of 500 rows." in samples[0].summary


def test_threads_do_not_change_the_result():
    X = np.random.default_rng(0).standard_normal((400, 10)) * np.linspace(3, 0.3, 10)
    one, two = (tune(X, kernels=("linear", "rbf"), n_jobs=n_jobs).columns()["error"] for n_jobs in (1, 2))
    assert np.array_equal(one, two, equal_nan=True)


# ---------------------------------------------------------------------- the result


def test_the_result_is_a_table_a_summary_and_an_estimator(tmp_path):
    X, ring = rings(50)
    result = tune(X, ring, kernels=("linear", "rbf"))
    table = result.columns()
    assert table["kernel"] == ["linear"] + 15 * ["rbf"] and sum(table["chosen"]) == 1
    assert table["gamma"][table["chosen"].index(True)] == result.gamma
    assert result.summary.startswith("RBF(gamma=") and "for linear." in result.summary
    assert str(result).count("\n") == 1 + 1 + 16
    assert list(result.by_n_components) == [1, 2, 3, 4, 5, 7, 8, 10]
    result.write(tmp_path / "trials.csv")
    assert (tmp_path / "trials.csv").read_text(encoding="utf-8").count("\n") == 17
    model = result.to_estimator(random_state=1)
    assert (model.n_components, model.kernel, model.random_state) == (result.n_components, result.kernel, 1)
    assert clone(model).fit(X).gamma_ == result.gamma


def test_progress_reports_every_candidate():
    seen = []
    tune(plane(40), kernels=("linear", "rbf"), progress=lambda state: seen.append(state.completed))
    assert len(seen) == 16
    assert seen == sorted(seen) and seen[-1] == pytest.approx(1.0)


# ---------------------------------------------------------------------- warnings and errors


def test_noise_is_flat():
    X = np.random.default_rng(1).standard_normal((60, 12))
    with pytest.warns(MercerWarning, match="the data do not show which is better") as caught:
        result = tune(X, kernels=(Linear(), RBF(1e-3), RBF(1e-2)), n_components=1)
    assert result.warnings == tuple(each.message for each in caught)


def test_a_reconstruction_no_better_than_the_mean_is_reported():
    X = np.random.default_rng(1).permutation(np.repeat(np.eye(6), 5, axis=0))
    with pytest.warns(MercerWarning, match="better than their mean"):
        assert tune(X, kernels="rbf", n_components=2, cv=6).search.best.loss > 1


def test_the_end_of_the_grid_is_reported():
    with pytest.warns(MercerWarning, match="is the smallest that was compared"):
        tune(np.random.default_rng(0).standard_normal((80, 5)), kernels=("rbf",), n_components=4)


def test_constant_and_dominating_columns_and_too_many_components_are_reported():
    with pytest.warns(MercerWarning, match="Columns without variance in the rows that are compared: 6"):
        tune(np.column_stack([plane(60), np.full(60, 7.0)]), kernels="linear", n_components=2)
    with pytest.warns(MercerWarning, match=r"Column 0 has .* Try standardize=True"):
        tune(plane(60) * [1e3, 1, 1, 1, 1, 1], kernels=("linear", "rbf"), n_components=2)
    with pytest.warns(MercerWarning, match="n_components=2 is not less than the number of columns"):
        assert tune(rings(30)[0], kernels=("linear", "rbf"), n_components=2).kernel == Linear()


X = plane(30)
BAD = [
    (dict(kernels=()), "kernels"),
    (dict(kernels=3), "kernels=3 must be"),
    (dict(kernels=("linear", "wavelet")), "kernels contains 'wavelet'"),
    (dict(kernels=(Linear(), Spectrum(3))), "kernels compare strings and vectors"),
    (dict(kernels=(Precomputed(),)), "kernels compare precomputed"),
    (dict(kernels=(ChiSquared(),)), "egative"),
    (dict(cv=1), "cv=1 must be an integer of at least 2"),
    (dict(cv=True), "cv=True must be"),
    (dict(cv=31), r"31 folds needs at least 31 different rows, and X has 30. Try cv=30\."),
    (dict(max_samples=2.5), "max_samples=2.5 must be"),
    (dict(n_components=-1), "n_components=-1 must be"),
    (dict(y=np.zeros(30)), "y is the same for all rows"),
    (dict(y=np.zeros(29)), "y has 29 labels, but X has 30 rows"),
    (dict(y=3), "y has 0 labels"),
    (dict(y=[f"row {i}" for i in range(30)]), "30 different labels for 30 rows"),
    (dict(y=np.array(["a", None, "b"] * 10, dtype=object)), "10 missing or non-finite labels"),
    (dict(y=np.append(np.arange(29.0), np.nan)), "1 missing or non-finite label"),
]


@pytest.mark.parametrize(("params", "message"), BAD, ids=[message for _, message in BAD])
def test_bad_parameters_have_one_message_each(params, message):
    with pytest.raises((ParameterError, DataError), match=message) as caught:
        tune(X, **params)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("rows", "params", "message"),
    [
        (np.ones((30, 3)), dict(kernels="rbf"), "different rows, and X has 1"),
        (VOC, dict(kernels=Spectrum(3)), "X has strings.*Pass y"),
        (VOC, dict(kernels=Spectrum(3), y=[family(name) for name in VOC], standardize=True), "standardize"),
        (np.full((30, 2), np.nan), {}, "NaN"),
        (1e200 * X, {}, "squares overflow. Scale X down"),
        (1e-200 * X, {}, "squares underflow. Scale X up"),
    ],
    ids=["equal", "strings", "standardized", "missing", "large", "small"],
)
def test_rows_that_cannot_be_compared_have_one_message_each(rows, params, message):
    with pytest.raises(ValueError, match=message):
        tune(rows, **params)


# ---------------------------------------------------------------------- samples


def test_the_sample_fits_into_the_memory_limit():
    data, rng = ArrayDataset(np.zeros((3000, 1))), np.random.default_rng(0)
    indices = draw_samples(data, None, 1000, 10**6, rng)
    assert 8 * len(indices) * (8 * len(indices) + 6) <= 10**6 < 8 * (len(indices) + 1) * (8 * len(indices) + 14)
    assert (np.diff(indices) > 0).all()
    assert len(draw_samples(data, None, 1000, 2**40, rng)) == 1000
    wide = ArrayDataset(np.zeros((300, 10_000)))
    assert len(draw_samples(wide, None, 1000, 10**8, rng)) == pytest.approx(10**8 / (8 * 6e4), rel=0.1)
    with pytest.raises(MemoryLimitError, match="A search with 50 rows needs"):
        draw_samples(wide, None, 1000, 10**6, rng)


def test_rows_of_large_weight_are_likelier_in_a_sample_and_rows_of_weight_zero_never_are():
    data, rng = ArrayDataset(np.zeros((2000, 1))), np.random.default_rng(0)
    weights = np.repeat([0.0, 1.0, 9.0], [500, 1000, 500])
    counts = np.zeros(2000)
    for _ in range(50):
        counts[draw_samples(data, weights, 100, 2**30, rng)] += 1
    assert not counts[:500].any()
    assert counts[1500:].mean() > 6 * counts[500:1500].mean()
    assert draw_samples(data, weights, 1500, 2**30, rng).tolist() == list(range(500, 2000))
