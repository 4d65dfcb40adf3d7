"""Spectra on which tests and benchmarks compare solvers: easy, slow, clustered, short and flat ones."""

import numpy as np

SPECTRA = {
    "geometric, 0.7ⁱ": lambda n: 0.7 ** np.arange(n),
    "1/i": lambda n: 1.0 / (1 + np.arange(n)),
    "1/√i": lambda n: (1.0 + np.arange(n)) ** -0.5,
    "ten equal": lambda n: np.concatenate([np.full(10, 1.0), 0.5 * 0.9 ** np.arange(n - 10)]),
    "k inside a cluster": lambda n: np.concatenate(
        [0.8 ** np.arange(15), np.full(12, 0.02), 0.01 * 0.8 ** np.arange(n - 27)]
    ),
    "rank 12": lambda n: np.concatenate([np.arange(12.0, 0.0, -1.0), np.zeros(n - 12)]),
    "flat, 1 ± 0.001": lambda n: 1 + 1e-3 * np.random.default_rng(0).normal(size=n),
}
