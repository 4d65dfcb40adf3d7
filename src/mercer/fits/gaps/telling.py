"""What is told of a fit to rows with gaps."""

import numpy as np

from mercer.arrays import Array
from mercer.certificates.filling import FillingCertificate
from mercer.errors import are, counted
from mercer.fits.gaps.task import Answer

__all__ = ["about_climb", "certificate_of"]


def certificate_of(found: Answer, prior: str | None, gaps: Array) -> FillingCertificate:
    held_out = found.held_out
    return FillingCertificate(
        rows=len(gaps),
        columns=gaps.shape[1],
        missing=int(gaps.sum()),
        rows_with_gaps=int(gaps.any(axis=1).sum()),
        empty_rows=int(gaps.all(axis=1).sum()),
        patterns=found.patterns,
        prior=prior or "",
        passes=found.passes,
        gain=float(found.gain),
        converged=bool(found.converged),
        stopped=bool(found.stopped),
        held_out=0 if held_out is None else held_out.count,
        error=0.0 if held_out is None else float(min(held_out.errors)),
        tried=() if held_out is None else held_out.components,
        errors=() if held_out is None else held_out.errors,
    )


def about_climb(known: FillingCertificate, most: int) -> list[str]:
    """What a user should be told."""
    said = []
    if not known.converged:
        gained = f": the last gained {known.gain:.1e} nats for each number" if np.isfinite(known.gain) else ""
        said.append(f"Not converged after {counted(most, 'pass')}{gained}. Give max_iter a larger number, or tol.")
    if known.empty_rows:
        said.append(
            f"{counted(known.empty_rows, 'row')} {are(known.empty_rows)} without any number: nothing follows from "
            f"{'it' if known.empty_rows == 1 else 'them'}, and scores there are those of the mean."
        )
    return said
