"""The time before which each URL is not taken, in 8 bytes, by the URL's number."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from crawlproject.frontier.disk.mapped_file import MappedFile, by_piece

_BITS = 16
_TIMES_A_PIECE = 1 << _BITS  # 512 KiB; as many as the rows in a piece of ``url_table``
_INSIDE = _TIMES_A_PIECE - 1


class HoldTimes:
    """Times in seconds since the epoch; 0: the URL is not held. ``apply`` writes the times that the step under way changed.

    The file ends with the piece of the last URL that was ever held. Raises ``StorageFailed``.
    """

    def __init__(self, path: Path, *, readonly: bool = False) -> None:
        self._file = None if readonly and not path.exists() else MappedFile(path, 8 * _TIMES_A_PIECE, readonly=readonly)
        self._views = [memoryview(piece).cast("d") for piece in self._file.maps] if self._file else []
        self._changed: dict[int, float] = {}

    def __getitem__(self, number: int) -> float:
        if self._changed and (time := self._changed.get(number)) is not None:
            return time
        piece = number >> _BITS
        return self._views[piece][number & _INSIDE] if piece < len(self._views) else 0.0

    def __setitem__(self, number: int, until: float) -> None:
        self._changed[number] = until

    def many(self, numbers: np.ndarray) -> np.ndarray:
        """The times of many URLs."""
        found = np.zeros(len(numbers))
        for piece, inside in by_piece(numbers, _BITS) if self._views else ():
            if piece < len(self._views):
                found[inside] = np.asarray(self._views[piece])[numbers[inside] & _INSIDE]
        if self._changed:
            for place in np.flatnonzero(np.isin(numbers, list(self._changed))).tolist():
                found[place] = self._changed[int(numbers[place])]
        return found

    def apply(self) -> None:
        """Write the changed times. If the disk is full, they stay changed."""
        for number, until in self._changed.items():
            piece = number >> _BITS
            while until and piece >= len(self._views):
                assert self._file is not None
                self._views.append(memoryview(self._file.grow()).cast("d"))
            if piece < len(self._views):
                self._views[piece][number & _INSIDE] = until
        self._changed.clear()

    def wipe(self, start: int) -> None:
        """Hold no URL from number ``start`` on."""
        for piece in range(start >> _BITS, len(self._views)):
            for number in range(max(0, start - (piece << _BITS)), _TIMES_A_PIECE):
                self._views[piece][number] = 0.0

    def pieces(self) -> int:
        return len(self._views)

    def give_back(self) -> None:
        if self._file:
            self._file.give_back()

    def sync(self) -> None:
        if self._file:
            self._file.sync()

    def close(self) -> None:
        self._views.clear()
        if self._file:
            self._file.close()
