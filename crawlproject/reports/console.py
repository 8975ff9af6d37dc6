"""Consoles and tables for terminals; in a pipe, plain text without colours or frames."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TextIO

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

_PIPE_WIDTH = 10_000  # columns, so that lines do not wrap in a pipe


def console_for(stream: TextIO, pipe_width: int = _PIPE_WIDTH) -> Console:
    """A console on ``stream``; ``pipe_width`` is its width in columns when the stream is not a terminal."""
    terminal = stream.isatty()
    no_color = None if terminal else True  # None: as NO_COLOR and TERM ask for
    return Console(file=stream, width=None if terminal else pipe_width, highlight=False, no_color=no_color)


def framed_table(stream: TextIO) -> Table:
    """An empty table with bold headings, framed on a terminal."""
    frame = box.SIMPLE_HEAD if stream.isatty() else None
    return Table(box=frame, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")


def print_table(
    headings: Sequence[str], rows: Iterable[Sequence[str]], stream: TextIO, right: Sequence[int] = ()
) -> None:
    """Print rows below ``headings``; the columns numbered in ``right`` are right-aligned. Without headings, no frame."""
    table = framed_table(stream)
    if not any(headings):
        table.box, table.show_header = None, False
    for number, heading in enumerate(headings):
        table.add_column(heading, justify="right" if number in right else "left", overflow="fold")
    for row in rows:
        table.add_row(*map(Text, row))
    console_for(stream).print(table)
