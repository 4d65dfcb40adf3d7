"""A cloud → its part of a page: picture and table at once, and a map where the script runs."""

from html import escape

from mercer_old.report.cloud.key import key_of
from mercer_old.report.cloud.look import LOOK
from mercer_old.report.cloud.picture import picture_of
from mercer_old.report.cloud.record import Cloud
from mercer_old.report.scripts import data_block
from mercer_old.report.templates import template
from mercer_old.terminal import plain

__all__ = ["map_section"]


def map_section(cloud: Cloud, title: str, key: str = "map", link: str = "") -> str:
    """A fragment of HTML that `page_script("map")` makes alive.

    Parameters
    ----------
    cloud : Cloud
    title : str
        What the map is called, for those who hear it.
    key : str, default="map"
        A name of its own among the sections of a page: letters, digits, hyphens.
    link : str, default=""
        Sections of the same link have the same rows: selection and what is pointed at go together.
    """
    return template("map.html").substitute(
        key=_text(key),
        link=_text(link or key),
        title=_text(title),
        picture=picture_of(cloud),
        colours=key_of(cloud),
        count=f"{cloud.count:,}",
        notes="".join(f"<li>{_text(note)}</li>" for note in cloud.notes),
        head="".join(f'<th scope="col"><bdi>{_text(cell)}</bdi></th>' for cell in cloud.heads),
        rows="\n".join(f"<tr>{_cells(row)}</tr>" for row in cloud.first),
        data=data_block(f"{_text(key)}-cloud", {"cloud": cloud.as_dict(), "look": LOOK}),
    )


def _cells(row: tuple[str, ...]) -> str:
    return "".join(f"<td><bdi>{_text(cell)}</bdi></td>" for cell in row)


def _text(value: object) -> str:
    return escape(plain(value))
