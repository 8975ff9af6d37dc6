"""A topical map as a page of its own, as SVG, and as PNG: relevant pages stand out, sites lie together.

Relevance is told by size and by a scale from pale to dark that also reads in grey. Positions come from Python, so all three
show the same drawing.
"""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from markupsafe import Markup

from crawlproject.errors import BadInput
from crawlproject.reports import html
from crawlproject.reports.graph_layout import layout
from crawlproject.reports.map_data import TopicMap
from crawlproject.storage.append_log import write_atomically

UNIT = 10.0  # units of the drawing between neighbours, on average
LABELLED_SITES = 30  # sites whose names are drawn, half as many in the static drawing
LABELLED_PAGES = 40  # pages whose titles are drawn, where there is room
LISTED = 40  # pages in the list below the drawing
_MARGIN = 60.0  # at most, for the names of what lies at the edge
_SCALE = ("#fdd9b5", "#f9b27c", "#ee8336", "#c85200", "#8a3600", "#4d1d00")  # one hue, pale to dark
_QUIET = "#c3cad2"  # a page that is not relevant
PNG_WIDTH = 2_000  # pixels
FORMATS = (".html", ".svg", ".png")


@dataclass(frozen=True)
class Drawing:
    """A map with a position for each place, in units of the drawing."""

    found: TopicMap

    @cached_property
    def top(self) -> float:
        """The relevance at the dark end of the scale: that of the best page, if there is one that is relevant."""
        best = max((place.relevance for place in self.found.places), default=0.0)
        return max(best, self.found.threshold + 0.05)

    @cached_property
    def shades(self) -> list[int]:
        return [shade_of(place.relevance, self.found.threshold, self.top) for place in self.found.places]

    @cached_property
    def radii(self) -> list[float]:
        return [round(radius_of(place.relevance, self.found.threshold, self.top), 2) for place in self.found.places]

    def legend(self) -> list[tuple[str, float, str]]:
        """Colour, radius and meaning of some dots."""
        low, high = self.found.threshold, self.top
        marks = [low, (low + high) / 2, high]
        shown = [(_colour(shade_of(x, low, high)), radius_of(x, low, high), f"relevance {x:.2f}") for x in marks]
        return [(_QUIET, 2.0, "not relevant"), *shown]

    @cached_property
    def at(self) -> list[tuple[float, float]]:
        """The middle of each place."""
        places = self.found.places
        points = layout(
            [place.parent for place in places],
            np.array(self.found.edges, dtype=np.int64).reshape(-1, 2),
            [place.site for place in places],
            sizes=[radius / UNIT for radius in self.radii],
        )
        return [(round(float(x), 1), round(float(y), 1)) for x, y in points * UNIT]

    @cached_property
    def box(self) -> tuple[float, float, float, float]:
        """Left, top, width and height."""
        if not self.at:
            return 0.0, 0.0, 400.0, 300.0
        xs, ys = zip(*self.at, strict=True)
        margin = min(_MARGIN, 20.0 + max(max(xs) - min(xs), max(ys) - min(ys)) / 5)  # a few pages fill the drawing, too
        left, top = min(xs) - margin, min(ys) - margin
        return left, top, max(xs) + margin - left, max(ys) + margin - top

    @cached_property
    def site_middles(self) -> list[tuple[str, float, float, int]]:
        """Names of the largest sites with the median of their places, and how many these are."""
        members: dict[int, list[tuple[float, float]]] = {}
        for place, point in zip(self.found.places, self.at, strict=True):
            members.setdefault(place.site, []).append(point)
        middles = []
        for site in sorted(members)[:LABELLED_SITES]:
            x, y = np.median(members[site], axis=0)
            middles.append((self.found.sites[site], round(float(x), 1), round(float(y), 1), len(members[site])))
        return middles


def shade_of(relevance: float, low: float, high: float) -> int:
    """The step of the scale from ``low`` to ``high``, 0 to 5; -1 for a page that is not relevant."""
    if relevance < low:
        return -1
    return min(len(_SCALE) - 1, int((relevance - low) / (high - low) * len(_SCALE)))


def radius_of(relevance: float, low: float, high: float) -> float:
    """Pages that are not relevant are dots; the area of the others grows with their relevance."""
    return 2.0 if relevance < low else 3.0 + 3.6 * min(1.0, (relevance - low) / (high - low)) ** 0.5


def write_map(found: TopicMap, path: Path) -> Path:
    """Write the map as what the name of ``path`` ends with. Raises ``BadInput`` for other endings, ``StorageFailed``."""
    kind = path.suffix.lower()
    if kind not in FORMATS:
        raise BadInput(f"--out {path}", f"expected a name that ends in {', '.join(FORMATS)}")
    if kind == ".html":
        content = map_html(found)[0]
    elif kind == ".svg":
        content = map_svg(found)
    else:
        content = map_png(found)
    write_atomically(path, [content], sync=False)
    return path


