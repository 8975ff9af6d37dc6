"""A log with a checksum for each line: if the disk flips a bit, the next opening notices it, and knows the line.

``items.sums`` beside ``items.jsonl`` contains four bytes of the XXH3 digest of each line. Lines without a sum are accepted as
they are: those that the sums lack after a power failure, and those of earlier versions. A line that only moved to another
place, because a line before it was removed, does not count as damaged.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from xxhash import xxh3_64_intdigest

from crawlproject.errors import trying_to
from crawlproject.storage.append_log import AppendLog

_SUM = np.dtype("<u4")
_BUFFER = 1 << 20


class CheckedLog(AppendLog):
    """Sums are compared, and maintained, from the first ``count`` on. Raises ``StorageFailed`` if they cannot be."""

    def __init__(self, path: Path) -> None:
        self._sums = -1
        self._lines = 0
        super().__init__(path)

    def count(self) -> int:
        """The number of lines. Reads the file, and sets ``damaged``."""
        with trying_to("read", self.path), self.path.open("rb", buffering=_BUFFER) as file:
            now = np.fromiter(map(_sum_of, file), _SUM)
        before = self._open_sums()
        both = min(len(now), len(before))
        changed = np.flatnonzero((now[:both] != before[:both]) & (before[:both] != 0))  # a power failure leaves zeros
        changed = changed[~np.isin(now[changed], before)]
        self.damaged = (changed + 1).tolist()
        self._lines = len(now)
        now[changed] = before[changed]  # the line counts as damaged until it is replaced
        if not np.array_equal(now, before):
            self._write_sums(now.tobytes(), 0)
        self._cut_sums()
        return self._lines

    def append_lines(self, lines: bytes) -> None:
        super().append_lines(lines)
        if self._sums >= 0:
            sums = np.fromiter(map(_sum_of, lines.splitlines(keepends=True)), _SUM)
            self._lines += len(sums)  # they are in the file, even if their sums are refused
            self._write_sums(sums.tobytes(), self._lines - len(sums))

    def trim(self, keep: Callable[[Any], bool]) -> int:
        removed = super().trim(keep)
        self._lines -= removed
        self._cut_sums()
        return removed

    def replace_all(self, steps: Iterable[Sequence[Any]]) -> None:
        super().replace_all(steps)
        self._lines = 0
        self._cut_sums()
        self.count()

    def close(self) -> None:
        super().close()
        if self._sums >= 0:
            os.close(self._sums)
            self._sums = -1

    def _open_sums(self) -> npt.NDArray[np.uint32]:
        """The sums in the file, which is opened if necessary."""
        with trying_to("read the sums of", self.path):
            if self._sums < 0:
                self._sums = os.open(self.path.with_suffix(".sums"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
            size = os.fstat(self._sums).st_size // _SUM.itemsize
            return np.frombuffer(os.pread(self._sums, size * _SUM.itemsize, 0), _SUM)

    def _write_sums(self, sums: bytes, line: int) -> None:
        with trying_to("write the sums of", self.path):
            if os.pwrite(self._sums, sums, line * _SUM.itemsize) != len(sums):
                raise OSError("the write was incomplete (is the disk full?)")

    def _cut_sums(self) -> None:
        if self._sums < 0:
            return
        with trying_to("cut the sums of", self.path):
            os.ftruncate(self._sums, self._lines * _SUM.itemsize)


def _sum_of(line: bytes) -> int:
    """The sum of a line, never 0."""
    return xxh3_64_intdigest(line) & 0xFFFFFFFF or 1
