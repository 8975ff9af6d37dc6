"""Files that are mapped into memory, grow piece by piece, and give the memory back; and limits for a frontier's memory."""

from __future__ import annotations

import mmap
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from weakref import finalize

import numpy as np

from crawlproject.errors import StorageFailed, trying_to


class MappedFile:
    """A file seen as equal pieces of ``piece`` bytes (a multiple of the page size), each mapped once and never moved.

    Growing never copies. The space is allocated on the disk first, so that a full disk is an error here and not a crash at
    the first write into a hole. Written data reaches the operating system at once and survives ``kill -9``. Readers open
    the file ``readonly``. ``maps_readonly``: the file is changed by ``write`` and through its descriptor ``file``, which costs
    less where many pages change at random. Raises ``StorageFailed``.
    """

    def __init__(self, path: Path, piece: int, *, readonly: bool = False, maps_readonly: bool = False) -> None:
        self.path = path
        self.piece = piece
        self.maps: list[mmap.mmap] = []
        self._access = mmap.ACCESS_READ if readonly or maps_readonly else mmap.ACCESS_WRITE
        with trying_to("open", path):
            if not readonly:
                path.parent.mkdir(parents=True, exist_ok=True)
            self.file = os.open(path, os.O_CLOEXEC | (os.O_RDONLY if readonly else os.O_RDWR | os.O_CREAT), 0o644)
            self._close = closer(self, self.file)
            for number in range(os.fstat(self.file).st_size // piece):
                self._map(number)

    def grow(self) -> mmap.mmap:
        """Add a piece, filled with zeros."""
        number = len(self.maps)
        with trying_to("write to", self.path):
            _allocate(self.file, number * self.piece, self.piece)
            return self._map(number)

    def write(self, place: int, data: bytes) -> None:
        """Overwrite the file from byte ``place`` on. The maps show the change at once."""
        try:
            if os.pwrite(self.file, data, place) != len(data):
                raise OSError("the disk took only a part of it")
        except OSError as error:
            raise StorageFailed(f"cannot write to {self.path}: {error}") from error

    def give_back(self) -> None:
        """Give the memory to the operating system. The file keeps its content, and is read again when needed."""
        for piece in self.maps:
            piece.madvise(mmap.MADV_DONTNEED)

    def sync(self) -> None:
        """Force everything onto the disk, against power failures."""
        with trying_to("write to", self.path):
            os.fsync(self.file)

    def close(self) -> None:
        """Close the file. The maps close when they are no longer referenced."""
        self.maps.clear()
        self._close()

    def _map(self, number: int) -> mmap.mmap:
        piece = mmap.mmap(self.file, self.piece, access=self._access, offset=number * self.piece)
        piece.madvise(mmap.MADV_RANDOM)
        self.maps.append(piece)
        return piece


def closer(owner: object, file: int) -> Callable[[], object]:
    """A function that closes a descriptor of ``owner``. So does the end of ``owner``: nobody closes what could not be opened
    completely, and views.
    """
    close = finalize(owner, os.close, file)
    close.atexit = False
    return close


def by_piece(numbers: np.ndarray, bits: int) -> Iterator[tuple[int, np.ndarray]]:
    """Each piece of 2^bits rows that contains some of the numbers, with a mask of these numbers."""
    pieces = numbers >> bits
    for piece in np.flatnonzero(np.bincount(pieces)).tolist():
        yield piece, pieces == piece


def _allocate(file: int, start: int, size: int) -> None:
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(file, start, size)
    elif os.pwrite(file, bytes(size), start) != size:  # macOS
        raise OSError("the disk took only a part of it (is it full?)")


@dataclass(frozen=True)
class MemoryLimits:
    """How many URLs stay in memory: new URLs of the ``shared`` queue and of each ``host`` before they become a sorted run.

    A host with more than ``crowd`` URLs gets its own queue at once. About ``hosts`` of the hosts with a queue, and of those that
    rest, are in memory, at one kilobyte each. Up to ``ahead`` held URLs are in memory to find the next due time.
    """

    shared: int = 32_768
    host: int = 64
    crowd: int = 256
    hosts: int = 50_000
    ahead: int = 4096
