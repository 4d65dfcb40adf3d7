"""What every fit does its work in: quietly, within its threads, and saying how far it is."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np

from mercer.progress import PassCounter, reporting
from mercer.threads import one_blas_thread


@contextmanager
def working(progress: Any, passes: int, words: str, *, threads: int | None = None) -> Iterator[PassCounter | None]:
    """Long work in so many passes; gives what is to be called with the share of one that is done, if anybody listens.

    numpy is quiet meanwhile, as what overflows is told in words. With `threads`, BLAS and LAPACK keep to one thread,
    and to so many where they are called for something large.
    """
    with ExitStack() as stack:
        stack.enter_context(np.errstate(over="ignore", invalid="ignore"))
        if threads is not None:
            stack.enter_context(one_blas_thread(threads))
        yield stack.enter_context(reporting(progress, passes, words))
