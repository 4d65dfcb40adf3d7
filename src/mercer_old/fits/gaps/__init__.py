"""Fits of rows with gaps: factors of a normal distribution, by expectation and maximisation.

`task` says what is asked for and what is found, `finding` is the way there: `columns` sees what is there and where its
centre is, `drawing` keeps some numbers back and `holding_out` sees how well they are told, `climbing` goes step by
step, and `em` is one step. All of them ask for sums over rows alone, which are in memory or in chunks. `telling` has
the words, and `reading` is what factors say of rows.
"""

from mercer_old.fits.gaps.columns import refuse_empty_columns
from mercer_old.fits.gaps.finding import find_factors
from mercer_old.fits.gaps.reading import Reading
from mercer_old.fits.gaps.task import Answer, GapsFound, GapsTask, HeldOut

__all__ = ["Answer", "GapsFound", "GapsTask", "HeldOut", "Reading", "find_factors", "refuse_empty_columns"]
