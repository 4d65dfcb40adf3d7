"""From neighbourhoods to a certified embedding: one matrix, its bottom eigenvectors, and what to tell about them."""

from dataclasses import dataclass, field

import numpy as np

from mercer.arrays import Array
from mercer.certificates.gaps import GapCertificate, PartsCertificate, certify_gaps
from mercer.certificates.residuals import ANGLE
from mercer.errors import BadData, counted, listed
from mercer.fits.local.neighborhoods import Neighborhoods, sizes_in_words
from mercer.operators.alignment import align
from mercer.operators.held import HeldMatrix
from mercer.progress import OnPass
from mercer.solvers.base import Eigenpairs, signs_by
from mercer.solvers.shift_invert import BottomSolver


@dataclass(frozen=True)
class Recipe:
    """What a neighbourhood asks for, and of how many components."""

    method: str
    n_components: int
    reg: float
    modified_tol: float
    tol: float


@dataclass(frozen=True)
class Embedding:
    """Coordinates of all items (n×d), their eigenvalues and the proof."""

    coordinates: Array
    error: float  # Σ of the eigenvalues: what the neighbourhoods object to
    certificate: GapCertificate | PartsCertificate
    warnings: list[str] = field(default_factory=list)


def embed(
    hoods: Neighborhoods,
    recipe: Recipe,
    solver: BottomSolver,
    rng: np.random.Generator,
    threads: int,
    on_pass: OnPass = None,
) -> Embedding:
    """Bottom eigenvectors of M but 1, as unit columns, each with its largest entry positive."""
    M = align(
        hoods.space,
        hoods.seen_by_someone if recipe.method in ("hessian", "ltsa") else hoods.indices,
        recipe.method,
        n_components=recipe.n_components,
        reg=recipe.reg,
        modified_tol=recipe.modified_tol,
        threads=threads,
        on_pass=on_pass,
    )
    pairs = solver.for_items(hoods.space.n).solve(HeldMatrix(M, threads), recipe.n_components, rng, on_pass=on_pass)
    if on_pass:
        on_pass(1.0)
    certificate = certify_gaps(pairs, tol=recipe.tol)
    return Embedding(
        pairs.vectors * signs_by(pairs.vectors),
        float(np.maximum(pairs.values, 0.0).sum()),
        certificate,
        about_eigenvalues(certificate),
    )


def empty_embedding(n: int, n_components: int) -> Embedding:
    """Of rows that are all the same: zeros, of which nothing is known."""
    zeros = np.zeros(n_components)
    none = np.empty((n, 0))
    pairs = Eigenpairs(zeros, none, zeros, none, bound=0.0, level="all rows are the same")
    return Embedding(np.zeros((n, n_components)), 0.0, certify_gaps(pairs, tol=0.0))


def embed_parts(
    hoods: Neighborhoods,
    labels: Array,
    recipe: Recipe,
    solver: BottomSolver,
    rng: np.random.Generator,
    threads: int,
    on_pass: OnPass = None,
) -> Embedding:
    """Every part of the graph on its own, all with the same variance; their places relative to each other mean nothing.

    A part of m items has coordinates of variance 1/n, as the whole would have: √(m/n) times unit columns.
    """
    n, sizes, n_components = len(labels), np.bincount(labels), recipe.n_components
    if n_components >= sizes[-1]:
        raise BadData(
            f"The smallest of {len(sizes)} parts has {counted(sizes[-1], 'row')}, too few for n_components="
            f"{n_components}. "
            'Give fewer n_components, more n_neighbors, or on_disconnected="warn".'
        )
    coordinates, error = np.empty((n, n_components)), 0.0
    certificates, warnings = list[GapCertificate](), list[str]()
    order = np.argsort(labels, kind="stable")
    for part, (size, last) in enumerate(zip(sizes, np.cumsum(sizes), strict=True)):
        members = order[last - size : last]
        found = embed(hoods.part(members), recipe, solver, rng, threads, on_pass)
        coordinates[members] = found.coordinates * np.sqrt(size / n)
        error += found.error * size / n
        certificates.append(found.certificate)  # type: ignore[arg-type]
        warnings += [f"Part {part + 1} ({counted(size, 'row')}): {text}" for text in found.warnings]
    return Embedding(coordinates, error, PartsCertificate(tuple(certificates), tuple(int(s) for s in sizes)), warnings)


def about_eigenvalues(certificate: GapCertificate) -> list[str]:
    """What a user should be told about the eigenvalues of a graph that hangs together."""
    c, said = certificate, list[str]()
    zeros = [i for i in c.unresolved if i < c.n_zero]
    if zeros:
        have = "have eigenvalues" if len(zeros) > 1 else "has an eigenvalue"
        zero = f"{len(zeros)} of {c.n_components} coordinates {have} below working precision ({c.rounding:.1e})"
        following = c.lower[c.n_zero] if c.n_zero < c.n_components else c.bound_beyond
        if c.rounding < ANGLE * (following - c.values[zeros[-1]]):
            said.append(f"{zero}: what they span is determined, but any rotation among them is as good.")
        elif following > c.rounding:
            said.append(f"{zero}: any rotation among them is as good, and small eigenvalues next to them are mixed in.")
        else:
            said.append(
                f"{zero}, and so have some that were not kept: any rotation among all of them is as good. Are there "
                "pieces that hardly hang together? More n_neighbors, a larger reg or fewer rows may help."
            )
    others = [i for i in c.unresolved if i >= c.n_zero]
    if others:
        names = listed(i + 1 for i in others)
        said.append(
            f"The direction of coordinate {names} is not determined: an eigenvalue next to its own is nearly the same; "
            "see certificate_. Another n_components may keep or leave out both."
        )
    return said


def about_graph(hoods: Neighborhoods, labels: Array, method: str, separate: bool) -> list[str]:
    """What is wrong with the graph, if it does not hang together."""
    k = hoods.indices.shape[1]
    closed = hoods.closed if method == "standard" and not labels.any() else np.empty(0)
    sizes = np.bincount(labels)
    if len(sizes) > 1:
        meaning = (
            "Each was embedded on its own; where they lie relative to each other means nothing."
            if separate
            else 'The coordinates only tell the parts apart. Give more n_neighbors, or on_disconnected="separate" to '
            "embed each on its own."
        )
        return [
            f"The graph of the {k} nearest neighbours falls apart into {len(sizes):,} parts of "
            f"{sizes_in_words(sizes)}. {meaning}"
        ]
    if len(closed) > 1:
        return [
            f"{len(closed):,} groups of rows ({sizes_in_words(closed)}) have all their {k} nearest neighbours among "
            "themselves, though other rows look at several of them: the first coordinates only tell the groups apart. "
            "Give more n_neighbors."
        ]
    return []
