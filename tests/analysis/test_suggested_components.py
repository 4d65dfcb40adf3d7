"""`mercer.suggest` and rules by name inside fits: the same numbers by every way, and words for what cannot be said."""

import json

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.base import clone
from sklearn.decomposition import PCA as SklearnPCA
from sklearn.pipeline import make_pipeline

import mercer
from mercer import PCA, IncrementalPCA, KernelPCA, LocallyLinearEmbedding, suggest
from mercer.datasets import VOC, rings
from mercer.kernels import Spectrum
from mercer_old.errors import BadData, MercerWarning
from mercer_old.rule_names import RULES_OF
from support.branches import run
from support.silence import quiet


def factors(seed=0, n=200, d=20, strengths=(8, 6, 5), noise=1.0):
    rng, k = np.random.default_rng(seed), len(strengths)
    axes = np.linalg.qr(rng.standard_normal((d, k)))[0]
    return rng.standard_normal((n, k)) * strengths @ axes.T + noise * rng.standard_normal((n, d))


X = factors()

# ---------------------------------------------------------------------- rules by name, inside fits


@pytest.mark.parametrize("rule", RULES_OF["pca"])
@pytest.mark.parametrize("standardize", [False, True])
@quiet
def test_a_rule_by_name_keeps_what_suggest_says(rule, standardize):
    model = PCA(rule, standardize=standardize).fit(X)
    assert model.n_components_ == suggest(PCA(standardize=standardize).fit(X))[rule].k
    assert model.components_.shape == (model.n_components_, 20)
    assert model.transform(X).shape == (200, model.n_components_)


@pytest.mark.parametrize("rule", RULES_OF["pca"])
@quiet
def test_every_way_to_the_axes_keeps_as_many(rule):
    Y = factors(1, 600, 12, (5, 4))  # more rows than LAPACK takes whole
    ways = ["full", "covariance_eigh", "qr", "auto"]
    assert len({PCA(rule, svd_solver=way).fit(Y).n_components_ for way in ways}) == 1


@pytest.mark.parametrize("rule", ["parallel", "deflated-parallel", "tracy-widom", "marchenko-pastur", "gavish-donoho"])
@pytest.mark.parametrize(
    "change", [lambda X: X + 1e6, lambda X: X * 1e-120, lambda X: X * 1e150, lambda X: X.astype("f4")]
)
def test_offset_unit_and_precision_do_not_matter(rule, change):
    assert PCA(rule).fit(change(X)).n_components_ == 3


@pytest.mark.parametrize("rule", RULES_OF["pca"])
@pytest.mark.parametrize("way", ["full", "covariance_eigh", "qr"])
@quiet
def test_small_variances_beside_a_huge_one_are_seen(rule, way):
    """A column of another unit, 1e9 times as large: what is left has its own rank, found by a fit without squares."""
    Y = np.column_stack([1e9 * np.arange(200.0), X])
    assert PCA(rule, svd_solver=way).fit(Y).n_components_ == suggest(PCA().fit(Y))[rule].k
    assert len(suggest(PCA().fit(Y)).scree.positive) == 21


def test_variances_that_are_rounding_are_none():
    Y = X[:, :3] @ np.random.default_rng(0).standard_normal((3, 10)) + 1e3
    assert len(suggest(PCA().fit(Y)).scree.positive) == 3
    for way in ("full", "covariance_eigh", "qr"):
        assert PCA("tracy-widom", svd_solver=way).fit(Y).n_components_ <= 3


@pytest.mark.parametrize("rule", ["parallel", "deflated-parallel", "tracy-widom", "marchenko-pastur", "gavish-donoho"])
def test_more_columns_than_rows_are_no_trouble(rule):
    wide = factors(0, 60, 700, (20, 18, 16))
    assert PCA(rule).fit(wide).n_components_ == 3


@pytest.mark.parametrize("rule", [rule for rule in RULES_OF["pca"] if rule != "elbow"])
@quiet
def test_a_row_of_weight_two_counts_twice(rule):
    weights = np.random.default_rng(0).integers(1, 4, len(X))
    twice = PCA(rule).fit(np.repeat(X, weights, axis=0))
    assert PCA(rule).fit(X, sample_weight=weights).n_components_ == twice.n_components_


def test_sparse_rows_are_kept_by_rules_too():
    assert PCA("parallel").fit(sparse.csr_array(X)).n_components_ == 3
    with pytest.raises(ValueError, match="n_components='mle' cannot be a string"):  # as scikit-learn has it
        PCA("mle").fit(sparse.csr_array(X))


