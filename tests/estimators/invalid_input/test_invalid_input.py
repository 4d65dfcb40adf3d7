"""Whatever comes in: right, warned of, or refused in one clear sentence, by tables of what people do."""

import re
import unicodedata
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from estimators.invalid_input import items, pages, parameters, tables, uses
from estimators.invalid_input.parameters import BENT
from mercer import PCA, IncrementalPCA, KernelPCA, LocallyLinearEmbedding, ProbabilisticPCA
from mercer_old.errors import MercerError
from support.together import check_each, few_dozen

TABLES = {table.__name__.rpartition(".")[2]: table.CASES for table in (tables, parameters, uses, items, pages)}
INTERNAL = re.compile(
    r"\b_(?!_init__\(\) got)\w+|validate_data|check_array| at 0x|mercer(?:_old)?\.models|numpy\.\w+Error|Traceback"
)


@few_dozen("cases", TABLES)
def test_whatever_comes_in_is_right_or_told_in_one_sentence(cases):
    check_each(cases, right_or_told, name=lambda case: case.name)


def right_or_told(case):
    out, error, said = outcome(case.call)
    texts = [str(warning.message) for warning in said] + ([str(error)] if error else [])
    for text in texts:
        assert_one_clear_sentence(text)
    if case.refuses:
        assert isinstance(error, (ValueError, TypeError, MercerError, NotFittedError)), f"{error!r} from {out!r}"
        assert isinstance(error, case.kind) and re.search(case.refuses, str(error)), repr(error)
        return
    assert error is None, repr(error)
    ours = [text for text, warning in zip(texts, said, strict=False) if issubclass(warning.category, UserWarning)]
    if case.warns:
        assert any(re.search(case.warns, text) for text in ours), texts
    else:
        assert not texts
    assert case.right is None or case.right(out)
    assert case.right or case.warns, "a row of the table says what is right"


def outcome(call):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            return call(), None, said
        except Exception as error:
            return None, error, said


def assert_one_clear_sentence(text):
    assert 20 < len(text) < 600, f"{len(text)} characters: {text[:700]}"
    assert not any(unicodedata.category(letter) == "Cc" for letter in text), repr(text)
    assert not INTERNAL.search(text), text


# ---------------------------------------------------------------------- a refused fit leaves the model as it was

REFUSALS = {
    "other columns with NaN": (np.full((20, 3), np.nan), {}),
    "a text": ("rows.csv", {}),
    "dates": (np.ones((20, 3)).astype("datetime64[D]"), {}),
    "no rows": (pd.DataFrame({"a": [], "b": []}), {}),
    "text in a frame with other names": (pd.DataFrame({"u": [1.0, 2.0], "v": ["x", "y"]}), {}),
    "a parameter": (BENT, {"n_components": -1}),
    "too many components": (BENT[:, :3], {"n_components": 10**6}),
    "no memory": (np.ones((50, 7)), {"memory_limit": 1}),
    "weights": (BENT[:, :3], {"sample_weight": -np.ones(30)}),
    "squares that overflow": (1e300 * BENT[:, :3], {}),
    "stopped": (BENT[:, :3], {"progress": lambda state: 1 / 0}),
}


@pytest.mark.parametrize("method", ["fit", "fit_transform"])
@pytest.mark.parametrize("reason", REFUSALS)
@pytest.mark.parametrize(
    "model",
    [
        PCA(2),
        PCA(2, svd_solver="krylov"),
        IncrementalPCA(2),
        IncrementalPCA(2, forget=0.9),
        ProbabilisticPCA(2),
        KernelPCA(2, kernel="rbf", fit_inverse_transform=True),
        KernelPCA(2, kernel="rbf", n_landmarks=20),
        LocallyLinearEmbedding(n_neighbors=8),
    ],
    ids=str,
)
def test_a_refused_fit_leaves_the_model_as_it_was(model, reason, method):
    X, changes = REFUSALS[reason]
    model = clone(model).fit(pd.DataFrame(BENT, columns=list("abcd")))
    scores = model.transform(pd.DataFrame(BENT, columns=list("abcd")))
    weights = {name: value for name, value in changes.items() if name == "sample_weight"}
    params = {name: value for name, value in changes.items() if name != "sample_weight"}
    old = {name: getattr(model, name) for name in params}
    model.set_params(**params)
    before = dict(vars(model))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            getattr(model, method)(X, **weights)
        except (ValueError, TypeError, MercerError, ZeroDivisionError):
            assert vars(model).keys() == before.keys()
            assert all(vars(model)[name] is before[name] for name in before)
            model.set_params(**old)
            assert np.array_equal(model.transform(pd.DataFrame(BENT, columns=list("abcd"))), scores)
        else:
            assert (type(model), reason) in TAKEN


def test_a_refused_batch_leaves_the_sums_as_they_were():
    model = IncrementalPCA(2).partial_fit(BENT)
    variances, seen = model.explained_variance_, model.n_samples_seen_
    for batch in (BENT - 1e154, BENT * np.nan, BENT[:, :3], 1e200 * BENT, "rows"):
        with pytest.raises(ValueError, match=r"far too large|contains NaN|3 features|is a text"):
            model.partial_fit(batch)
        assert model.n_samples_seen_ == seen and np.array_equal(model.explained_variance_, variances)
    both = IncrementalPCA(2).partial_fit(BENT).partial_fit(BENT[:9])
    assert np.array_equal(model.partial_fit(BENT[:9]).explained_variance_, both.explained_variance_)


TAKEN = {(KernelPCA, "too many components"), (KernelPCA, "stopped"), (LocallyLinearEmbedding, "squares that overflow")}


@pytest.mark.parametrize(
    "model", [PCA(2), IncrementalPCA(2), ProbabilisticPCA(2), KernelPCA(2), LocallyLinearEmbedding()], ids=str
)
def test_complex_numbers_are_refused_without_printing_them(model):
    for X in (BENT * 1j, sparse.csr_array(BENT * 1j), pd.DataFrame({"a": BENT[:, 0], "b": BENT[:, 1] * 1j})):
        with pytest.raises(ValueError, match=r"Complex data not supported: complex numbers in .*\. Give") as refused:
            clone(model).fit(X)
        assert len(str(refused.value)) < 150


@pytest.mark.parametrize("model", [PCA(2), KernelPCA(2), LocallyLinearEmbedding()], ids=str)
def test_a_column_of_text_is_told_in_whole_sentences(model):
    frame = pd.DataFrame({"state": ["State00"] * len(BENT), "a": BENT[:, 0], "b": BENT[:, 1]})
    with pytest.raises(ValueError, match=r"string to float: 'State00'\. Column 'state' holds text, first 'State00'"):
        clone(model).fit(frame)


@pytest.mark.parametrize("model", [PCA(2), KernelPCA(2), LocallyLinearEmbedding()], ids=str)
def test_a_message_about_thousands_of_columns_is_short(model):
    wide = pd.DataFrame(np.full((5, 5000), "x"), columns=[f"a rather long name of column {j}" for j in range(5000)])
    with pytest.raises(ValueError, match=r"'a rather long name of column 0' holds text, first 'x' at row index 0"):
        model.fit(wide)
    with pytest.raises(TypeError, match=r"column 4' \(datetime64.* and 4,995 more\. Leave them out") as refused:
        model.fit(pd.DataFrame(np.zeros((5, 5000), dtype="datetime64[s]"), columns=wide.columns))
    assert_one_clear_sentence(str(refused.value))
