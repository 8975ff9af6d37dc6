"""What has a digest has a number: a table on disk, behind memtables."""

from __future__ import annotations

from pathlib import Path

from crawlproject.frontier.disk.hash_table import HashTable, Memtable, new_memtable


class DigestNumbers:
    """Digests of 16 bytes to numbers from 0 to 2^40 - 2, in ``path`` and ``path`` + ``.map``.

    What is set is in memory until ``flush`` merges it into a ``HashTable``, in the order of its pages, as IRLbot's DRUM does (004
    section 2.3.2): one by one, new digests would change every page again and again. Until then a journal has to keep it. ``seal``
    says what the next flush is about, so that a thread may do it; a flush that failed is made up for by the next one.
    """

    def __init__(self, path: Path, *, readonly: bool = False) -> None:
        self._table = HashTable(path, readonly=readonly)
        self.pieces = self._table.pieces
        self.give_back = self._table.give_back
        self.close = self._table.close
        self._memtable = new_memtable()
        self._sealed: list[Memtable] = []  # the last one first

    def get(self, digest: bytes) -> int | None:
        """The number that was set for this digest, or None."""
        number = self._memtable.get(digest)
        if number is not None:
            return number
        for memtable in self._sealed:
            number = memtable.get(digest)
            if number is not None:
                return number
        return self._table.get(digest)

    def update(self, numbers: dict[bytes, int]) -> None:
        """Remember the numbers; they replace those that were set before."""
        self._memtable.update(numbers)

    def seal(self) -> None:
        """What was set so far is for the next flush. Raises ``StorageFailed``."""
        if isinstance(self._memtable, dict):  # no thread may do it
            self._table.merge(self._memtable)
            self._memtable.clear()
        else:
            self._sealed = [self._memtable, *self._sealed]
            self._memtable = new_memtable(len(self._memtable))

    def flush(self) -> None:
        """Merge what was sealed, and force it onto the disk. Raises ``StorageFailed``."""
        sealed = self._sealed
        for memtable in reversed(sealed):
            self._table.merge(memtable)
        self._table.sync()
        self._sealed = self._sealed[: -len(sealed)] if sealed else self._sealed
