"""Hypothesis without a clock and without chance: the same examples on every machine."""

import os

from hypothesis import settings

settings.register_profile("house", derandomize=True, deadline=None, max_examples=40)
settings.register_profile("thorough", derandomize=True, deadline=None, max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "house"))
