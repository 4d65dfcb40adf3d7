"""What is told of a fit to rows with gaps."""

import numpy as np

from mercer_old.certificates.filling import FillingCertificate
from mercer_old.errors import are, counted
from mercer_old.fits.gaps.task import Answer

__all__ = ["about_climb", "certificate_of"]


def certificate_of(found: Answer, prior: str | None) -> FillingCertificate:
    held_out, extent = found.held_out, found.extent
    return FillingCertificate(
        rows=extent.rows,
        columns=len(extent.there),
        missing=int(extent.missing.sum()),
        rows_with_gaps=extent.with_gaps,
        empty_rows=extent.empty,
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
        more_patterns=found.more_patterns,
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
