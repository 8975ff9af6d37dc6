"""A map from digests to numbers on disk: exact, of constant speed, and never rebuilt as a whole.

Extendible hashing (Fagin et al. 1979): a directory in memory maps the first bits of a key to a segment of 4,096 slots. A
segment that fills up is split into two; nothing else moves, so growing never takes longer than one split (under a
millisecond), where doubling a table of 10^8 slots takes 9 seconds.

Of the 128 bits of a key, 88 are compared (64 in the slot's first word, 24 in its second, beside the number). The probability
that two of 10^9 URLs agree in all 88 is 2 in 10^9; with 64 bits, it would be 3 in 100.
"""

from __future__ import annotations

import struct
from array import array
from pathlib import Path
from typing import TypeAlias

import numpy as np

from crawlproject.errors import BadCrawlDir, trying_to
from crawlproject.frontier.disk.mapped_file import MappedFile
from crawlproject.frontier.disk.url_records import REMEDY

try:
    from crawlproject.frontier.disk import hash_slots
except Exception:  # not built, or in a zip file
    hash_slots = None  # type: ignore[assignment]

_SLOTS = 4096  # in a segment; a slot is 16 bytes, so a segment is 64 KiB
_FULL = 2700  # entries at which a segment is split: linear probing is quick up to two thirds
_SEGMENT = 16 * _SLOTS
_SEGMENTS_A_PIECE = 32
_HEADERS_A_PIECE = 8192  # 8 bytes each

_DEPTH_SHIFT = 32  # in a header; the prefix is in the lower bits
_PREFIX = (1 << _DEPTH_SHIFT) - 1
_DEEPEST = 28  # the most bits of a key that tell segments apart
_IN_USE = 1 << 63
_NUMBER_BITS = 40
_NUMBER = (1 << _NUMBER_BITS) - 1
_TAG = 0xFFFFFF

_KEY = struct.Struct("<QQ")

Memtable: TypeAlias = "hash_slots.Memtable | dict[bytes, int]"
"""Digests of 16 bytes to numbers from 0 to 2^40 - 2, in memory; a ``dict`` without compiled code."""


def new_memtable(like: int = 0) -> Memtable:
    """An empty memtable with room for ``like`` digests."""
    return {} if hash_slots is None else hash_slots.Memtable(like)


