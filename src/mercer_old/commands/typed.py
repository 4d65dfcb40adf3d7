"""What is typed, as values: each says in a sentence what it cannot be."""

from typing import Any

import typer

from mercer_old.errors import WrongUse
from mercer_old.rule_names import RULES_OF, rules_in_words
from mercer_old.terminal import plain

__all__ = [
    "count",
    "number",
    "number_of_components",
    "number_or_rule",
    "share_or_count",
    "whole",
    "whole_or_auto",
    "yes_or_word",
]


def count(text: str) -> int:
    """A number of rows as people write it: 80000, 80_000, 8e4."""
    number_typed = number(text)
    if not 1 <= number_typed < 1e15 or number_typed != int(number_typed):
        raise typer.BadParameter(f"{text} is not a whole number of at least 1.")
    return int(number_typed)


def whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a whole number.") from None


def number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a number.") from None


def share_or_count(text: str) -> float:
    wanted = number(text)
    return int(wanted) if wanted >= 1 and wanted == int(wanted) else wanted


def number_or_rule(text: str) -> float | str:
    try:
        return text if text in ("median", "cv") else float(text)
    except ValueError:
        raise WrongUse(f'--gamma {text!r} is neither a number nor "median" or "cv".') from None


def whole_or_auto(text: str) -> int | str:
    return text if text == "auto" else whole(text)


def yes_or_word(text: str) -> bool | str:
    return {"yes": True, "no": False}.get(text, text)


def number_of_components(text: str | None, method: str) -> Any:
    """A whole number, a share below 1, the name of a rule that the method knows, None if nothing was said."""
    if text is None or text in RULES_OF.get(method, ()):
        return text
    if text == "auto" and RULES_OF.get(method):
        return RULES_OF[method][0]
    try:
        wanted = float(text)
    except ValueError:
        wanted = float("nan")
    if wanted < 1:
        return wanted
    if not (wanted < 1e15 and wanted == int(wanted)):
        rules = f", nor a rule: {rules_in_words(method)}" if RULES_OF.get(method) else ""
        raise WrongUse(f"--components {plain(text)} is neither a whole number nor a share below 1{rules}.")
    return int(wanted)
