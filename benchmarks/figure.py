"""A chart of the reports as a standalone SVG file, which includes the style sheet and the legend."""

from __future__ import annotations

from crawlproject.reports.plots import HEIGHT, WIDTH, Chart

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")  # Okabe and Ito's palette
LEGEND = 130  # width of the legend

STYLE = "".join(
    [
        "text{font:11px sans-serif;fill:#333}.grid{stroke:#ddd}.axis{stroke:#333}",
        ".line{fill:none;stroke-width:1.8}.d1{stroke-dasharray:6 3}.d2{stroke-dasharray:2 2}",
        *(f".c{number}{{stroke:{colour}}}" for number, colour in enumerate(COLOURS)),
    ]
)


def standalone(chart: Chart) -> str:
    """The text of an SVG file: the chart, and its legend to the right of it."""
    _, _, drawing = str(chart.svg).partition(">")
    entries = "".join(
        f'<path class="line {style}" d="M{WIDTH} {30 + 18 * row}h24"/>'
        f'<text x="{WIDTH + 30}" y="{34 + 18 * row}">{name}</text>'
        for row, (style, name) in enumerate(chart.legend)
    )
    size = f'width="{WIDTH + LEGEND}" height="{HEIGHT}" viewBox="0 0 {WIDTH + LEGEND} {HEIGHT}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img"><style>{STYLE}</style>'
        f'<rect width="100%" height="100%" fill="#fff"/>{entries}{drawing}\n'
    )