def test_gram_has_no_axes_to_deflate_by():
    with pytest.raises(BadData, match='svd_solver="gram" does not have'):
        PCA("deflated-parallel", svd_solver="gram").fit(factors(0, 60, 700))
    assert PCA("parallel", svd_solver="gram").fit(factors(0, 60, 700, (20, 18, 16))).n_components_ == 3


def test_noise_keeps_nothing_and_says_so():
    noise = np.random.default_rng(1).standard_normal((300, 10))
    with pytest.warns(MercerWarning, match="No component is more than noise by n_components='parallel'"):
        model = PCA("parallel").fit(noise)
    assert model.n_components_ == 0 and model.transform(noise).shape == (300, 0)
    assert_allclose(model.noise_variance_, model.total_variance_ / 10)


def test_a_rule_without_an_answer_is_one_sentence():
    with pytest.raises(BadData, match='n_components="marchenko-pastur" finds no number here: half of the variances'):
        PCA("marchenko-pastur").fit(X[:, :3] @ np.ones((3, 20)))
    with pytest.raises(BadData, match='"tracy-widom" finds no number here: too few rows'):
        PCA("tracy-widom").fit(X[:2])


def test_rows_that_are_all_the_same_keep_one_as_ever():
    with pytest.warns(MercerWarning, match="All rows are the same"):
        assert PCA("parallel").fit(np.ones((9, 4))).n_components_ == 1


@pytest.mark.parametrize("model", [PCA, KernelPCA])
def test_an_unknown_rule_is_told_with_those_that_there_are(model):
    rules = RULES_OF["pca" if model is PCA else "kpca"]
    with pytest.raises(ValueError) as told:
        model("paralel").fit(X)
    assert all(repr(rule) in str(told.value) for rule in rules) and "\n" not in str(told.value)


@pytest.mark.parametrize("rule", RULES_OF["kpca"])
@pytest.mark.parametrize("how", [{}, {"eigen_solver": "krylov"}, {"n_landmarks": 150}])
def test_kernels_keep_what_their_rules_say(rule, how):
    Y = factors(2, 300, 8, (3, 2.5), 0.5)
    model = KernelPCA(rule, kernel="rbf", gamma=0.02, **how).fit(Y)
    k = model.eigenvalues_.shape[0]
    hundred = KernelPCA(100, kernel="rbf", gamma=0.02, **how).fit(Y)
    assert k == suggest(hundred, Y)[rule].k and 1 <= k < 100
    assert_allclose(model.eigenvalues_, hundred.eigenvalues_[:k], rtol=1e-6)
    assert model.transform(Y).shape == (300, k)
    assert how.get("n_landmarks") or model.certificate_.certified


@pytest.mark.parametrize(
    ("fit", "words"),
    [
        (lambda: KernelPCA("parallel", kernel=Spectrum(3)).fit(VOC), "permutes columns of numbers"),
        (lambda: KernelPCA("parallel", kernel="precomputed").fit(X @ X.T), "permutes columns of numbers"),
        (lambda: KernelPCA("parallel", kernel="rbf").fit(X, sample_weight=np.arange(200) + 1), 'give "elbow"'),
        (lambda: KernelPCA("parallel", kernel="rbf").fit(X[:, :1]), "one column has nothing in common"),
    ],
)
def test_kernels_without_columns_or_with_weights_have_no_parallel_analysis(fit, words):
    with pytest.raises(BadData, match=words):
        fit()


@quiet
def test_texts_have_elbows():
    texts = [f"{word}{i}" for word in ("kernel", "matrix", "sample") for i in range(40)]
    model = KernelPCA("elbow", kernel=Spectrum(3)).fit(texts)
    assert len(model.eigenvalues_) == suggest(KernelPCA(100, kernel=Spectrum(3)).fit(texts))["elbow"].k == 2


def test_flat_screes_of_kernels_are_told():
    with pytest.warns(MercerWarning, match="n_components='elbow' means little here: the scree is flat"):
        assert len(KernelPCA("elbow", kernel=Spectrum(3)).fit(VOC).eigenvalues_) >= 1


def test_a_kernel_that_sees_nothing_keeps_one_and_says_so():
    square = np.random.default_rng(0).uniform(size=(200, 2))
    with pytest.warns(MercerWarning, match="the first is kept all the same"):
        assert len(KernelPCA("parallel", kernel="rbf", gamma=1.0).fit(square).eigenvalues_) == 1


