"""The entries of a ``SpilledQueue`` that are in memory."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from heapq import heapify, heappop, heappush

Entry = tuple[float, int]  # rank and number of a URL: least first, then first come
ENTRY = struct.Struct("<dq")


class PlainEntryHeap:
    """A min-heap of entries. ``packed_heap.PackedHeap`` is the same in compiled code, at 16 bytes an entry."""

    __slots__ = ("_entries",)

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        self._entries = list(entries)
        heapify(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def push(self, entry: Entry) -> int:
        """Add an entry; how many there are then."""
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
        """All entries, the least first."""
        return b"".join([ENTRY.pack(*entry) for entry in sorted(self._entries)])
