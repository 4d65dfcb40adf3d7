"""Dimension reduction that people can trust on real data."""

__version__ = "0.1.0"