def test_models_by_rule_are_cloned_piped_and_handed_on():
    pipe = clone(make_pipeline(PCA("parallel"), KernelPCA("elbow", kernel="rbf", gamma=0.02))).fit(X)
    assert pipe[0].n_components_ == 3
    assert_allclose(pipe[0].to_sklearn().transform(X), pipe[0].transform(X), atol=1e-9)
    Z = pipe[0].transform(X)
    assert_allclose(pipe[1].to_sklearn().transform(Z), pipe[1].transform(Z), atol=1e-9)


def test_plans_know_rules():
    ruled, hundred = mercer.plan(50_000, 20, "elbow"), mercer.plan(50_000, 20, 100)
    assert (ruled.memory, ruled.held, ruled.solver) == (hundred.memory, hundred.held, hundred.solver)
    for k in ("parallel", "mle"):
        assert mercer.plan(5000, 20, k, method="pca").memory > 0
        assert PCA(k).plan(X).memory > 0


# ---------------------------------------------------------------------- suggest


def test_the_consensus_is_the_median_of_rules_that_tell_signal_from_noise():
    found = suggest(PCA().fit(X), X)
    heard = [one.k for one in found.opinions if one.k is not None and found.rules[one.rule].tells_noise]
    assert found.k == sorted(heard)[(len(heard) - 1) // 2] == 3
    assert len(heard) == 9 and not found.unequal
    assert found.consensus.startswith("Keep 3: ") and "signal from noise" in found.consensus
    assert found["horn"].k == found["flip"].k == 3


def test_noise_that_differs_leaves_rules_of_equal_noise_out():
    Y = factors(3, 300, 40, (12, 11, 10), np.geomspace(0.5, 3, 40))
    found = suggest(PCA().fit(Y), Y)
    assert found["tracy-widom"].k > 10 and found.k == 3
    assert "Left out are rules of equal noise: noise differs from column to column" in found.consensus


def test_a_suggestion_can_be_printed_asked_and_tabulated():
    found = suggest(PCA().fit(X))
    lines = str(found).splitlines()
    assert lines[0].split() == ["rule", "k", "why"] and lines[-1] == found.consensus
    assert [line.split()[0] for line in lines[1:-1]] == list(found) == [row["rule"] for row in found.table]
    assert len(found) == len(found.table) == len(lines) - 2
    assert set(found.table[0]) == {"rule", "title", "k", "at_least", "needs", "why"}
    with pytest.raises(KeyError, match="no rule 'scree' here; there are share, elbow"):
        found["scree"]
    assert_allclose(found.cumulative[-1], 1)


def test_components_that_were_not_fitted_are_asked_for():
    found = suggest(PCA(2).fit(X))
    assert found["parallel"].answer == "at least 2" and found["share"].at_least
    assert found["mle"].k is None and "2 of 20 variances were fitted" in found["mle"].why
    assert found.at_least and found.consensus.startswith("Keep at least 2")


def test_rows_bring_all_variances_back():
    found, every = suggest(PCA(2).fit(X), X), suggest(PCA().fit(X), X)
    assert [one.answer for one in found.opinions] == [one.answer for one in every.opinions]
    narrow = suggest(PCA(2, standardize=True).fit(X), X)
    assert_allclose(narrow.scree.total, 20)


@pytest.mark.parametrize("how", ["fit", "batches", "sparse", "file"])
def test_models_from_anywhere_say_the_same(how, tmp_path):
    expected = {row["rule"]: row["k"] for row in suggest(PCA().fit(X), X).table}
    rows = X
    if how == "fit":
        model = IncrementalPCA().fit(X)
    elif how == "batches":
        model = IncrementalPCA()
        for batch in np.array_split(X, 4):
            model.partial_fit(batch)
    elif how == "sparse":
        rows = sparse.csr_array(X)
        model = PCA(19).fit(rows)
    else:
        rows = tmp_path / "rows.npy"
        np.save(rows, X)
        model = PCA().fit(rows)
    assert {row["rule"]: row["k"] for row in suggest(model, rows).table} == expected


def test_weights_are_told_by_rules_that_draw():
    weights = np.random.default_rng(0).integers(1, 3, 200)
    model = PCA().fit(X, sample_weight=weights)
    found = suggest(model, X, np.arange(200) % 2, sample_weight=weights)
    assert [found[rule].k for rule in ("horn", "flip", "labels")] == [None] * 3
    assert all("weights" in found[rule].why for rule in ("horn", "flip", "labels"))
    every = suggest(PCA().fit(np.repeat(X, weights, axis=0)))
    for rule in ("parallel", "tracy-widom", "bic"):
        assert found[rule].k == every[rule].k


def test_a_model_that_forgets_is_asked_as_it_is():
    model = IncrementalPCA(5, forget=0.9, batch_size=50).fit(X)
    found = suggest(model, X)
    assert found["parallel"].k is not None and "weights" in found["horn"].why
    assert found.scree.weight < 200 and len(found.scree.values) == 5


def test_the_same_seed_gives_the_same_answer():
    model = PCA().fit(X)
    one, same, other = (suggest(model, X, random_state=seed)["horn"].limits for seed in (1, 1, 2))
    assert np.array_equal(one, same) and not np.array_equal(one, other)
    assert np.array_equal(suggest(model, X)["horn"].limits, suggest(model, X, random_state=0)["horn"].limits)


@pytest.mark.parametrize("how", [{}, {"n_landmarks": 60}])
def test_kernels_are_asked_with_labels(how):
    Y, ring = rings(60)
    model = KernelPCA(20, kernel="rbf", gamma=0.5, **how).fit(Y)
    found = suggest(model, Y, ring)
    assert list(found) == ["share", "elbow", "broken-stick", "parallel", "labels"]
    U = model.transform(Y) / np.linalg.norm(model.transform(Y), axis=0)
    y = (ring[:, None] == np.unique(ring)).astype(float)
    z = ((U.T @ (y - y.mean(axis=0))) ** 2).sum(axis=1)
    n, total = len(Y), ((y - y.mean(axis=0)) ** 2).sum()
    direct = [
        d / n * np.log(z[:d].sum() / d) + (n - d) / n * np.log((total - z[:d].sum()) / (n - d)) for d in range(1, 21)
    ]
    assert found["labels"].k == np.argmin(direct) + 1
    assert found.k == found["parallel"].k


def test_what_kernels_lack_is_said():
    exact = KernelPCA(20, kernel="rbf", gamma=0.02).fit(X)
    assert suggest(exact)["parallel"].k is not None
    few = KernelPCA(20, kernel="rbf", gamma=0.02, n_landmarks=50).fit(X)
    assert "give them as X" in suggest(few)["parallel"].why
    assert "give them as X" in suggest(few, y=np.arange(200) % 3)["labels"].why
    matrix = KernelPCA(20, kernel="precomputed").fit(X @ X.T)
    assert "a kernel matrix has none" in suggest(matrix)["parallel"].why
    texts = KernelPCA(20, kernel=Spectrum(3)).fit(VOC)
    assert "no" in suggest(texts)["parallel"].why and suggest(texts)["parallel"].k is None
    weighted = KernelPCA(20, kernel="rbf", gamma=0.02).fit(X, sample_weight=np.arange(200) + 1.0)
    assert "weights" in suggest(weighted)["parallel"].why


@quiet
def test_a_narrow_kernel_is_told():
    found = suggest(KernelPCA(20, kernel="rbf", gamma=1e3).fit(X))
    assert found["elbow"].k is None and "flat" in found["elbow"].why
    assert found.k == 0


@quiet
def test_nothing_that_varies_has_no_components():
    found = suggest(PCA().fit(np.ones((9, 4))), np.ones((9, 4)))
    assert found.k is None and found.consensus == "No rule says how many components to keep."
    assert {one.why for one in found.opinions} == {"nothing varies"}
    assert np.array_equal(found.cumulative, np.zeros(4))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: suggest(PCA()), "not fitted"),
        (lambda: suggest(LocallyLinearEmbedding().fit(X)), "suggest reads a fitted PCA, IncrementalPCA or KernelPCA"),
        (lambda: suggest("model"), "got 'model'"),
        (lambda: suggest(PCA().fit(X), X[:50]), "X has 50 rows that count, and the model was fitted to 200"),
        (lambda: suggest(PCA().fit(X), X[:, :3]), "3 features"),
        (lambda: suggest(PCA().fit(X, sample_weight=np.full(200, 2.0)), X), "weighed 400, and those of X weigh 200"),
        (lambda: suggest(PCA().fit(X), X, sample_weight=np.ones(7)), r"sample_weight.shape == \(7,\)"),
        (lambda: suggest(PCA().fit(X), sample_weight=np.ones(200)), "X is missing"),
        (lambda: suggest(KernelPCA(5).fit(X), X[:50]), "X has 50 rows, and the model was fitted to 200"),
        (lambda: suggest(PCA().fit(X), X, np.arange(7)), "y has 7 labels, and there are 200 rows"),
        (lambda: suggest(PCA().fit(X), X, [None, "a"] * 100), "100 labels that are missing"),
        (lambda: suggest(PCA().fit(X), X, X), "one label for each row"),
        (lambda: suggest(PCA().fit(X), X, np.full(200, np.nan)), "200 labels that are missing or not finite"),
        (lambda: suggest(PCA().fit(X), share=1.5), "share has to be a number between 0 and 1; got 1.5"),
        (lambda: suggest(PCA().fit(X), X, random_state="a"), "random_state has to be"),
    ],
)
def test_bad_questions_get_one_sentence(call, words):
    with pytest.raises(ValueError, match=words) as told:
        call()
    assert "\n" not in str(told.value)


