"""The kinds of items that are no rows of numbers, by the word with which a kernel says that it takes them."""

from collections.abc import Callable

from mercer_old.sources.files import open_texts
from mercer_old.sources.frames import Table, open_whole_table
from mercer_old.sources.items import Items
from mercer_old.sources.series import Series
from mercer_old.sources.texts import Texts

__all__ = ["KINDS", "OPENERS"]

KINDS: dict[str, Callable[..., Items]] = {"series": Series, "tables": Table, "texts": Texts}  # in memory, by a label
OPENERS: dict[str, Callable[..., Items]] = {"texts": open_texts, "tables": open_whole_table}  # from files
