"""Draws a topical map as HTML, SVG or PNG: relevant pages are highlighted, and the pages of a site lie together.

Size and colour show relevance; the scale from pale to dark is also readable in greyscale. Positions are computed here, so
all three formats show the same drawing.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
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

UNIT = 10.0  # mean distance between neighbours in units of the drawing
LABELLED_SITES = 30  # sites whose names are drawn; half as many in the static drawing
LABELLED_PAGES = 40  # pages whose titles are drawn if there is room
LISTED = 40  # pages in the list below the drawing
ASPECT = 1.8  # width over height of the drawing, about that of a window
_MARGIN = 24.0  # largest margin of the static drawing, for labels of nodes at the edge
_COVERED = 2  # most dots that the title of a page may cover
_FIRST = 3  # best pages, whose titles may cover any number of dots
_SCALE = ("#fdd9b5", "#f9b27c", "#ee8336", "#c85200", "#8a3600", "#4d1d00")  # one hue, pale to dark
_QUIET = "#c3cad2"  # a page that is not relevant
_DARK_SCALE = (
    "#4f3017",
    "#7d460f",
    "#b0620f",
    "#e07f2c",
    "#f7b27c",
    "#ffe6cc",
)  # the same on dark ground, dark to pale
_DARK_QUIET = "#58636f"
PNG_WIDTH = 2_000  # pixels
FORMATS = (".html", ".svg", ".png")


@dataclass(frozen=True)
class Drawing:
    """A map with a position for each node, in units of the drawing (``UNIT``)."""

    found: TopicMap

    @cached_property
    def top(self) -> float:
        """The relevance at the dark end of the scale: that of the best page, but at least 0.05 above the threshold."""
        best = max((node.relevance for node in self.found.nodes), default=0.0)
        return max(best, self.found.threshold + 0.05)

    @cached_property
    def shades(self) -> list[int]:
        return [shade_of(node.relevance, self.found.threshold, self.top) for node in self.found.nodes]

    @cached_property
    def radii(self) -> list[float]:
        return [round(radius_of(node.relevance, self.found.threshold, self.top), 2) for node in self.found.nodes]

    def legend(self) -> list[tuple[str, float, str]]:
        """Return colour, radius and label of each entry of the legend."""
        low, high = self.found.threshold, self.top
        marks = [low, (low + high) / 2, high]
        shown = [(_colour(shade_of(x, low, high)), radius_of(x, low, high), f"relevance {x:.2f}") for x in marks]
        return [(_QUIET, 2.0, "not relevant"), *shown]

    @cached_property
    def positions(self) -> list[tuple[float, float]]:
        """The centre of each node."""
        nodes = self.found.nodes
        points = layout(
            [node.parent for node in nodes],
            np.array(self.found.edges, dtype=np.int64).reshape(-1, 2),
            [node.site for node in nodes],
            sizes=[radius / UNIT for radius in self.radii],
            aspect=ASPECT,
        )
        return [(round(float(x), 1), round(float(y), 1)) for x, y in points * UNIT]

    @cached_property
    def extent(self) -> tuple[float, float, float, float]:
        """Left, top, width and height of the rectangle around all nodes."""
        if not self.positions:
            return 0.0, 0.0, 400.0, 300.0
        xs, ys = zip(*self.positions, strict=True)
        radius = max(self.radii)
        left, top = min(xs) - radius, min(ys) - radius
        return left, top, max(xs) + radius - left, max(ys) + radius - top

    @cached_property
    def box(self) -> tuple[float, float, float, float]:
        """The same with a margin, for the static drawing."""
        left, top, width, height = self.extent
        margin = min(_MARGIN, 7.0 + max(width, height) / 20)  # a small map should fill the drawing
        return left - margin, top - margin, width + 2 * margin, height + 2 * margin

    @cached_property
    def site_labels(self) -> list[tuple[str, float, float, int]]:
        """Name, median position and number of nodes of each of the largest sites."""
        members: dict[int, list[tuple[float, float]]] = {}
        for node, point in zip(self.found.nodes, self.positions, strict=True):
            members.setdefault(node.site, []).append(point)
        labels = []
        for site in sorted(members)[:LABELLED_SITES]:
            x, y = np.median(members[site], axis=0)
            labels.append((self.found.sites[site], round(float(x), 1), round(float(y), 1), len(members[site])))
        return labels


def shade_of(relevance: float, low: float, high: float) -> int:
    """Return the step on the scale from ``low`` to ``high``, 0 to 5; -1 for an irrelevant page."""
    if relevance < low:
        return -1
    return min(len(_SCALE) - 1, int((relevance - low) / (high - low) * len(_SCALE)))


def radius_of(relevance: float, low: float, high: float) -> float:
    """Return the radius of a node: small for an irrelevant page; for all others it grows with relevance."""
    return 2.0 if relevance < low else 3.0 + 3.6 * min(1.0, (relevance - low) / (high - low)) ** 0.5


def write_map(found: TopicMap, path: Path) -> Path:
    """Write the map in the format given by the suffix of ``path``.

    Raises ``BadInput`` for a suffix not in ``FORMATS``, and ``StorageFailed``.
    """
    kind = path.suffix.lower()
    if kind not in FORMATS:
        raise BadInput(f"--out {path}", f"expected a file name ending in {', '.join(FORMATS)}")
    if kind == ".html":
        content = map_html(found)[0]
    elif kind == ".svg":
        content = map_svg(found)
    else:
        content = map_png(found)
    write_atomically(path, [content], sync=False)
    return path


def map_svg(found: TopicMap) -> bytes:
    """Return the map as SVG, labelled with the names of sites and the titles of the best pages."""
    drawing = Drawing(found)
    at, nodes = drawing.positions, found.nodes
    order = sorted(range(len(nodes)), key=lambda number: nodes[number].relevance)
    large = max(1.0, drawing.box[2] / 900)  # keeps relevant pages visible among thousands
    return html.render(
        "map.svg.j2",
        box=drawing.box,
        heading=_heading(found),
        edges=Markup("".join(_segment(at[a], at[b]) for a, b in found.edges)),
        paths=Markup("".join(_segment(at[p.parent], at[n]) for n, p in enumerate(nodes) if p.parent >= 0)),
        dots=[
            (
                at[n],
                drawing.radii[n] * (large if drawing.shades[n] >= 0 else 1.0),
                _colour(drawing.shades[n]),
                nodes[n].seed,
            )
            for n in order
        ],
        labels=_labels(drawing),
        legend=drawing.legend(),
        quiet=_QUIET,
    )


def map_png(found: TopicMap) -> bytes:
    """Return the same as PNG, ``PNG_WIDTH`` pixels wide, with the fonts installed on this machine."""
    import resvg_py

    return bytes(resvg_py.svg_to_bytes(svg_string=map_svg(found).decode(), width=PNG_WIDTH, background="#ffffff"))


def map_html(found: TopicMap) -> tuple[bytes, str]:
    """Return the map as an interactive page, and its content security policy, which allows only the script of the page."""
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
        legend=[(_shade_name(colour), radius, text) for colour, radius, text in drawing.legend()],
        scale=_SCALE,
        dark_scale=_DARK_SCALE,
        quiet=_QUIET,
        dark_quiet=_DARK_QUIET,
        listed=sorted(found.nodes, key=lambda node: -node.relevance)[:LISTED],
        relevant=sum(node.relevance >= found.threshold for node in found.nodes),
    )
    return page, policy


def _heading(found: TopicMap) -> str:
    topic = found.info.topic or "crawl"
    return f"{topic}, around {found.site}" if found.site else topic


def _document(drawing: Drawing) -> dict[str, Any]:
    """Return the data that the script draws; the script puts text from the web only into text nodes."""
    found = drawing.found
    return {
        "threshold": found.threshold,
        "box": drawing.extent,
        "sites": [html.clip(site, 80) for site in found.sites],
        "labels": [(html.clip(name, 80), x, y, count) for name, x, y, count in drawing.site_labels],
        "nodes": [
            (x, y, drawing.radii[n], drawing.shades[n], node.site, node.parent, int(node.seed),
             round(node.relevance, 4), node.depth, html.clip(node.title, 120), node.url if html.is_web(node.url) else "")
            for n, (node, (x, y)) in enumerate(zip(found.nodes, drawing.positions, strict=True))
        ],
        "edges": [number for edge in found.edges for number in edge],
    }  # fmt: skip


def _as_data(document: Any) -> Markup:
    """Return JSON for a script element; all characters that could end the element or begin a comment are escaped."""
    text = orjson.dumps(document).decode()
    for letter in "<>&\u2028\u2029":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return Markup(text)


def _segment(start: tuple[float, float], end: tuple[float, float]) -> str:
    return f"M{start[0]:g} {start[1]:g}L{end[0]:g} {end[1]:g}"


def _shade_name(colour: str) -> str:
    """Return the name of a colour in the style sheet, which has light and dark variants."""
    return f"--shade{_SCALE.index(colour)}" if colour in _SCALE else "--quiet"


def _colour(shade: int) -> str:
    return _QUIET if shade < 0 else _SCALE[shade]


def _labels(drawing: Drawing) -> list[tuple[str, float, float, str]]:
    """Return class, position and text of the labels: names of sites first, then titles of the best pages.

    A label goes to that one of a few places that covers the fewest dots and no other label; if there is none, it is left out.
    """
    nodes = drawing.found.nodes
    left, _, width, _ = drawing.box
    letter = max(5.5, width / 125)  # height
    dots = np.array([(*at, radius) for at, radius in zip(drawing.positions, drawing.radii, strict=True)]).reshape(-1, 3)
    taken: list[tuple[float, float, float, float]] = []
    labels = []

    def covered(box: tuple[float, float, float, float]) -> int:
        aside = np.maximum(np.maximum(box[0] - dots[:, 0], dots[:, 0] - box[2]), 0.0)
        above = np.maximum(np.maximum(box[1] - dots[:, 1], dots[:, 1] - box[3]), 0.0)
        return int((aside**2 + above**2 < dots[:, 2] ** 2).sum())

    def put(kind: str, x: float, heights: Sequence[float], text: str, size: float, most: float = np.inf) -> None:
        half = len(text) * size * 0.31
        x = min(max(x, left + half), left + width - half)
        boxes = [(y, (x - half, y - size, x + half, y + size * 0.4)) for y in heights]
        free = [
            (covered(box), abs(y - heights[0]), y, box)
            for y, box in boxes
            if not any(box[0] < b[2] and b[0] < box[2] and box[1] < b[3] and b[1] < box[3] for b in taken)
        ]
        if free and (best := min(free))[0] <= most:
            taken.append(best[3])
            labels.append((kind, x, best[2], text))

    for name, x, y, count in drawing.site_labels[: LABELLED_SITES // 2]:
        if count >= max(2, len(nodes) // 200):
            steps = [y + letter * step for step in (0.4, -1.2, 2.0, -2.8, 3.6)]
            put("site", x, steps, html.clip(name, 40), letter * 1.15)
    best = sorted(range(len(nodes)), key=lambda number: -nodes[number].relevance)[:LABELLED_PAGES]
    for rank, number in enumerate(best):
        if nodes[number].relevance >= drawing.found.threshold:
            x, y = drawing.positions[number]
            text = html.clip(nodes[number].title or nodes[number].url, 36)
            radius = drawing.radii[number] + 1
            put("page", x, [y - radius - 1, y + radius + letter], text, letter, _COVERED if rank >= _FIRST else np.inf)
    return labels
