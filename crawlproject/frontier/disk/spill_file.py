"""The file of the sorted runs of a frontier on disk."""

from __future__ import annotations

import os
from collections import defaultdict
from pathlib import Path

from crawlproject.errors import StorageFailed

_SMALLEST_BLOCK = 1024  # bytes


class SpillFile:
    """The file of the sorted runs: blocks of powers of two, reused when freed. It is removed on closing.

    Raises ``StorageFailed``.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._free: dict[int, list[int]] = defaultdict(list)
        self._end = 0
        self._serial = 0
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise StorageFailed(f"cannot open {path}: {error}") from error

    def write(self, data: bytes) -> int:
        """Store ``data``; its offset."""
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
        """A number that grows: the age of runs."""
        self._serial += 1
        return self._serial

    def read(self, offset: int, size: int) -> bytes:
        return os.pread(self._file, size, offset)

    def free(self, offset: int, size: int) -> None:
        self._free[_block(size)].append(offset)

    def size(self) -> int:
        """Bytes on disk."""
        return self._end

    def close(self) -> None:
        os.close(self._file)
        self.path.unlink(missing_ok=True)


def _block(size: int) -> int:
    return max(_SMALLEST_BLOCK, 1 << (size - 1).bit_length())
