"""Pages with a map and nothing else, and where a map has its points."""

import re

from mercer_old.report.cloud import map_section
from mercer_old.report.scripts import page_script
from mercer_old.report.templates import page_file
from support.browser import finished, opened

EDGE = {"left": 58, "right": 10, "top": 10, "bottom": 44}  # pixels around the plot


def map_page(*sections):
    """A page with these sections, under the policy of its script."""
    script = page_script("map")
    style = page_file("style.css") + page_file("map.css")
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{script.policy}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><title>a map</title>'
        f"<style>{style}</style></head><body><main><h1>A map</h1>{''.join(sections)}</main>"
        f"<script>{script.text}</script></body></html>"
    )


def shown(browser, folder, cloud, fragment="", **context):
    """The map of a cloud in a browser, when it is drawn."""
    path = folder / "map.html"
    path.write_text(map_page(map_section(cloud, "Rows in the plane")), encoding="utf-8")
    return finished(opened(browser, path, fragment, **({"viewport": {"width": 1100, "height": 900}} | context)))


class View:
    """Where the map of a page shows a number: both axes have one scale, and 8 % more room than the points need."""

    def __init__(self, page, scores):
        page.locator(".map-above").first.scroll_into_view_if_needed()
        box = page.locator(".map-above").first.bounding_box()
        self.width, self.height = (
            box["width"] - EDGE["left"] - EDGE["right"],
            box["height"] - EDGE["top"] - EDGE["bottom"],
        )
        self.corner = box["x"], box["y"]
        low, high = scores[:, :2].min(axis=0), scores[:, :2].max(axis=0)
        self.middle = (low + high) / 2
        self.scale = min(self.width / (high - low)[0], self.height / (high - low)[1]) / 1.08

    def inside(self, x, y):
        """Pixels from the corner of the canvas."""
        across = EDGE["left"] + self.width / 2 + (x - self.middle[0]) * self.scale
        return across, EDGE["top"] + self.height / 2 - (y - self.middle[1]) * self.scale

    def of(self, x, y):
        """Pixels of the window."""
        across, down = self.inside(x, y)
        return self.corner[0] + across, self.corner[1] + down


def chosen_rows(page):
    """The rows that the address says are chosen."""
    ranges = re.search(r"map\.rows=([^&]*)", page.url)
    if not ranges:
        return set()
    ends = [part.split("-") for part in ranges[1].replace("%2C", ",").split(",")]
    return {row for part in ends for row in range(int(part[0]), int(part[-1]) + 1)}


def pixels_of(page, colour=None, layer=".map-canvas"):
    """How many pixels of each map have a colour, or are not empty."""
    wanted = None if colour is None else int.from_bytes(bytes.fromhex(colour[1:]) + b"\xff", "little")
    return page.evaluate(
        """([layer, wanted]) => [...document.querySelectorAll(layer)].map((canvas) => {
          const image = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
          const pixels = new Uint32Array(image.data.buffer);
          return pixels.filter((pixel) => (wanted === null ? pixel : pixel === wanted)).length;
        })""",
        [layer, wanted],
    )
