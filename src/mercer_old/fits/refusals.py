"""What models that need every number say of rows with gaps, and of more components than there can be."""

from collections.abc import Iterator
from contextlib import contextmanager

from mercer_old.errors import BadData, are, counted

__all__ = ["pointing_to_gaps", "refuse_too_many"]


@contextmanager
def pointing_to_gaps() -> Iterator[None]:
    """Who gives rows with gaps is told of the model that takes them."""
    try:
        yield
    except ValueError as error:
        if "contains NaN" in str(error):
            raise BadData(f"{error} (ProbabilisticPCA takes rows with gaps.)") from None
        raise


def refuse_too_many(asked: int, most: int, what: str) -> None:
    """More components than there are such things."""
    if asked > most:
        raise ValueError(f"n_components={asked} must be at most {most}: there {are(most)} {counted(most, what)}.")
