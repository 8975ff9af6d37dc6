"""A chart as an SVG file of its own, with its heading, its legend and its colours."""

from __future__ import annotations

from pathlib import Path

from markupsafe import Markup

from crawlproject.appendlog import write_atomically
from crawlproject.reports.html import render
from crawlproject.reports.plots import HEIGHT, WIDTH, Chart

_HEADING, _ROW, _COLUMNS = 24, 18, 3  # heights in units of the drawing; entries of the legend in a row


def write_figure(heading: str, chart: Chart, path: Path) -> None:
    """Raises ``StorageFailed``."""
    write_atomically(path, [figure(heading, chart)], sync=False)


def figure(heading: str, chart: Chart) -> bytes:
    """The drawing below its heading, the legend below the drawing."""
    top = _HEADING + HEIGHT + _ROW // 2
    legend = [
        (style, name, 10 + number % _COLUMNS * (WIDTH // _COLUMNS), top + number // _COLUMNS * _ROW)
        for number, (style, name) in enumerate(chart.legend)
    ]
    placed = chart.svg.replace("<svg ", Markup(f'<svg y="{_HEADING}" width="{WIDTH}" height="{HEIGHT}" '), 1)
    bottom = max((y for *_, y in legend), default=top - _ROW) + _ROW
    return render("figure.svg.j2", width=WIDTH, height=bottom, heading=heading, drawing=Markup(placed), legend=legend)
