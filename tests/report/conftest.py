"""Pages are opened in one browser for each module."""

from support.browser import browser

__all__ = ["browser"]