@quiet
def test_kernels_that_are_none_have_no_variance_to_share():
    K = X @ X.T - 50 * np.eye(200)
    with pytest.raises(BadData, match="positive semi-definite"):
        suggest(KernelPCA(5, kernel="precomputed").fit(K))


def test_labels_of_any_kind_are_classes():
    names, numbers, truths = (np.array(kinds) for kinds in (["b", "a"] * 100, [7, 3] * 100, [True, False] * 100))
    model = PCA().fit(X)
    assert len({suggest(model, X, y)["labels"].k for y in (names, numbers, truths, list(names))}) == 1


def test_a_model_without_components_has_nothing_to_be_asked_about():
    bare = PCA(0).fit(X)
    assert {one.why for one in suggest(bare).opinions} == {"no component was fitted: give the rows as X"}
    assert suggest(bare, X).k == 3


def test_few_rows_are_not_called_flat():
    with pytest.raises(BadData, match="an elbow needs 3 variances above zero, and there are 1"):
        KernelPCA("elbow", kernel="rbf").fit(X[:2])


def test_one_class_says_nothing():
    assert suggest(PCA().fit(X), X, np.zeros(200, dtype=int))["labels"].why == "all labels are the same"


# ---------------------------------------------------------------------- the command


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("components") / "rows.csv"
    names = [f"c{j}" for j in range(20)]
    kinds = np.where(X @ np.linalg.svd(X - X.mean(axis=0))[2][0] > 0, "left", "right")
    lines = [
        ",".join([*names, "kind"]),
        *(",".join([*map(repr, map(float, row)), kind]) for row, kind in zip(X, kinds, strict=True)),
    ]
    path.write_text("\n".join(lines) + "\n")
    return path


