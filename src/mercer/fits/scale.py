"""A common scale for columns of different units, and words for data that a kernel sees at the wrong scale."""

from dataclasses import replace
from typing import Any

import numpy as np

from mercer.arrays import Array
from mercer.certificates.intervals import IntervalCertificate
from mercer.errors import joined
from mercer.fits.kernel.task import Components
from mercer.fits.linear.answer import about_constant, deviations
from mercer.fits.linear.digits import refuse_overflow
from mercer.fits.training import Training
from mercer.kernels import Kernel
from mercer.kernels.bandwidth import ByGamma
from mercer.kernels.euclidean import EuclideanKernel
from mercer.operators.centering import Centered
from mercer.operators.gram import Gram
from mercer.readings.columns import FEW_ROWS, dominating
from mercer.sources.held import HeldRows, ScaledRows, by_columns
from mercer.sweeps.lanes import sweep_scatter
from mercer.sweeps.spread import Spread

ALONE = 0.25  # a typical row that has no more than a quarter of a row for company
SAME = 1e-3  # mean of 1 − k(x, y)/k(x, x) up to which rows look the same
THEMSELVES = 1.5  # times their share of the rows: landmarks that see no more of the variance see themselves
SOME_LANDMARKS = 500
LITTLE = 0.25  # share of the variance that landmarks see, if they do not know the first eigenvalue to a factor of two

# ---------------------------------------------------------------------- standardizing


