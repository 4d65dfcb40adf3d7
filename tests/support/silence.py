"""Warnings that a test is not about."""

import warnings

import pytest
from sklearn.exceptions import ConvergenceWarning

from mercer_old.errors import MercerWarning

quiet = pytest.mark.filterwarnings("ignore::mercer_old.errors.MercerWarning")


def silently(call):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MercerWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)  # of searches that were to be short
        return call()
