"""Columns of numbers, a row a page, which grow with the collection: a few bytes a page instead of an object."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.floating[Any]]
FIRST = 1024  # rows that are allocated at once


class Table:
    """Named columns of one length. ``Table(last=("f8", 0))`` has a column ``last`` of doubles, 0 in new rows.

    ``table["last"]`` is a view of the rows in use: valid until the next ``grow``.
    """

    def __init__(self, **columns: tuple[str, float]) -> None:
        self.rows = 0
        self._fill = {name: fill for name, (_, fill) in columns.items()}
        self._data: dict[str, npt.NDArray[Any]] = {
            name: np.full(FIRST, fill, dtype=kind) for name, (kind, fill) in columns.items()
        }

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        return self._data[name][: self.rows]

    def grow(self, rows: int) -> None:
        """Make room for ``rows`` rows in all; fewer than there are change nothing."""
        if rows <= self.rows:
            return
        self.rows = rows
        for name, column in self._data.items():
            if rows > len(column):
                larger = np.full(max(rows, len(column) * 3 // 2), self._fill[name], dtype=column.dtype)
                larger[: len(column)] = column
                self._data[name] = larger

    def repeat(self, rows: int) -> None:
        """Grow to ``rows`` rows, by the values of the present ones over and over. For measurements."""
        present = self.rows
        self.grow(rows)
        for column in self._data.values():
            column[present:rows] = np.resize(column[:present], rows - present)

    @property
    def bytes_per_row(self) -> int:
        return sum(column.itemsize for column in self._data.values())
