"""Files of numpy."""

import io
import pickle
from dataclasses import replace

import numpy as np

from corpus import A, Case


def saved(array, version=None):
    file = io.BytesIO()
    np.lib.format.write_array(file, np.asanyarray(array), version=version)
    return file.getvalue()


def with_header(header, version=(1, 0)):
    """A file of this header, whatever it says."""
    text = header.encode() + b"\n"
    length = len(text).to_bytes(2 if version == (1, 0) else 4, "little")
    return b"\x93NUMPY" + bytes(version) + length + text + A.tobytes()


def archive():
    file = io.BytesIO()
    np.savez(file, a=A)
    return file.getvalue()


GOOD = "{'descr': '<f8', 'fortran_order': False, 'shape': (4, 2)}"
WHOLE = np.array([[1, 2], [3, 5], [4, 7]])
KINDS = [
    "<f8",
    ">f8",
    "<f4",
    ">f4",
    "<f2",
    "|i1",
    "|u1",
    "<i2",
    ">i2",
    "<u2",
    "<i4",
    ">u4",
    "<i8",
    "<u8",
    np.longdouble,
]

RIGHT = [
    Case("rows", saved(A), A),
    Case("Fortran order", saved(np.asfortranarray(A)), A),
    *[Case(f"version {version}", saved(A, version), A) for version in ((1, 0), (2, 0), (3, 0))],
    *[Case(f"{kind} values", saved(WHOLE.astype(kind)), WHOLE) for kind in KINDS],
    *[Case(f"{kind} in Fortran order", saved(np.asfortranarray(WHOLE.astype(kind))), WHOLE) for kind in (">f8", "<f2")],
    Case("true and false", saved(WHOLE > 2), WHOLE > 2),
    Case("one column", saved(A[:, :1]), A[:, :1]),
    Case("a header by hand", with_header(GOOD), A),
]

HEADERS = {
    "nothing": "",
    "half a header": GOOD[:30],
    "an open brace": "{(",
    "an open bracket": "[",
    "an open text": "{'descr': '<f8",
    "no mapping": "(4, 2)",
    "a call": "__import__('os').system('true')",
    "a calculation": GOOD.replace("(4, 2)", "(10**30, 2)"),
    "a key too many": GOOD.replace("}", ", 'x': 1}"),
    "a key too few": "{'descr': '<f8', 'shape': (4, 2)}",
    "no kind": GOOD.replace("'<f8'", "3"),
    "an unknown kind": GOOD.replace("<f8", "<q9"),
    "a kind of no size": GOOD.replace("<f8", "<f0"),
    "an order that is none": GOOD.replace("False", "1"),
    "a shape that is none": GOOD.replace("(4, 2)", "'4'"),
    "fractions of rows": GOOD.replace("(4, 2)", "(4.0, 2)"),
    "true rows": GOOD.replace("(4, 2)", "(True, 2)"),
    "negative rows": GOOD.replace("(4, 2)", "(-4, 2)"),
    "negative both": GOOD.replace("(4, 2)", "(-4, -2)"),
    "10³⁰ rows": GOOD.replace("(4, 2)", f"({10**30}, 2)"),
    "2⁶² rows": GOOD.replace("(4, 2)", f"({2**62}, 4)"),
    "a billion rows": GOOD.replace("(4, 2)", "(1000000000, 2)"),
    "a row more than there is": GOOD.replace("(4, 2)", "(5, 2)"),
    "control characters": GOOD.replace("<f8", "\x1b[31m"),
    "NUL bytes": GOOD.replace("<f8", "\0\0"),
    "20 000 brackets": "(" * 9_000,
    "a long number": GOOD.replace("(4, 2)", f"({'9' * 5000}, 2)"),
}
SIZES = (0, 1, 6, 7, 9, 10, 40, 127, 128, 130, 191)
VERSIONS = ((0, 0), (4, 0), (255, 1))
NO_MATRIX = "cannot be read as a matrix of numbers"

REFUSED = [
    *[Case(f"a header of {name}", with_header(header), words=NO_MATRIX) for name, header in HEADERS.items()],
    *[Case(f"{size} bytes of it", saved(A)[:size], words=NO_MATRIX) for size in SIZES],
    *[Case(f"version {each}", with_header(GOOD, each), words=NO_MATRIX) for each in VERSIONS],
    Case("a header of 2 GB", b"\x93NUMPY\x02\0\xff\xff\xff\x7f" + GOOD.encode(), words=NO_MATRIX),
    Case("a row less than there is", with_header(GOOD.replace("4, 2", "3, 2")), words="goes on for 16 bytes"),
    Case("two arrays", saved(A) + saved(A), words="goes on for 192 bytes"),
    Case("no rows", saved(A[:0]), words="0 rows and 2 columns"),
    Case("no columns", saved(A[:, :0]), words="4 rows and 0 columns"),
    Case("one row", saved(A[:1]), A[:1]),
    Case("a list", saved(A[:, 0]), words=r"shape \(4,\)"),
    Case("a single number", saved(np.float64(3)), words=r"shape \(\)"),
    Case("a cube", saved(A.reshape(2, 2, 2)), words=r"shape \(2, 2, 2\)"),
    Case("complex numbers", saved(A.astype(complex)), words="complex128"),
    Case("dates", saved(WHOLE.astype("datetime64[D]")), words="datetime64"),
    Case("durations", saved(WHOLE.astype("timedelta64[s]")), words="timedelta64"),
    Case("texts", saved(A.astype(str)), words="<U"),
    Case("bytes", saved(A.astype("S5")), words=r"\|S5"),
    Case("records", saved(np.zeros((4, 2), dtype=[("a", "f8"), ("b", "i4")])), words="numbers are needed"),
    Case("Python objects", lambda path: np.save(path, np.array([[{}, 1]], dtype=object)), words="a pickle.*never read"),
    Case("several arrays", archive(), words="a zip archive"),
    Case("a pickle", pickle.dumps(A), words="a pickle, which is never read"),
    Case("text", b"a,b\n1,2\n", words="not saved by numpy"),
    Case("random bytes", np.random.default_rng(0).bytes(400), words=NO_MATRIX),
    Case("a gap", saved(np.where(A == 4.5, np.nan, A)), words=r"\(NaN\): row 2, column 1 \(counted from 0; one"),
    Case("an infinite value", saved(np.where(A > 2, -np.inf, A)), words=r"infinite value \(-inf\): row 1, column 0"),
    Case("numbers too large for squares", saved(A * 1e300), words="overflow|scale|large", by_the_fit=True),
    Case("columns by name", saved(A), words="no column names", options={"drop": ["a"]}, arguments=("--drop", "a")),
    Case("nothing", lambda path: None, words="there is no such file"),
    Case("a folder", lambda path: path.mkdir(), words="is a folder"),
]  # fmt: skip


ARRAY_CASES = [replace(case, name=f"npy: {case.name}", file="x.npy") for case in RIGHT + REFUSED]
