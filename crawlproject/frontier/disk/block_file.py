"""A file of lines, compressed block by block, so that each line can be read on its own."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path

from crawlproject.errors import trying_to
from crawlproject.frontier.disk.mapped_file import closer
from crawlproject.zstandard import Packer, zstd

_INSIDE = 16  # bits of a virtual offset that hold the offset of a line in its block
_BLOCK = 1 << 14  # bytes of lines at which a block is full
_KEPT = 64  # blocks read last that are cached: the next URL of a host is often from the same page
_READ = 1 << 12  # bytes read at a time; most blocks have fewer


def place_of(offset: int) -> int:
    """Where in the file the block begins that contains the line at this virtual offset."""
    return offset >> _INSIDE


class BlockFile:
    """Lines, each at a *virtual offset* as in BGZF: the offset of its block in the file, and in the last 16 bits its offset in
    the block.

    A block is a Zstandard frame with a checksum: ``zstdcat`` shows all lines. It contains the lines that were added until
    ``write``, up to 16 KiB. These are the links of a page, which compress to a fifth of their size, as they share parent and
    host. Lines that are not written yet are found in memory. Raises ``StorageFailed``.
    """

    def __init__(self, path: Path, *, readonly: bool = False) -> None:
        self.path = path
        self.unwritten: dict[int, bytes] = {}  # lines by offset
        with trying_to("open", path):
            self._file = os.open(path, os.O_CLOEXEC | (os.O_RDONLY if readonly else os.O_RDWR | os.O_CREAT), 0o644)
            self.close = closer(self, self._file)
            self._written = os.fstat(self._file).st_size
        self._pack = Packer()
        self._blocks: list[bytes] = []  # full, but not written
        self._lines: list[bytes] = []  # of the block under way
        self._size = 0  # bytes of these
        self.end = self._written  # where the block under way will begin
        self._block = lru_cache(_KEPT)(self._read_block)

    def add(self, line: bytes) -> int:
        """Append a line, which must end with a line break. Return its virtual offset."""
        if self._size + len(line) > _BLOCK:
            self._close_block()
        offset = self.end << _INSIDE | self._size
        self.unwritten[offset] = line
        self._lines.append(line)
        self._size += len(line)
        return offset

    def line(self, offset: int) -> bytes:
        """The line at this virtual offset, without its line break. Raises ``ValueError`` if none can be read there."""
        line = self.unwritten.get(offset) if self.unwritten else None
        if line is not None:
            return line[:-1]
        place, inside = offset >> _INSIDE, offset & (1 << _INSIDE) - 1
        block = self._block(place)
        end = block.find(b"\n", inside)
        if end < 0:
            raise ValueError("no line begins there")
        return block[inside:end]

    def write(self) -> None:
        """Write the added lines. If the disk refuses, they stay in memory."""
        self._close_block()
        data = b"".join(self._blocks)
        with trying_to("write to", self.path):
            if os.pwrite(self._file, data, self._written) != len(data):
                raise OSError("the disk took only a part of it (is it full?)")
        self._written = self.end
        self._blocks.clear()
        self.unwritten.clear()

    def cut(self, end: int) -> None:
        """Remove what follows ``end``: blocks of a step that has not happened."""
        with trying_to("write to", self.path):
            os.ftruncate(self._file, end)
        self._written = self.end = end
        self._block.cache_clear()

    def sync(self) -> None:
        """Force what is written onto the disk."""
        with trying_to("write to", self.path):
            os.fsync(self._file)

    def _close_block(self) -> None:
        if self._lines:
            block = self._pack(b"".join(self._lines))
            self._blocks.append(block)
            self.end += len(block)
            self._lines, self._size = [], 0

    def _read_block(self, place: int) -> bytes:
        decompressor = zstd.ZstdDecompressor()
        found = b""
        try:
            while not decompressor.eof:
                with trying_to("read", self.path):
                    data = os.pread(self._file, _READ, place)
                if not data:
                    raise ValueError("the file ends inside a block")
                found += decompressor.decompress(data)
                place += len(data)
        except zstd.ZstdError as damage:
            raise ValueError(f"a damaged block: {damage}") from damage
        return found
