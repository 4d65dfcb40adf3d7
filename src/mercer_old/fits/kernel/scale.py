"""Whether a kernel sees the data at the right scale: who has company, who looks the same, and what to do about it."""

from typing import TypeGuard

import numpy as np

from mercer_old.arrays import Array, Held
from mercer_old.certificates.intervals import IntervalCertificate
from mercer_old.certificates.residuals import Certificate
from mercer_old.errors import joined
from mercer_old.fits.kernel.task import Components, Parameters
from mercer_old.kernels import Kernel
from mercer_old.kernels.bandwidth import ByGamma
from mercer_old.kernels.euclidean import EuclideanKernel
from mercer_old.operators.centering import Centered
from mercer_old.operators.gram import Gram
from mercer_old.readings.columns import FEW_ROWS, about_unit, about_units

_ALONE = 0.25  # a typical row that has no more than a quarter of a row for company
_SAME = 1e-3  # mean of 1 − k(x, y)/k(x, x) up to which rows look the same
_THEMSELVES = 1.5  # times their share of the rows: landmarks that see no more of the variance see themselves
_SOME_LANDMARKS = 500
_LITTLE = 0.25  # share of the variance that landmarks see, if they do not know the first eigenvalue to a factor of two


def company(kernel: Kernel, matrix: Centered) -> float | None:
    """The median over rows i of Σⱼwⱼk(xᵢ, xⱼ)/k(x, x) over all others, for weights of mean one."""
    gram = matrix.base
    if not kernel.by_distance or not isinstance(gram, Gram):
        return None
    own = 1.0 if matrix.weights is None else matrix.weights / matrix.weights.mean()
    return float(np.median(matrix.n * (matrix.means + gram.shift) / _own_similarity(kernel, gram.X) - own))


def _company_of_landmarks(found: Components, certificate: IntervalCertificate, kernel: Kernel) -> float | None:
    """The same, guessed from landmarks that see hardly more of the rows than themselves."""
    S = found.landmarks
    if not kernel.by_distance or S.shape[0] < FEW_ROWS:
        return None
    if certificate.captured > _THEMSELVES * certificate.n_landmarks / found.n:
        return None
    some = S[:_SOME_LANDMARKS]
    sums = kernel.block(some, some).sum(axis=1) / _own_similarity(kernel, some) - 1
    return float(np.median(sums)) * found.n / some.shape[0]


def _own_similarity(kernel: Kernel, rows: Held) -> float:
    """k(x, x), the same for all x."""
    return float(kernel.diag(rows[:1])[0])


def sense_of_scale(found: Components, kernel: Kernel, asked: Parameters, names: Array | None) -> list[str]:
    """All that a user should be told about an answer, in one warning where the scale of the data is to blame.

    `asked` has the parameters of the model.
    """
    if found.n < FEW_ROWS or not np.any(found.values > 0):
        return found.warnings
    rows = found.landmarks if found.rows is None else found.rows
    alone = _about_company(found, kernel)
    unit = about_unit(rows, names) if kernel.by_distance and not asked.standardize else ""
    if alone:
        others = found.warnings if found.company is None else []  # of a certified fit, about directions: moot now
        return [
            f"Every row is alone to this kernel: {alone}. {unit or _narrow(kernel)}. {_remedy(kernel, asked)}",
            *others,
        ]
    if _sees_little(found.certificate) and not isinstance(asked.n_components, float):  # of a share it was said
        return [_about_little(found.certificate, kernel, unit), *found.warnings]
    if kernel.by_distance:
        apart = found.total / found.total_weight / _own_similarity(kernel, rows)
        if apart < _SAME:
            return [_about_same(apart, kernel, asked), *found.warnings]
    return [*found.warnings, *about_units(rows, names)] if unit else found.warnings


def _about_company(found: Components, kernel: Kernel) -> str:
    """How it shows that rows are alone, if they are."""
    nothing = "no direction stands out and the components mean nothing"
    if found.company is not None and found.company < _ALONE:
        little = f"{found.company:.2g}" if found.company > 1e-3 else "less than 0.001"
        return f"the similarities of a typical row to all others sum up to {little}, against 1 to itself, so {nothing}"
    if found.company is not None or not isinstance(found.certificate, IntervalCertificate):
        return ""
    near = _company_of_landmarks(found, found.certificate, kernel)
    if near is None or not near < _ALONE:
        return ""
    count, captured = found.certificate.n_landmarks, found.certificate.captured
    return f"the {count:,} landmarks see {captured:.1%} of the variance, hardly more than themselves, so {nothing}"


def _about_same(apart: float, kernel: Kernel, asked: Parameters) -> str:
    return (
        f"All rows look nearly the same to this kernel: on average the similarity of two of them is 1 − {apart:.1g}, "
        f"and the components are those of {_what_is_left_of(kernel)}. {_wide(kernel)}. {_remedy(kernel, asked)}"
    )


def _what_is_left_of(kernel: Kernel) -> str:
    """k ≈ 1 − x: of squared distances x that is PCA, of others what their inventor called scaling."""
    squared = kernel.smooth if isinstance(kernel, EuclideanKernel) else not isinstance(kernel, ByGamma)
    return "PCA" if squared else "classical scaling of its distances"


def _about_little(certificate: IntervalCertificate, kernel: Kernel, unit: str) -> str:
    ways = ["more n_landmarks", "refine=1"]
    ways += ["a smaller gamma" if isinstance(kernel, ByGamma) else "a wider kernel"] if kernel.by_distance else []
    ways += ["standardize=True"] if unit else []
    return (
        f"The {certificate.n_landmarks:,} landmarks see only {certificate.captured:.1%} of the variance for certain: "
        "the data do not compress to so few rows, and the true components may be others. "
        f"{unit + '. ' if unit else ''}Give {joined(ways, 'or')}."
    )


def _sees_little(certificate: Certificate | IntervalCertificate) -> TypeGuard[IntervalCertificate]:
    """Whether landmarks saw so little that nothing worth knowing is proven."""
    return (
        isinstance(certificate, IntervalCertificate)
        and certificate.standing != "void"
        and certificate.captured < _LITTLE
        and 2 * certificate.lower[0] < certificate.upper[0]
    )


def _narrow(kernel: Kernel) -> str:
    what = f"gamma={kernel.gamma:.3g} is far too large" if isinstance(kernel, ByGamma) else f"{kernel!r} is too narrow"
    return f"{what} for the scale of the data"


def _wide(kernel: Kernel) -> str:
    what = f"gamma={kernel.gamma:.3g} is far too small" if isinstance(kernel, ByGamma) else f"{kernel!r} is too wide"
    return f"{what} for the scale of the data"


def _remedy(kernel: Kernel, asked: Parameters) -> str:
    """What to try."""
    ways = [] if asked.standardize else ["standardize=True"]
    ways += ['gamma="median"'] if isinstance(kernel, ByGamma) and asked.gamma != "median" else []
    return f"Try {' or '.join(ways)}." if ways else "Try another bandwidth."
