"""The entries of a ``SpilledQueue``: the heap of those in memory, and the file of the sorted runs."""

from __future__ import annotations

import os
import struct
from collections import defaultdict
from collections.abc import Iterable
from heapq import heapify, heappop, heappush
from pathlib import Path

from crawlproject.errors import StorageFailed, trying_to
from crawlproject.frontier.disk.mapped_file import closer

Entry = tuple[float, int]  # rank and number of a URL: the least rank first, then the first arrival
ENTRY = struct.Struct("<dq")

_SMALLEST_BLOCK = 1024  # bytes


class SpillFile:
    """The file of the sorted runs: blocks whose sizes are powers of two, reused when freed. It is removed on closing.

    The content that a killed process left is overwritten, not cut off: to cut off gigabytes that are still on their way to the
    disk takes seconds. Raises ``StorageFailed``.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._free: dict[int, list[int]] = defaultdict(list)
        self._end = 0
        self._serial = 0
        with trying_to("open", path):
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
            self._close = closer(self, self._file)

    def write(self, data: bytes) -> int:
        """Store ``data``. Return its offset."""
        block = _block(len(data))
        if self._free[block]:
            offset = self._free[block].pop()
        else:
            offset, self._end = self._end, self._end + block
        try:
            if os.pwrite(self._file, data, offset) != len(data):
                raise OSError("the disk took only a part of it (is it full?)")
        except OSError as error:
            self._free[block].append(offset)
            raise StorageFailed(f"cannot write to {self.path}: {error}") from error
        return offset

    def count(self) -> int:
        """The serial number of a new run: older runs have lower numbers."""
        self._serial += 1
        return self._serial

    def read(self, offset: int, size: int) -> bytes:
        with trying_to("read", self.path):
            return os.pread(self._file, size, offset)

    def free(self, offset: int, size: int) -> None:
        self._free[_block(size)].append(offset)

    def size(self) -> int:
        """The size in bytes on disk."""
        return self._end

    def close(self) -> None:
        self._close()
        self.path.unlink(missing_ok=True)


def _block(size: int) -> int:
    return max(_SMALLEST_BLOCK, 1 << (size - 1).bit_length())


class PlainEntryHeap:
    """A min-heap of entries. ``packed_heap.PackedHeap`` is the same in compiled code, with 16 bytes per entry."""

    __slots__ = ("_entries",)

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        self._entries = list(entries)
        heapify(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def push(self, entry: Entry) -> int:
        """Add an entry. Return how many there are now."""
        heappush(self._entries, entry)
        return len(self._entries)

    def first(self) -> Entry | None:
        """The least entry; it stays inside."""
        return self._entries[0] if self._entries else None

    def pop(self) -> None:
        """Remove the least entry."""
        heappop(self._entries)

    def entries(self) -> list[Entry]:
        """All entries, in no order."""
        return list(self._entries)

    def packed(self) -> bytes:
        """All entries in ascending order, packed."""
        return b"".join([ENTRY.pack(*entry) for entry in sorted(self._entries)])