def map_svg(found: TopicMap) -> bytes:
    """The drawing with titles of sites and of the best pages, for papers."""
    drawing = Drawing(found)
    at, places = drawing.at, found.places
    order = sorted(range(len(places)), key=lambda number: places[number].relevance)
    large = max(1.0, drawing.box[2] / 900)  # relevant pages can be seen on a map of thousands
    return html.render(
        "map.svg.j2",
        box=drawing.box,
        heading=_heading(found),
        edges=Markup("".join(_segment(at[a], at[b]) for a, b in found.edges)),
        paths=Markup("".join(_segment(at[p.parent], at[n]) for n, p in enumerate(places) if p.parent >= 0)),
        dots=[
            (
                at[n],
                drawing.radii[n] * (large if drawing.shades[n] >= 0 else 1.0),
                _colour(drawing.shades[n]),
                places[n].seed,
            )
            for n in order
        ],
        labels=_labels(drawing),
        legend=drawing.legend(),
        quiet=_QUIET,
    )


def map_png(found: TopicMap) -> bytes:
    """The same, ``PNG_WIDTH`` pixels wide. Letters are drawn with the fonts of the machine."""
    import resvg_py

    return bytes(resvg_py.svg_to_bytes(svg_string=map_svg(found).decode(), width=PNG_WIDTH, background="#ffffff"))


def map_html(found: TopicMap) -> tuple[bytes, str]:
    """A page that can be moved about and zoomed into, and the policy that it states itself: no script but its own."""
    drawing = Drawing(found)
    script = html.source("map.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    page = html.render(
        "map.html.j2",
        found=found,
        heading=_heading(found),
        policy=policy,
        data=_as_data(_document(drawing)),
        script=Markup(script),
        legend=drawing.legend(),
        listed=sorted(found.places, key=lambda place: -place.relevance)[:LISTED],
        relevant=sum(place.relevance >= found.threshold for place in found.places),
    )
    return page, policy


def _heading(found: TopicMap) -> str:
    about = found.info.topic or "crawl"
    return f"{about}, around {found.site}" if found.site else about


def _document(drawing: Drawing) -> dict[str, Any]:
    """What the script draws; texts of the web are values here, and text nodes later."""
    found = drawing.found
    return {
        "threshold": found.threshold,
        "scale": _SCALE,
        "quiet": _QUIET,
        "box": drawing.box,
        "sites": [html.clip(site, 80) for site in found.sites],
        "middles": [(html.clip(name, 80), x, y, count) for name, x, y, count in drawing.site_middles],
        "places": [
            (x, y, drawing.radii[n], drawing.shades[n], place.site, place.parent, int(place.seed),
             round(place.relevance, 4), place.depth, html.clip(place.title, 120), place.url if html.is_web(place.url) else "")
            for n, (place, (x, y)) in enumerate(zip(found.places, drawing.at, strict=True))
        ],
        "edges": [number for edge in found.edges for number in edge],
    }  # fmt: skip


def _as_data(document: Any) -> Markup:
    """JSON inside a script element: whatever could end the element, or begin a comment in it, is written as an escape."""
    text = orjson.dumps(document).decode()
    for letter in "<>&\u2028\u2029":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return Markup(text)


def _segment(start: tuple[float, float], end: tuple[float, float]) -> str:
    return f"M{start[0]:g} {start[1]:g}L{end[0]:g} {end[1]:g}"


def _colour(shade: int) -> str:
    return _QUIET if shade < 0 else _SCALE[shade]


def _labels(drawing: Drawing) -> list[tuple[str, float, float, str]]:
    """Class, place and text of the labels: names of sites first, then titles of the best pages, where there is room."""
    left, _, width, _ = drawing.box
    tall = max(7.0, width / 125)  # of the letters
    taken: list[tuple[float, float, float, float]] = []
    labels = []

    def put(kind: str, x: float, y: float, text: str, size: float) -> None:
        half = len(text) * size * 0.29
        x = min(max(x, left + half), left + width - half)
        box = (x - half, y - size, x + half, y + size * 0.4)
        if not any(box[0] < b[2] and b[0] < box[2] and box[1] < b[3] and b[1] < box[3] for b in taken):
            taken.append(box)
            labels.append((kind, x, y, text))

    for name, x, y, count in drawing.site_middles[: LABELLED_SITES // 2]:
        if count >= max(2, len(drawing.at) // 200):
            put("site", x, y, html.clip(name, 40), tall * 1.15)
    places = drawing.found.places
    best = sorted(range(len(places)), key=lambda number: -places[number].relevance)[:LABELLED_PAGES]
    for number in best:
        if places[number].relevance >= drawing.found.threshold:
            x, y = drawing.at[number]
            put(
                "page",
                x,
                y - drawing.radii[number] - 2,
                html.clip(places[number].title or places[number].url, 36),
                tall,
            )
    return labels
