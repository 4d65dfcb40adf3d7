"""Why something cannot be stored or used, as the end of a sentence whose beginning others know."""

__all__ = ["Unusable"]


class Unusable(Exception):
    """A reason, without a full stop: `files` says of which file or model, and what to do."""
