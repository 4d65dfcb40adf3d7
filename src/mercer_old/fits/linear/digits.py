"""Digits: sums of squares that are numbers, what rounding did to them, and whether another way is needed."""

import numpy as np

from mercer_old.fits.linear.task import Axes

DIGITS, SINGLE_DIGITS = 1e-6, 1e-2  # error of a variance, relative to itself, from which another way is taken


def lost_digits(found: Axes, digits: float) -> bool:
    """Whether a kept variance, or the sum of the others, is known to fewer digits than it should be."""
    values = found.values if len(found.values) == found.all else np.append(found.values, found.rest)
    return bool(np.any(values * digits < found.certificate.rounding))


def about_digits(found: Axes) -> list[str]:
    """What is left where squares have to do: of sparse rows, of batches, and where there is no memory for better.

    Of what cannot be told from zero the certificate speaks, unless that is nearly all there is.
    """
    noise, values = found.certificate.rounding, np.append(found.values, found.rest)
    there = values[values > noise]
    if DIGITS * found.total > noise and not np.any(DIGITS * there < noise):
        return []
    digits = max(0, int(-np.log10(noise / there.min()))) if len(there) else 0
    return [
        f"Squares of the data leave the smallest variance only {digits} digits; PCA of dense rows, in memory or from a "
        'file, with svd_solver="qr" has them all.'
    ]
