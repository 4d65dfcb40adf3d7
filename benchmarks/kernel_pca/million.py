"""A Parquet file of a million rows to try things on: ten clusters in 20 columns, written a row group at a time.

make million.parquet
"""

import sys

import numpy as np
import pyarrow as pa
from pyarrow import parquet

ROWS, COLUMNS, GROUP = 1_000_000, 20, 100_000


def main(path):
    rng = np.random.default_rng(0)
    centres = rng.uniform(-10, 10, size=(10, COLUMNS))
    names = [f"x{j}" for j in range(COLUMNS)]
    with parquet.ParquetWriter(path, pa.schema([(name, pa.float64()) for name in names])) as writer:
        for _ in range(ROWS // GROUP):
            rows = centres[rng.integers(10, size=GROUP)] + rng.normal(size=(GROUP, COLUMNS))
            writer.write_table(pa.table({name: rows[:, j] for j, name in enumerate(names)}))


if __name__ == "__main__":
    main(*sys.argv[1:])
