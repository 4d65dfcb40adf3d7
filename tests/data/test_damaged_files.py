"""Files damaged at random places: rows, or one sentence; never a traceback, a crash, or memory without end."""

import os
import warnings

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import ipc, parquet

import mercer
from mercer_old.errors import BadData, NoRoom
from support.registry import write_file

resource = pytest.importorskip("resource")
X = np.random.default_rng(0).normal(size=(200, 4)) * [1, 2, 3, 4]
TABLE = pa.table({name: X[:, j] for j, name in enumerate("abcd")} | {"i": np.arange(200), "t": ["x", "y"] * 100})
ROOM = 4 << 30  # bytes that a reader may ask for at once, whatever a file claims: beyond it is out of memory


def parquet_by(**options):
    return lambda path: parquet.write_table(TABLE.drop_columns("t"), path, row_group_size=90, **options)


def arrow_by(compression, table=TABLE):
    def write(path):
        with ipc.new_file(path, table.schema, options=ipc.IpcWriteOptions(compression=compression)) as file:
            file.write_table(table, max_chunksize=90)

    return write


DECIMALS = pa.table({name: TABLE[name].cast(pa.decimal128(30, 20)) for name in "ab"})
WRITERS = {
    "x.npy": lambda path: np.save(path, X),
    "fortran.npy": lambda path: np.save(path, np.asfortranarray(X.astype(">f4"))),
    "x.parquet": parquet_by(),
    "plain.parquet": parquet_by(compression="none", use_dictionary=False),
    "zstd.parquet": parquet_by(compression="zstd", data_page_version="2.0"),
    "gzip.parquet": parquet_by(compression="gzip", write_page_checksum=True),
    "x.arrow": arrow_by(None, TABLE.drop_columns("t")),
    "zstd.arrow": arrow_by("zstd"),
    "decimals.arrow": arrow_by(None, DECIMALS),
    "x.csv": lambda path: write_file(".csv", path.parent, X).rename(path),
}


def damaged(data, seed):
    """Bytes changed, cut off, put in, taken out; more often at both ends, where a file says what it is."""
    rng = np.random.default_rng(seed)
    data = bytearray(data)
    for _ in range(rng.integers(1, 5)):
        at = int(place(rng, len(data)))
        match rng.integers(6):
            case 0 | 1:
                data[at] ^= 1 << rng.integers(8)
            case 2:
                data[at] = rng.integers(256)
            case 3:
                data[at : at + 4] = rng.choice([b"\xff\xff\xff\x7f", b"\0\0\0\x80", b"\xff" * 4, b"\0" * 4])
            case 4:
                del data[at : at + int(rng.integers(1, 20))]
            case 5:
                data[at:at] = rng.bytes(rng.integers(1, 20))
        if rng.random() < 0.1:
            del data[int(rng.integers(len(data))) :]
        data = data or bytearray(b"\0")
    return bytes(data)


def place(rng, size):
    near = rng.integers(min(size, 400))
    return rng.choice([near, size - 1 - near, rng.integers(size)])


def read(path):
    """Rows, or a sentence; anything else is an error here."""
    drop = ["t"] if path.name == "zstd.arrow" else ()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            rows = mercer.open_rows(path, drop=drop)
            if rows.shape[0] * rows.shape[1] > 1e6:
                return "too many to be read here"
            assert (np.isfinite(rows.load()).all() and rows.names is None) or len(rows.names) == rows.shape[1]
    except (BadData, NoRoom) as error:
        assert str(path.name) in str(error) and str(error).isprintable() and len(str(error)) < 1500, repr(str(error))
    return "told"


def read_in_a_fork(path, data, seeds):
    """One after the other; what went wrong, of the first that ends the fork in another way than by its end."""
    said, say = os.pipe()
    child = os.fork()
    if not child:
        code = 1
        try:
            resource.setrlimit(resource.RLIMIT_AS, (ROOM, ROOM))
            for seed in seeds:
                os.write(say, f"{seed} ".encode())
                path.write_bytes(damaged(data, seed))
                read(path)
            code = 0
        except BaseException as error:
            os.write(say, repr(error)[:2000].encode())
        finally:
            os._exit(code)
    os.close(say)
    with os.fdopen(said) as pipe:
        words = pipe.read()
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return "" if code == 0 else f"ended with {code}: {words[-2000:]}"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks as on Unix")
@pytest.mark.parametrize("many", [20, pytest.param(200, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", WRITERS)
def test_a_damaged_file_is_read_or_told_and_never_a_crash(tmp_path, name, many):
    path = tmp_path / name
    WRITERS[name](path)
    assert not read_in_a_fork(path, path.read_bytes(), range(many))