def standardized(training: Training, names: Any, threads: int) -> Training:
    """The rows with every column divided by its standard deviation, and what is to be said of columns without one.

    A row counts by its weight: s_j² = Σw(x_j − mean_j)²/(Σw − 1). Nothing is subtracted, so that sparse rows stay
    sparse. Dense rows are divided when they are read, after a plan was made.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        spread = sweep_scatter(Spread, training.items, training.weights, threads, exact=True)
    refuse_overflow(spread)
    return divided(training, deviations(spread), tuple(about_constant(spread, names)))


def divided(training: Training, scale: Array, notes: tuple[str, ...] = ()) -> Training:
    """The rows with their columns divided by these numbers."""
    given = None if training.given is None else in_units(training.given, scale)
    return replace(training, items=in_units(training.items, scale), given=given, scale=scale, notes=notes)


def in_units(rows: Any, scale: Array | None) -> Any:
    """Rows as a model with this scale sees them: sparse ones at once, others when they are read."""
    if scale is None:
        return rows
    return HeldRows(by_columns(np.divide, rows.load(), scale)) if rows.sparse and rows.held else ScaledRows(rows, scale)


def in_units_of_input(rows: Any, scale: Array | None) -> Any:
    """The way back, of rows in memory, if there are any."""
    return rows if scale is None or rows is None else by_columns(np.multiply, rows, scale)


def refuse_matrix(standardize: bool, matrix: str) -> None:
    """Items that are known by a matrix have no columns."""
    if standardize:
        raise ValueError(
            f"standardize=True divides columns by their standard deviations, and a precomputed {matrix} matrix has no "
            "columns: standardize the rows it is computed from."
        )


# ---------------------------------------------------------------------- whether a kernel fits the data


def company(kernel: Kernel, matrix: Centered) -> float | None:
    """The median over rows i of Σⱼwⱼk(xᵢ, xⱼ)/k(x, x) over all others, for weights of mean one."""
    gram = matrix.base
    if not kernel.by_distance or not isinstance(gram, Gram):
        return None
    own = 1.0 if matrix.weights is None else matrix.weights / matrix.weights.mean()
    return float(np.median(matrix.n * (matrix.means + gram.shift) / own_similarity(kernel, gram.X) - own))


def company_of_landmarks(found: Components, kernel: Kernel) -> float | None:
    """The same, guessed from landmarks that see hardly more of the rows than themselves."""
    S, certificate = found.landmarks, found.certificate
    if not kernel.by_distance or not isinstance(certificate, IntervalCertificate) or S.shape[0] < FEW_ROWS:
        return None
    if certificate.captured > THEMSELVES * certificate.n_landmarks / found.n:
        return None
    some = S[:SOME_LANDMARKS]
    sums = kernel.block(some, some).sum(axis=1) / own_similarity(kernel, some) - 1
    return float(np.median(sums)) * found.n / some.shape[0]


def own_similarity(kernel: Kernel, rows: Any) -> float:
    """k(x, x), the same for all x."""
    return float(kernel.diag(rows[:1])[0])


def sense_of_scale(found: Components, kernel: Kernel, asked: Any, names: Any) -> list[str]:
    """All that a user should be told about an answer, in one warning where the scale of the data is to blame.

    `asked` has the parameters of the model.
    """
    if found.n < FEW_ROWS or not np.any(found.values > 0):
        return found.warnings
    rows = found.landmarks if found.rows is None else found.rows
    unit = about_unit(rows, names) if kernel.by_distance and not asked.standardize else ""
    if alone := about_company(found, kernel):
        others = found.warnings if found.company is None else []  # of a certified fit, about directions: moot now
        return [
            f"Every row is alone to this kernel: {alone}. {unit or narrow(kernel)}. {remedy(kernel, asked)}",
            *others,
        ]
    if sees_little(found.certificate) and not isinstance(asked.n_components, float):  # of a share it was said
        return [about_little(found.certificate, kernel, unit), *found.warnings]
    if kernel.by_distance:
        apart = found.total / found.total_weight / own_similarity(kernel, rows)
        if apart < SAME:
            return [about_same(apart, kernel, asked), *found.warnings]
    return [*found.warnings, *about_units(rows, names)] if unit else found.warnings


def about_company(found: Components, kernel: Kernel) -> str:
    """How it shows that rows are alone, if they are."""
    nothing = "no direction stands out and the components mean nothing"
    if found.company is not None and found.company < ALONE:
        little = f"{found.company:.2g}" if found.company > 1e-3 else "less than 0.001"
        return f"the similarities of a typical row to all others sum up to {little}, against 1 to itself, so {nothing}"
    near = company_of_landmarks(found, kernel) if found.company is None else None
    if near is not None and near < ALONE:
        count, captured = found.certificate.n_landmarks, found.certificate.captured
        return f"the {count:,} landmarks see {captured:.1%} of the variance, hardly more than themselves, so {nothing}"
    return ""


def about_same(apart: float, kernel: Kernel, asked: Any) -> str:
    return (
        f"All rows look nearly the same to this kernel: on average the similarity of two of them is 1 − {apart:.1g}, "
        f"and the components are those of {what_is_left_of(kernel)}. {wide(kernel)}. {remedy(kernel, asked)}"
    )


def what_is_left_of(kernel: Kernel) -> str:
    """k ≈ 1 − x: of squared distances x that is PCA, of others what their inventor called scaling."""
    squared = kernel.smooth if isinstance(kernel, EuclideanKernel) else not isinstance(kernel, ByGamma)
    return "PCA" if squared else "classical scaling of its distances"


def about_little(certificate: IntervalCertificate, kernel: Kernel, unit: str) -> str:
    ways = ["more n_landmarks", "refine=1"]
    ways += ["a smaller gamma" if isinstance(kernel, ByGamma) else "a wider kernel"] if kernel.by_distance else []
    ways += ["standardize=True"] if unit else []
    return (
        f"The {certificate.n_landmarks:,} landmarks see only {certificate.captured:.1%} of the variance for certain: "
        "the data do not compress to so few rows, and the true components may be others. "
        f"{unit + '. ' if unit else ''}Give {joined(ways, 'or')}."
    )


def sees_little(certificate: Any) -> bool:
    """Whether landmarks saw so little that nothing worth knowing is proven."""
    return (
        isinstance(certificate, IntervalCertificate)
        and certificate.standing != "void"
        and certificate.captured < LITTLE
        and 2 * certificate.lower[0] < certificate.upper[0]
    )


def about_units(rows: Any, names: Any) -> list[str]:
    """Whether distances are those of one column, or of a few."""
    unit = about_unit(rows, names)
    one, few = "decides alone who is near. Unless its size is", "decide alone who is near. Unless their sizes are"
    what = few if unit.startswith("Columns ") else one
    return [f"{unit}, which {what} meant, try standardize=True."] if unit else []


def about_unit(rows: Any, names: Any) -> str:
    """Which column has nearly all of the variance."""
    found = dominating(rows)
    if found is None:
        return ""
    columns, share, counters = found
    named = [str(j) if names is None else repr(names[j]) for j in columns]
    which = f"Column {named[0]} has" if len(named) == 1 else f"Columns {joined(named)} have"
    d = rows.shape[1]
    of = f"the {d - counters} columns that do not count rows" if counters else f"all {d} columns"
    return f"{which} {share:.1%} of the summed variance of {of}"


def narrow(kernel: Kernel) -> str:
    what = f"gamma={kernel.gamma:.3g} is far too large" if isinstance(kernel, ByGamma) else f"{kernel!r} is too narrow"
    return f"{what} for the scale of the data"


def wide(kernel: Kernel) -> str:
    what = f"gamma={kernel.gamma:.3g} is far too small" if isinstance(kernel, ByGamma) else f"{kernel!r} is too wide"
    return f"{what} for the scale of the data"


def remedy(kernel: Kernel, asked: Any) -> str:
    """What to try."""
    ways = [] if asked.standardize else ["standardize=True"]
    ways += ['gamma="median"'] if isinstance(kernel, ByGamma) and asked.gamma != "median" else []
    return f"Try {' or '.join(ways)}." if ways else "Try another bandwidth."