def test_the_command_prints_the_table_and_the_consensus(table):
    done = run("components", table, "--labels", "kind")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].split() == ["rule", "k", "why"] and lines[-1].startswith("Keep 3: ")
    assert "200 rows, 20 columns" in done.stderr


def test_the_command_prints_json(table):
    done = run("components", table, "--drop", "kind", "--json", "--share", "0.5")
    found = json.loads(done.stdout)
    assert (found["k"], found["at_least"], len(found["variances"])) == (3, False, 20)
    rules = {line["rule"]: line for line in found["rules"]}
    assert rules["tracy-widom"]["p_values"][0] < 1e-6 and len(rules["parallel"]["limits"]) == 20
    assert rules["share"]["k"] == suggest(PCA().fit(X), share=0.5)["share"].k


def test_the_command_takes_kernels(table):
    done = run("components", table, "--method", "kpca", "--gamma", "0.01", "--labels", "kind")
    assert done.returncode == 0 and done.stdout.splitlines()[-1].startswith("Keep ")


def test_fits_take_rules_on_the_command_line(table):
    done = run("fit", table, "--drop", "kind", "--method", "pca", "--components", "parallel")
    assert done.returncode == 0 and done.stdout.splitlines()[0] == "pca0,pca1,pca2"


def test_columns_that_are_no_numbers_are_named_and_left_out(table):
    done, without = run("components", table), run("components", table, "--drop", "kind")
    assert done.returncode == 0 and done.stdout == without.stdout
    assert "'kind'" in done.stderr and "left out" in done.stderr


