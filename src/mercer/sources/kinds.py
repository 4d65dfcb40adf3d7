"""The kinds of items that are no rows of numbers, by the word with which a kernel says that it takes them."""

from collections.abc import Callable
from typing import Any

from mercer.sources.items import Items
from mercer.sources.texts import Texts

__all__ = ["KINDS"]

KINDS: dict[str, Callable[[Any], Items]] = {"texts": Texts}
