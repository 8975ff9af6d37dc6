"""A chart as an SVG file of its own, with its heading, its legend and its colours."""

from __future__ import annotations

from pathlib import Path

from markupsafe import Markup

from crawlproject.reports.html import render
from crawlproject.reports.plots import HEIGHT, WIDTH, Chart
from crawlproject.storage.append_log import write_atomically

_HEADING, _ROW = 24, 18  # heights in units of the drawing
_MARK, _LETTER = 44, 6.5  # widths: of a mark in the legend, of a letter


def write_figure(heading: str, chart: Chart, path: Path) -> None:
    """Raises ``StorageFailed``."""
    write_atomically(path, [figure(heading, chart)], sync=False)


def figure(heading: str, chart: Chart) -> bytes:
    """The drawing below its heading, the legend below the drawing."""
    top = _HEADING + HEIGHT + _ROW // 2
    widest = max((len(name) for _, name in chart.legend), default=0)
    columns = max(1, min(3, int(WIDTH // (_MARK + _LETTER * widest))))
    legend = [
        (style, name, 10 + number % columns * (WIDTH // columns), top + number // columns * _ROW)
        for number, (style, name) in enumerate(chart.legend)
    ]
    placed = chart.svg.replace("<svg ", Markup(f'<svg y="{_HEADING}" width="{WIDTH}" height="{HEIGHT}" '), 1)
    bottom = max((y for *_, y in legend), default=top - _ROW) + _ROW
    return render("figure.svg.j2", width=WIDTH, height=bottom, heading=heading, drawing=Markup(placed), legend=legend)