class HashTable:
    """Digests of 16 bytes to numbers from 0 to 2^40 - 2, in ``path`` and ``path`` + ``.map``.

    ``merge`` writes whole pages, in an order in which no entry follows a slot that is still empty. A split writes the two halves
    elsewhere before it retires the whole segment. So the table is consistent after ``kill -9`` at any instruction. Raises
    ``StorageFailed`` when it cannot grow; the table is then as before. Raises ``BadCrawlDir`` when the headers of its segments
    contradict each other.
    """

    def __init__(self, path: Path, *, readonly: bool = False) -> None:
        self._readonly = readonly
        self._segments = MappedFile(path, _SEGMENT * _SEGMENTS_A_PIECE, readonly=readonly, maps_readonly=True)
        self._headers = MappedFile(path.with_name(f"{path.name}.map"), 8 * _HEADERS_A_PIECE, readonly=readonly)
        self._views: list[memoryview] = []  # one per segment, as 64-bit words
        self._places = array("Q")  # the memory addresses of the views
        self._marks: list[memoryview] = [memoryview(piece).cast("Q") for piece in self._headers.maps]
        self._counts = array("h")  # entries of each segment; -1: not counted since the opening
        self._free: list[int] = []
        self._depth = 0
        self._directory = array("i")  # compact: random look-ups in a scattered one would miss the CPU's cache
        for piece in self._segments.maps:
            self._view(piece)
        self.give_back = self._segments.give_back
        self._read_directory()

    def get(self, digest: bytes, memtables: tuple[Memtable, ...] = ()) -> int | None:
        """The number of this digest from the first memtable that has it, else from the table; None if there is none."""
        if hash_slots is not None:
            return hash_slots.find(memtables, self._places, self._directory, digest)  # type: ignore[arg-type]
        for memtable in memtables:
            if (number := memtable.get(digest)) is not None:
                return number
        words, slot, _, _ = self._slot(digest)
        value = words[slot + 1]
        return (value & _NUMBER) - 1 if value else None

    def merge(self, memtable: Memtable) -> None:
        """Set the numbers of a memtable, which replace those set before.

        A thread may merge while others ``get``, unless the memtable is a ``dict``.
        """
        assert not self._readonly
        if isinstance(memtable, dict):
            for digest, number in memtable.items():
                self._set(digest, number)
            return
        start: int | None = 0
        while start is not None:
            start = self._merge(memtable, start)

    def _merge(self, memtable: hash_slots.Memtable, start: int) -> int | None:
        """Merge from slot ``start`` of the memtable until a segment is full. Split that one, and return where to continue."""
        with trying_to("write to", self._segments.path):
            left = hash_slots.merge(
                self._segments.file, self._places, self._directory, self._counts, _FULL, memtable, start
            )
        if left is None:
            return None
        self._split((left[1] >> 36) & self._mask)
        return left[0]

    def _set(self, digest: bytes, number: int) -> None:
        words, slot, key, tag = self._slot(digest)
        if not words[slot + 1]:
            segment = self._segment(key)
            if self._counts[segment] < 0:
                self._counts[segment] = int(np.count_nonzero(np.frombuffer(words, np.uint64)[1::2]))
            if self._counts[segment] >= _FULL:
                self._split((key >> 36) & self._mask)
                self._set(digest, number)
                return
            self._counts[segment] += 1
        place = self._segment(key) * _SEGMENT + 8 * slot
        self._segments.write(place, _KEY.pack(key, tag << _NUMBER_BITS | (number + 1)))

    def _slot(self, digest: bytes) -> tuple[memoryview, int, int, int]:
        """The segment of a digest, its place in the segment (or where it would go), and the two parts that are compared."""
        key, other = _KEY.unpack(digest)
        words = self._views[self._segment(key)]
        tag = other & _TAG
        slot = _home(key)
        while value := words[slot + 1]:
            if words[slot] == key and value >> _NUMBER_BITS == tag:
                break
            slot = (slot + 2) & (2 * _SLOTS - 1)
        return words, slot, key, tag

    def _segment(self, key: int) -> int:
        return self._directory[(key >> 36) & self._mask]

    def pieces(self) -> int:
        return len(self._segments.maps) + len(self._headers.maps)

    def sync(self) -> None:
        self._segments.sync()
        self._headers.sync()

    def close(self) -> None:
        self._views.clear()
        self._places = array("Q")
        self._marks.clear()
        self._segments.close()
        self._headers.close()

    # ------------------------------------------------------------ the directory

    def _read_directory(self) -> None:
        """Read it from the headers. A segment next to one of its halves was about to be split: it still holds everything."""
        headers = [self._header(segment) for segment in range(len(self._views))]
        used = sorted((header >> _DEPTH_SHIFT & 0xFF, segment) for segment, header in enumerate(headers) if header)
        if any(depth > _DEEPEST or headers[segment] & _PREFIX >= 1 << depth for depth, segment in used):
            raise self._damage()
        self._free = [segment for segment, header in enumerate(headers) if not header]
        self._depth = used[-1][0] if used else 0
        self._directory = array("i", [-1]) * (1 << self._depth)
        for depth, segment in used:
            prefix = headers[segment] & _PREFIX
            places = range(prefix, 1 << self._depth, 1 << depth)
            if self._directory[prefix] >= 0:
                if not self._readonly:
                    self._mark(segment, 0)
                self._free.append(segment)
                continue
            for place in places:
                self._directory[place] = segment
        if used and min(self._directory) < 0:
            raise self._damage()
        self._mask = (1 << self._depth) - 1
        if not used and not self._readonly:
            first = self._new_segment()
            self._segments.write(first * _SEGMENT, bytes(_SEGMENT))
            self._counts[first] = 0
            self._mark(first, _IN_USE)
            self._directory = array("i", [first])

    def _damage(self) -> BadCrawlDir:
        return BadCrawlDir(str(self._headers.path), f"expected one segment for each prefix of the keys; {REMEDY}")

    def _split(self, place: int) -> None:
        """Split the segment at this place of the directory."""
        segment = self._directory[place]
        depth = self._header(segment) >> _DEPTH_SHIFT & 0xFF
        halves = self._new_segment(), self._new_segment()
        for bit, half in enumerate(halves):
            self._fill(half, segment, depth, bit)
        prefix = place & ((1 << depth) - 1)
        for bit, half in enumerate(halves):
            self._mark(half, _IN_USE | (depth + 1) << _DEPTH_SHIFT | bit << depth | prefix)
        self._mark(segment, 0)
        self._free.append(segment)
        if depth == self._depth:
            self._directory += self._directory
            self._depth += 1
            self._mask = (1 << self._depth) - 1
        for bit, half in enumerate(halves):
            for at in range(bit << depth | prefix, 1 << self._depth, 1 << (depth + 1)):
                self._directory[at] = half

    def _fill(self, segment: int, whole: int, depth: int, bit: int) -> None:
        """Fill a segment with those entries of a whole one whose keys have this bit at this depth."""
        if hash_slots is not None:
            with trying_to("write to", self._segments.path):
                count = hash_slots.fill(self._segments.file, segment, self._places, whole, depth, bit)
        else:
            words, old, count = array("Q", bytes(_SEGMENT)), self._views[whole], 0
            for at in range(0, 2 * _SLOTS, 2):
                if old[at + 1] and old[at] >> (36 + depth) & 1 == bit:
                    slot = _home(old[at])
                    while words[slot + 1]:
                        slot = (slot + 2) & (2 * _SLOTS - 1)
                    words[slot : slot + 2] = array("Q", old[at : at + 2])
                    count += 1
            self._segments.write(segment * _SEGMENT, words.tobytes())
        self._counts[segment] = count

    # ------------------------------------------------------------ segments

    def _new_segment(self) -> int:
        """A segment that is not in use yet; its content is arbitrary."""
        if not self._free:
            if len(self._views) + _SEGMENTS_A_PIECE > len(self._marks) * _HEADERS_A_PIECE:
                self._marks.append(memoryview(self._headers.grow()).cast("Q"))
            first = len(self._views)
            self._view(self._segments.grow())
            self._free.extend(reversed(range(first, len(self._views))))
        return self._free.pop()

    def _view(self, piece: object) -> None:
        whole = memoryview(piece).cast("Q")  # type: ignore[arg-type]
        place = np.frombuffer(whole, np.uint64).ctypes.data
        for start in range(0, len(whole), 2 * _SLOTS):
            self._views.append(whole[start : start + 2 * _SLOTS])
            self._places.append(place + 8 * start)
            self._counts.append(-1)

    def _header(self, segment: int) -> int:
        piece, place = divmod(segment, _HEADERS_A_PIECE)
        return self._marks[piece][place] if piece < len(self._marks) else 0

    def _mark(self, segment: int, header: int) -> None:
        piece, place = divmod(segment, _HEADERS_A_PIECE)
        self._marks[piece][place] = header


def _home(key: int) -> int:
    """The word of a segment where the slot of a key is, unless another key has taken it."""
    return 2 * ((key >> 24) & (_SLOTS - 1))
