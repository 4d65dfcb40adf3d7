"""From columns to factors: the top of the profile likelihood, and what is to be said of it."""

from dataclasses import dataclass

import numpy as np

from mercer_old.arrays import Array
from mercer_old.certificates.optima import LocalOptimum
from mercer_old.errors import counted, listed
from mercer_old.fits.descent import Descent, descend
from mercer_old.fits.factors.columns import Columns
from mercer_old.fits.factors.profile import FLOOR, Profile
from mercer_old.progress import OnPass

_EM_STEPS = 2  # before L-BFGS: with more columns than rows they save half of all evaluations, and else cost nothing


@dataclass(frozen=True)
class Factors:
    """All that a model keeps of the search."""

    loadings: Array  # k×d, in the units of the rows
    noise: Array  # variances of the columns that no factor explains
    likelihoods: list[float]  # of all rows, at the start and after each iteration
    certificate: LocalOptimum
    at_floor: Array  # numbers of columns whose noise is held at the floor


def find_factors(
    columns: Columns, k: int, tol: float, max_iter: int, start: Array | None = None, on_pass: OnPass = None
) -> Factors:
    """Noises and loadings of the greatest likelihood near the start."""
    profile = Profile(columns.correlations, min(k, columns.correlations.width))
    first = profile.start() if start is None else _as_shares(start, columns, profile)
    before, nearer = _first_steps(profile, first, min(_EM_STEPS, max_iter - 1))
    low, high, most = profile.low, profile.high, max_iter - len(before)
    found = descend(profile, nearer, tol=tol, max_iter=most, low=low, high=high, on_pass=on_pass)
    loadings, noise = np.zeros((k, len(columns.mean))), np.zeros(len(columns.mean))
    loadings[: profile.k, columns.varying] = profile.loadings(found.point) * columns.deviations
    noise[columns.varying] = np.exp(found.point) * columns.variances[columns.varying]
    likelihoods = [_likelihood(columns, value) for value in [*before, *found.values]]
    floor = np.flatnonzero(columns.varying)[found.point <= profile.low + np.log(2)]
    return Factors(loadings, noise, likelihoods, _certificate(found, likelihoods, tol, floor), floor)


def _first_steps(profile: Profile, t: Array, number: int) -> tuple[list[float], Array]:
    """Some steps of EM, which are long where nothing is known of the noises; and F before each of them."""
    values = []
    for _ in range(number):
        value, slope = profile(t)
        values.append(value)
        t = profile.em_step(t, slope)
    return values, t


def _as_shares(noise: Array, columns: Columns, profile: Profile) -> Array:
    with np.errstate(divide="ignore"):
        return np.clip(np.log(noise[columns.varying] / columns.variances[columns.varying]), profile.low, profile.high)


def _likelihood(columns: Columns, value: float) -> float:
    """Of all rows, in the units they were given in."""
    width = int(columns.varying.sum())
    return float(-columns.count / 2 * (width * np.log(2 * np.pi) + value + 2 * np.log(columns.deviations).sum()))


def _certificate(found: Descent, likelihoods: list[float], tol: float, floor: Array) -> LocalOptimum:
    held = f"{counted(len(floor), 'column')} of least noise at the floor, where the likelihood still rises."
    return LocalOptimum(
        what="Log-likelihood of the rows",
        start=likelihoods[0],
        end=likelihoods[-1],
        gradient=found.steepness,
        tol=tol,
        iterations=len(likelihoods) - 1,
        more=(held,) if len(floor) else (),
    )


def about_floor(found: Factors, names: Array | None) -> list[str]:
    """Heywood's case, in words."""
    if not len(found.at_floor):
        return []
    some = listed(str(j) if names is None else repr(names[j]) for j in found.at_floor)
    return [
        f"{len(found.at_floor)} of {len(found.noise)} columns ({some}) have no noise of their own in this model "
        f"(Heywood's case): it is held at {FLOOR:g} of their variance. Take fewer factors, or leave out columns that "
        "others determine."
    ]
