"""Whatever comes in: right, warned of, or refused in one clear sentence, by tables of what people do."""

import re
import unicodedata
import warnings

import pytest
from sklearn.exceptions import NotFittedError

from bad_input import parameters, tables
from mercer.errors import MercerError

CASES = [*tables.CASES, *parameters.CASES]
INTERNAL = re.compile(
    r"\b_(?!_init__\(\) got)\w+|validate_data|check_array|object at 0x|mercer\.models|numpy\.\w+Error|Traceback"
)


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_whatever_comes_in_is_right_or_told_in_one_sentence(case):
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
