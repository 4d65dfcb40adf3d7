"""From neighbourhoods to a certified embedding: one matrix, its bottom eigenvectors, and what to tell about them."""

from dataclasses import dataclass, field, replace

import numpy as np

from mercer_old.arrays import Array
from mercer_old.certificates.gaps import GapCertificate, PartsCertificate, about_eigenvalues, certify_gaps
from mercer_old.certificates.placed import PlacedCertificate
from mercer_old.errors import BadData, counted
from mercer_old.fits.local.neighborhoods import Graph, Neighborhoods
from mercer_old.operators.alignment import align
from mercer_old.operators.held import HeldMatrix
from mercer_old.progress import OnPass, PassCounter
from mercer_old.solvers.base import Eigenpairs, signs_by
from mercer_old.solvers.shift_invert import BottomSolver


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


def find_embedding(
    hoods: Neighborhoods,
    graph: Graph,
    recipe: Recipe,
    solver: BottomSolver,
    rng: np.random.Generator,
    threads: int,
    on_pass: PassCounter | None = None,
) -> Embedding:
    """The embedding of all distinct items, or of every part of the graph on its own."""
    if hoods.n_distinct == 1:
        return _empty_embedding(hoods.space.n, recipe.n_components)
    if graph.separate and on_pass:
        on_pass.expected = 1 + 2 * graph.n_parts
    how = recipe, solver, rng, threads, on_pass
    found = _embed_parts(hoods, graph.labels, *how) if graph.separate else embed(hoods, *how)
    explained = graph.complaints or hoods.too_few  # why there are eigenvalues that are zero
    others = found.warnings if graph.separate or not explained else []
    return replace(found, warnings=[*graph.complaints, *others])


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


def _empty_embedding(n: int, n_components: int) -> Embedding:
    """Of rows that are all the same: zeros, of which nothing is known."""
    zeros = np.zeros(n_components)
    none = np.empty((n, 0))
    pairs = Eigenpairs(zeros, none, zeros, none, bound=0.0, level="all rows are the same")
    return Embedding(np.zeros((n, n_components)), 0.0, certify_gaps(pairs, tol=0.0))


def _embed_parts(
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


@dataclass(frozen=True)
class Places:
    """Of all rows as they were given: where each is, in which part of the graph, and what is known of that."""

    embedding: Array  # n×d
    labels: Array  # (n,)
    error: float  # of the items that were embedded
    certificate: GapCertificate | PartsCertificate | PlacedCertificate
    warnings: list[str]
