"""Expectation and maximisation, as a plan names it: of rows with gaps there is no scatter matrix to decompose."""

from dataclasses import dataclass
from typing import NoReturn

import numpy as np

from mercer_old.arrays import Array
from mercer_old.solvers.base import Solver
from mercer_old.symmetric import SymmetricOperator

__all__ = ["Expectation"]


@dataclass(frozen=True)
class Expectation(Solver):
    """Factors of rows with gaps, found by `mercer.fits.gaps`; it asks no operator, and has nothing to say to one."""

    prior: str | None = "normal"
    tol: float = 0.0
    max_iter: int = 0

    @property
    def words(self) -> str:
        return "expectation and maximisation"

    def solve(self, op: SymmetricOperator, k: int, rng: np.random.Generator, start: Array | None = None) -> NoReturn:
        raise TypeError("Expectation and maximisation is for rows with gaps; a matrix has eigenvectors.")
