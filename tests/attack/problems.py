"""What a problem is, and how it is put on trial: fitted, compared with the truth, judged."""

import warnings
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from attack.judge import Claims, Verdict, judge, judge_landmark_directions, judge_landmarks
from mercer import errors
from mercer_old.errors import MercerError

SAME = ("All rows look the same", "All rows are the same", "All rows are equal", "All samples are equal")
OR_TOO_SMALL = "scale them up"  # then the sentence names the other cause too
VISIBLE = 1e-8  # of the sum of squares, or of n times the largest entry: an eigenvalue that is no rounding


@dataclass(frozen=True)
class Problem:
    """One fit whose answer is known."""

    fit: Callable[[], Any]  # gives the fitted model
    truth: Callable[[Any], Any]  # of that model, as it may have resolved parameters
    words: str  # what it is
    asked: int | None = None  # components
    captured: Callable[[Any], float] | None = None  # the true share that landmarks see
    directions: Callable[[Any], Any] | None = None  # n×k, of a fit by landmarks, which keeps none


@dataclass(frozen=True)
class Family:
    """Problems of one kind: the i-th of a seed is always the same."""

    name: str
    make: Callable[[np.random.Generator], Problem]
    count: int  # in a full attack
    model: str
    editions: tuple[str, ...] = ("old", "new")  # that have what it attacks

    def problem(self, seed, i):
        return self.make(np.random.default_rng([seed, zlib.crc32(self.name.encode()), i]))


FAMILIES: dict[str, Family] = {}


def family(count, model, editions=("old", "new")):
    """Register a function from a random generator to a problem, by its name."""

    def register(make):
        FAMILIES[make.__name__] = Family(make.__name__, make, count, model, editions)
        return make

    return register


def try_problem(problem):
    """The verdict on one problem. A refusal in words is no violation; anything else that is raised is."""
    verdict = Verdict()
    with warnings.catch_warnings(record=True) as said, np.errstate(all="ignore"):
        warnings.simplefilter("always")
        try:
            model = problem.fit()
            answer = model.certificate_  # IncrementalPCA computes when it is asked
        except (MercerError, errors.MercerError, ValueError) as error:
            if type(error).__name__ != "LinAlgError":
                verdict.refused = str(error)
                return verdict
            verdict.check("crash", True, words=repr(error))
            return verdict
        except Exception as error:
            verdict.check("crash", True, words=repr(error))
            return verdict
        verdict.check("crash", False)
        compare(problem, model, answer, verdict, [str(warning.message) for warning in said])
    return verdict


def compare(problem, model, certificate, verdict, said):
    truth = problem.truth(model)
    kind = type(certificate).__name__
    if kind in ("IntervalCertificate", "NystromCertificate"):
        if not certificate.converged:  # the kernel is not positive semi-definite
            return
        captured = None if problem.captured is None else problem.captured(model)
        single = model.eigenvalues_.dtype == np.float32
        judge_landmarks(truth, certificate, model.eigenvalues_, captured, verdict, single)
        if hasattr(certificate, "angles"):
            judge_landmark_directions(truth, certificate, problem.directions(model), verdict)
    elif kind in ("GapCertificate", "PartsCertificate", "PlacedCertificate", "PlacementCertificate"):
        compare_embedding(truth, model, getattr(certificate, "landmarks", certificate), verdict)
        return
    else:
        values, vectors = reported(model)
        route = model.plan_.held if hasattr(model.plan_, "held") else model.plan_.route
        singular = route in ("rows", "triangle", "qr")
        claims = Claims.of(certificate, values, truth.exponent, singular)
        judge(truth, claims, vectors, verdict, single=vectors.dtype == np.float32)
        judge_number(problem, truth, claims, said, verdict)
    judge_words(truth, said, verdict)


def compare_embedding(truths, model, certificate, verdict):
    """Part by part; coordinates are looked at where there is one, of rows that are all different."""
    embedding, chosen = model.embedding_, getattr(model, "landmark_indices_", None)
    if chosen is not None:  # of which alone there are eigenvectors
        embedding = embedding[chosen] * np.sqrt(len(embedding) / len(chosen))
    for truth, part in zip(truths, getattr(certificate, "parts", [certificate]), strict=True):
        vectors = embedding if len(embedding) == len(truth.vectors) else None
        judge(truth, Claims.of_gaps(part, truth.exponent), vectors, verdict)


def reported(model):
    """Eigenvalues and vectors (n×k) as a user reads them."""
    if hasattr(model, "eigenvalues_"):
        return model.eigenvalues_, model.eigenvectors_
    return np.asarray(model.singular_values_, dtype=np.float64) ** 2, np.asarray(model.components_).T


def judge_number(problem, truth, claims, said, verdict):
    """As many as were asked for, unless all others are zero."""
    if problem.asked is None:
        return
    found = len(claims.values)
    short = found < min(problem.asked, truth.size)
    left = float(truth.padded.hi[found]) if short else 0.0
    missing = short and left > claims.rounding + truth.error
    words = f"{found} of {problem.asked}, and the next eigenvalue is {left:.3g}"
    verdict.check("few", missing, found, left if missing else 0.0, truth.norm, claims.rounding, words)
    if missing:
        verdict.check("unwarned", not said, found, words=words)


def judge_words(truth, said, verdict):
    first = float(truth.values.hi.max(initial=0.0))
    visible = first > max(VISIBLE * truth.scale, 100 * truth.error)
    for message in said:
        if any(text in message for text in SAME) and OR_TOO_SMALL not in message:
            verdict.check("words", visible, words=f"{message[:60]}… and the first eigenvalue is {first:.3g}")