@pytest.mark.parametrize(
    ("typed", "code", "words"),
    [
        (["--method", "lle"], 2, "not ordered by variance"),
        (["--share", "2"], 2, "--share 2 is not a number between 0 and 1"),
        (["--labels", "none"], 3, "has no column 'none'"),
        (["--method", "umap"], 2, "no such method"),
        (["--neighbors", "3"], 2, "No such option"),
    ],
)
def test_bad_commands_are_one_sentence(table, typed, code, words):
    done = run("components", table, *typed)
    assert (done.returncode, done.stdout) == (code, "")
    assert words in done.stderr and "Traceback" not in done.stderr


def test_an_unknown_rule_on_the_command_line_is_told_with_those_that_there_are(table):
    done = run("fit", table, "--drop", "kind", "--method", "pca", "--components", "paralel")
    assert done.returncode == 2 and "parallel, deflated-parallel" in done.stderr


def test_one_component_less_than_rows_are_all_variances_there_are():
    wide = np.random.default_rng(0).standard_normal((10, 60))
    found, every = suggest(PCA(9).fit(wide)), suggest(PCA().fit(wide))
    assert [found[rule].k for rule in found] == [every[rule].k for rule in every]
    assert "were fitted" not in str(found)


@pytest.mark.parametrize("rule", [rule for rule in RULES_OF["pca"] if rule != "mle"])  # which refuses sparse rows
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix], ids=["dense", "sparse"])
@quiet
def test_where_nothing_varies_one_component_of_zero_is_kept(rule, kind):
    model = PCA(rule).fit(kind(np.full((10, 3), 0.1)))
    assert model.n_components_ == 1
    assert_allclose(model.explained_variance_, 0, atol=1e-15)


def test_columns_that_do_not_vary_do_not_count_but_where_scikit_learn_counts_them():
    wide = np.column_stack([X, np.full((200, 4), 3.7)])
    found = suggest(PCA().fit(wide))
    assert found["mle"].k == found["bic"].k == PCA("bic").fit(wide).n_components_ == 3
    assert PCA("mle").fit(wide).n_components_ == SklearnPCA("mle").fit(wide).n_components_ == 20


def test_labels_are_not_compared_with_components_that_do_not_vary():
    low = X[:, :4] @ np.random.default_rng(1).standard_normal((4, 9)) + 1e3
    assert "by the first 4 components" in suggest(PCA().fit(low), low, np.arange(200) % 2)["labels"].why


def test_whole_numbers_of_many_values_are_no_classes():
    U = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)[0]
    y = np.round(1000 * (U[:, 0] - 2 * U[:, 1])).astype(int)
    model = PCA().fit(X)
    assert suggest(model, X, y)["labels"].k == suggest(model, X, y + 1e-9)["labels"].k == 2


@pytest.mark.parametrize("make", [PCA, lambda: PCA(4), lambda: KernelPCA(4, kernel="linear")])
@quiet
def test_the_unit_of_the_rows_changes_no_rule_wherever_variances_are_numbers(make):
    rows, usual, seen = X[:80], None, 0
    for exponent in (0, -200, -150, -80, 80, 150, 200):
        try:
            fitted = make().fit(10.0**exponent * rows)
        except BadData:
            continue  # squares beyond all numbers
        if not fitted.explained_variance_[-1] > np.finfo(float).tiny:
            continue  # squares below them
        said = suggest(fitted, 10.0**exponent * rows, random_state=0)
        usual, seen = usual or said, seen + 1
        assert {one.rule: one.k for one in said.opinions} == {one.rule: one.k for one in usual.opinions}, exponent
        assert said.consensus == usual.consensus
    assert seen == 5


@quiet
@pytest.mark.parametrize("power", [-500, 500, 505, 507, 508, 510, 512])
def test_the_largest_and_smallest_numbers_are_counted_as_others_are_or_refused(power):
    """Rules are of shares, and so is a share of the variance: a power of two changes nothing but the exponent."""
    rng = np.random.default_rng(2)
    few, many = rng.normal(size=(60, 4)), rng.normal(size=(2000, 5))
    for ask in (
        lambda scale: [one.k for one in suggest(PCA(2).fit(scale * few), scale * few).opinions],
        lambda scale: PCA(0.9).fit(scale * many).n_components_,
    ):
        try:
            found = ask(2.0**power)
        except BadData as error:
            assert power > 500 and "far too large" in str(error)
        else:
            assert found == ask(1.0)
