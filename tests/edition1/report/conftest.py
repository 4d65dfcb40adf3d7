"""Pages are opened in one browser for each process, in windows that are used again."""

from support.browser import browser, windows_come_back

__all__ = ["browser", "windows_come_back"]
