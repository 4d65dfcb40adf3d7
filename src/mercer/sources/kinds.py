"""The kinds of items that are no rows of numbers, by the word with which a kernel says that it takes them."""

from collections.abc import Callable

from mercer.sources.files import open_texts
from mercer.sources.items import Items
from mercer.sources.texts import Texts

__all__ = ["KINDS", "OPENERS"]

KINDS: dict[str, Callable[..., Items]] = {"texts": Texts}  # of things in memory, and what to call them in messages
OPENERS: dict[str, Callable[..., Items]] = {"texts": open_texts}  # those that are read from files
