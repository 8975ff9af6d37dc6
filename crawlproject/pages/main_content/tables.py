"""Tables of data as tables of Markdown. A table that only arranges a page is none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

_MOST_COLUMNS = 40
_LONGEST_CELL = 300  # characters of a table of data
_PARTS = ("thead", "tbody", "tfoot")


def table_rows(table: Any) -> list[list[Any]]:
    """The cells of a table of at least two rows and two columns; empty for another."""
    rows: list[list[Any]] = []
    for part in table:
        if part.tag == "caption":
            return []  # Markdown has none: the table is written as text
        found = (part,) if part.tag == "tr" else part.iterchildren("tr") if part.tag in _PARTS else ()
        rows += [[cell for cell in row if cell.tag in ("td", "th")] for row in found]
    widest = max(map(len, rows), default=0)
    return rows if len(rows) > 1 and 2 <= widest <= _MOST_COLUMNS else []


def written_table(texts: Sequence[Sequence[str]], rows: Sequence[Sequence[Any]]) -> str:
    """A table with the texts of its cells. The first row is its head if it has a ``th``, or stands in a ``thead``."""
    filled = [(row, cells) for row, cells in zip(texts, rows, strict=True) if any(row)]
    if not filled or max(len(text) for row, _ in filled for text in row) > _LONGEST_CELL:
        return "\n\n".join(text for row, _ in filled for text in row if text)
    width = max(len(row) for row, _ in filled)
    first = filled[0][1]
    has_head = all(cell.tag == "th" for cell in first) or first[0].getparent().getparent().tag == "thead"
    lines = [row for row, _ in filled] if has_head else [[], *(row for row, _ in filled)]
    written = [_line(row, width) for row in lines]
    return "\n".join([written[0], "|" + " --- |" * width, *written[1:]])


def _line(row: Sequence[str], width: int) -> str:
    cells = [" ".join(text.replace("|", "\\|").split()) for text in row]
    return "| " + " | ".join(cells + [""] * (width - len(cells))) + " |"
