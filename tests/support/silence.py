"""Warnings that a test is not about."""

import warnings

import pytest

from mercer.errors import MercerWarning

quiet = pytest.mark.filterwarnings("ignore::mercer.errors.MercerWarning")


def silently(call):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MercerWarning)
        return call()
