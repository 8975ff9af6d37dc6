"""A map from digests to numbers: a table on disk, with memtables in front of it."""

from __future__ import annotations

from pathlib import Path

from crawlproject.frontier.disk.hash_table import HashTable, Memtable, new_memtable


class DigestNumbers:
    """Digests of 16 bytes to numbers from 0 to 2^40 - 2, in ``path`` and ``path`` + ``.map``.

    New numbers stay in memory until ``flush`` merges them into a ``HashTable`` in the order of its pages, as IRLbot's DRUM does
    (004 section 2.3.2): written one by one, new digests would change every page again and again. Until then a journal must keep
    them. ``seal`` fixes what the next flush merges, so that a thread may do it. A flush also merges what a failed one left.
    """

    def __init__(self, path: Path, *, readonly: bool = False) -> None:
        self._table = HashTable(path, readonly=readonly)
        self.pieces = self._table.pieces
        self.give_back = self._table.give_back
        self.close = self._table.close
        self._memtables: tuple[Memtable, ...] = (new_memtable(),)  # newest first; all but the first are sealed

    def get(self, digest: bytes) -> int | None:
        """The number of this digest, or None."""
        return self._table.get(digest, self._memtables)

    def update(self, numbers: dict[bytes, int]) -> None:
        """Set the numbers; they replace those set before."""
        self._memtables[0].update(numbers)

    def seal(self) -> None:
        """Leave everything set so far to the next flush. Raises ``StorageFailed``."""
        memtable = self._memtables[0]
        if isinstance(memtable, dict):  # a thread must not merge it
            self._table.merge(memtable)
            memtable.clear()
        else:
            self._memtables = (new_memtable(len(memtable)), *self._memtables)

    def flush(self) -> None:
        """Merge what was sealed, and force it onto the disk. Raises ``StorageFailed``."""
        _, *sealed = self._memtables
        for memtable in reversed(sealed):
            self._table.merge(memtable)
        self._table.sync()
        self._memtables = self._memtables[: len(self._memtables) - len(sealed)]
