"""Hypothesis without a clock and without chance: the same examples on every machine."""

import os

import pytest
from hypothesis import settings

from mercer.threads import one_blas_thread

settings.register_profile("house", derandomize=True, deadline=None, max_examples=40)
settings.register_profile("thorough", derandomize=True, deadline=None, max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "house"))

SMALL_MATRICES = ("theory", "linear_algebra", "exercises", "errata", "textbook", "gallery", "page", "datasets")


@pytest.fixture(scope="module", autouse=True)
def small_matrices_on_one_thread(request):
    """Threads on tiny products wait for each other: on a busy machine they take ten times as long."""
    if any(word in request.module.__name__ for word in SMALL_MATRICES):
        with one_blas_thread():
            yield
    else:
        yield
