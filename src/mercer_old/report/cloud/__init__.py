"""Rows as points that a page can show: the record, how it is packed, and its part of a page.

`record` is a cloud of points as JSON can say it, `building` makes one of scores, names and columns, `packing` is bytes
as text. `picture` draws it without a script, with `png` for
many points and `key` for its colours; `section` is the part of a page that a
browser makes alive. Nothing is computed here that is not in the rows, and points are never left out.
"""

from mercer_old.report.cloud.building import cloud_of
from mercer_old.report.cloud.record import Arrows, Cloud
from mercer_old.report.cloud.section import map_section

__all__ = ["Arrows", "Cloud", "cloud_of", "map_section"]
