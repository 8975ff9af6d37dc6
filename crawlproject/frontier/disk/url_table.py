"""The state of each URL in 24 bytes, by the URL's number."""

from __future__ import annotations

import mmap
import struct
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from crawlproject.frontier.disk.mapped_file import MappedFile, by_piece
from crawlproject.records import ACTIVE, WASTE

try:
    from crawlproject.frontier.disk import url_rows
except Exception:  # not built, or in a zip file
    url_rows = None  # type: ignore[assignment]

SHARED, LEASED, DONE, GONE, PAGED, HELD, LATER = range(1, 8)
"""States: in the shared queue, being fetched, known for ever, unknown again; in the queue of its host, held
there; in the calendar. Those that wait may be taken for one another: an opening makes all queues anew."""

WAITING = frozenset((SHARED, PAGED, HELD, LATER))
UNKNOWN = frozenset((0, GONE))

_CLASS_AT = 4  # the bit where the class begins, as a number beyond ``ACTIVE``: 0 in rows of earlier versions
_STATE = (1 << _CLASS_AT) - 1
_CLASS = 2**32 - 1 - _STATE
CLASS_BITS = [(precedence - ACTIVE & _STATE) << _CLASS_AT for precedence in range(WASTE + 1)]
"""What a class adds to a state."""
_CLASS_OF = {bits: precedence for precedence, bits in enumerate(CLASS_BITS)}
_STANDINGS = np.zeros(1 << 2 * _CLASS_AT, bool)
_STANDINGS[[bits | state for bits in CLASS_BITS for state in range(LATER + 1)]] = True

Row = tuple[float, int, int, int]
"""A ``UrlRow`` without names, which takes an eighth of the time to make."""

ROW = struct.Struct("<dQII")
NUMBERED_ROW = struct.Struct("<QdQII")
_BITS = 16
_ROWS_A_PIECE = 1 << _BITS  # 1.5 MiB
_INSIDE = _ROWS_A_PIECE - 1
_AHEAD = 4  # pieces that are requested from the disk before they are read
DTYPE = np.dtype([("score", "<f8"), ("offset", "<u8"), ("host", "<u4"), ("standing", "<u4")])


class UrlRow(NamedTuple):
    """``score``; ``offset`` of the record (``url_records``); number of the ``host``; ``standing``: state and class together."""

    score: float
    offset: int
    host: int
    standing: int

    @property
    def state(self) -> int:
        return self.standing & _STATE

    @property
    def precedence(self) -> int:
        return _CLASS_OF[self.standing & _CLASS]


def states_of(rows: np.ndarray) -> np.ndarray:
    """The states of many rows."""
    return rows["standing"] & _STATE


def in_states(rows: np.ndarray, states: Collection[int]) -> np.ndarray:
    """For each of many rows, whether it is in one of the states."""
    return np.array([state in states for state in range(_STATE + 1)])[states_of(rows)]


def have_a_meaning(rows: np.ndarray) -> np.ndarray:
    """For each of many rows, whether its state and class exist."""
    standings = rows["standing"]
    return _STANDINGS[standings & len(_STANDINGS) - 1] & (standings < len(_STANDINGS))


def classes_of(rows: np.ndarray) -> np.ndarray:
    """The classes of many rows."""
    return (rows["standing"] >> _CLASS_AT) + ACTIVE & _STATE


def with_state(standing: Any, state: int) -> Any:
    """The same class with another state, for one row or for many."""
    return standing & _CLASS | state


class UrlTable:
    """Rows by number. Rows that the step under way has changed are in ``changed`` until ``apply`` writes them.

    Raises ``StorageFailed``.
    """

    def __init__(self, path: Path, *, readonly: bool = False) -> None:
        self._file = MappedFile(path, _ROWS_A_PIECE * ROW.size, readonly=readonly)
        self._maps = self._file.maps
        self.give_back = self._file.give_back
        self.sync = self._file.sync
        self.close = self._file.close
        self.changed: dict[int, Row] = {}
        self._last = -1  # the number of the row that was read last
        self._last_row = UrlRow(0.0, 0, 0, 0)

    def __getitem__(self, number: int) -> UrlRow:
        row = self.changed.get(number)
        if row is not None:
            return UrlRow(*row)
        if number != self._last:  # the row of a URL is needed several times in succession
            self._last_row = UrlRow(*ROW.unpack_from(self._maps[number >> _BITS], (number & _INSIDE) * 24))
            self._last = number
        return self._last_row

    def __setitem__(self, number: int, row: UrlRow) -> None:
        self.changed[number] = row

    def matches(self, number: int, score: float, standing: int) -> bool:
        """Whether the URL is in this state and class, with this score."""
        row = self.changed.get(number)
        if row is None:
            if url_rows is not None:
                return url_rows.matches(self._maps, number, score, standing)
            row = ROW.unpack_from(self._maps[number >> _BITS], (number & _INSIDE) * 24)
        return row[3] == standing and row[0] == score

    def match_many(
        self, numbers: np.ndarray, scores: np.ndarray | None, states: Collection[int], precedence: int | None = None
    ) -> np.ndarray:
        """For each URL, whether it is in one of the states; True if the step under way has changed it.

        Without ``scores``, any score matches; without ``precedence``, any class.
        """
        found = np.empty(len(numbers), bool)
        if url_rows is not None:
            bits = sum(1 << state for state in states)
            wanted = -1 if precedence is None else CLASS_BITS[precedence]
            url_rows.match_many(self._maps, self.changed, numbers, scores, bits, wanted, found.view(np.uint8))
        else:
            self._match_many(numbers, scores, states, precedence, found)
        return found

    def many(self, numbers: np.ndarray) -> np.ndarray:
        """Copies of the rows of many URLs, none of which the step under way has changed."""
        found = np.empty(len(numbers), DTYPE)
        for piece, inside in by_piece(numbers, _BITS):
            found[inside] = self._array(piece)[numbers[inside] & _INSIDE]
        return found

    def set_state(self, number: int, state: int) -> None:
        score, offset, host, standing = self[number]
        self.changed[number] = score, offset, host, standing & _CLASS | state

    def pack(self) -> bytes:
        """The changed rows, each after its number (8 bytes), in the order of ``changed``."""
        if url_rows is not None:
            return url_rows.pack(self.changed)
        return b"".join([NUMBERED_ROW.pack(number, *row) for number, row in self.changed.items()])

    def apply(self, packed: bytes) -> None:
        """Write the changed rows, as ``pack`` returned them. If the disk is full, they stay changed."""
        self._last = -1
        maps = self._maps
        while max(self.changed, default=-1) >= len(maps) << _BITS:
            self._file.grow()
        if url_rows is not None:
            url_rows.store(maps, packed)
        else:
            for place, number in enumerate(self.changed):
                at = (number & _INSIDE) * ROW.size
                start = place * NUMBERED_ROW.size
                maps[number >> _BITS][at : at + ROW.size] = packed[start + 8 : start + NUMBERED_ROW.size]
        self.changed.clear()

    def chunks(self, end: int) -> Iterator[tuple[int, np.ndarray]]:
        """The rows before number ``end`` as writable arrays, each with the number of its first row."""
        pieces = min(len(self._maps), (end + _ROWS_A_PIECE - 1) >> _BITS)
        for piece in range(pieces):
            self._maps[min(piece + _AHEAD, pieces - 1)].madvise(mmap.MADV_WILLNEED)  # otherwise it is read page by page
            first = piece << _BITS
            yield first, self._array(piece)[: end - first]

    def snapshot(self, end: int) -> Iterator[tuple[int, np.ndarray]]:
        """The rows before ``end`` with all changes, for reading: arrays, each with the number of its first row."""
        changed = sorted(self.changed.items())
        at = 0
        for first, rows in self.chunks(end):
            if at < len(changed) and changed[at][0] < first + len(rows):
                rows = rows.copy()
            while at < len(changed) and changed[at][0] < first + len(rows):
                number, row = changed[at]
                rows[number - first] = row
                at += 1
            yield first, rows
        if at < len(changed):  # rows that the file has no space for yet; their numbers are the last ones, without gaps
            yield changed[at][0], np.array([row for _, row in changed[at:]], DTYPE)

    def pieces(self) -> int:
        return len(self._maps)

    def capacity(self) -> int:
        """The number of rows that the file has space for."""
        return len(self._maps) << _BITS

    def wipe(self, start: int) -> int:
        """Zero all rows from number ``start`` on. Return the first number that is certain to have no row."""
        self._last = -1
        for piece in range(start >> _BITS, len(self._maps)):
            self._array(piece)[max(0, start - (piece << _BITS)) :] = (0.0, 0, 0, 0)
        return max(start, self.capacity())

    def set_states(self, numbers: np.ndarray, state: int) -> None:
        """Write the state of many rows at once, without the journal."""
        self._last = -1
        for piece, inside in by_piece(numbers, _BITS):
            standings, places = self._array(piece)["standing"], numbers[inside] & _INSIDE
            standings[places] = with_state(standings[places], state)

    def _match_many(
        self,
        numbers: np.ndarray,
        scores: np.ndarray | None,
        states: Collection[int],
        precedence: int | None,
        found: np.ndarray,
    ) -> None:
        """``url_rows.match_many`` without compiled code."""
        for piece, inside in by_piece(numbers, _BITS):
            if piece >= len(self._maps):
                found[inside] = True
                continue
            rows = self._array(piece)[numbers[inside] & _INSIDE]
            found[inside] = in_states(rows, states)
            if precedence is not None:
                found[inside] &= classes_of(rows) == precedence
            if scores is not None:
                found[inside] &= rows["score"] == scores[inside]
        if self.changed:
            found |= np.isin(numbers, np.fromiter(self.changed, np.int64, len(self.changed)))

    def _array(self, piece: int) -> np.ndarray:
        return np.frombuffer(self._maps[piece], DTYPE)
