"""A set of strings that only grows, in little memory: what is kept of each is its MD5, 16 bytes."""

from __future__ import annotations

from hashlib import md5

_SIZE = 16  # bytes of a digest
_TABLES = 256
_FIRST = 32  # places of a table at first
_EMPTY = bytes(_SIZE)


class DigestSet:
    """Strings by their digests, in 256 hash tables with open addressing: 24 to 48 bytes for each, where a ``set`` takes 110.

    Each table doubles by itself when two thirds of it are taken, so that no addition takes long. Two strings of the same
    digest are not met by chance: among 10^12 the probability is 10^-15.
    """

    def __init__(self) -> None:
        self._tables = [bytearray(_SIZE * _FIRST) for _ in range(_TABLES)]
        self._taken = [0] * _TABLES
        self._size = 0

    def add(self, text: str) -> None:
        """Add a string; nothing happens when it is inside."""
        digest = _digest(text)
        number = digest[0]
        table = self._tables[number]
        place, inside = _look(table, digest)
        if inside:
            return
        table[place : place + _SIZE] = digest
        self._size += 1
        self._taken[number] += 1
        if 3 * _SIZE * self._taken[number] > 2 * len(table):
            self._tables[number] = _doubled(table)

    def __contains__(self, text: str) -> bool:
        digest = _digest(text)
        return _look(self._tables[digest[0]], digest)[1]

    def __len__(self) -> int:
        return self._size


def _digest(text: str) -> bytes:
    return md5(text.encode("utf-8", "surrogatepass"), usedforsecurity=False).digest()


def _look(table: bytearray, digest: bytes) -> tuple[int, bool]:
    """Where in the table the digest is, or would be put, and whether it is there."""
    place = int.from_bytes(digest[1:8], "little") * _SIZE % len(table)
    while (held := table[place : place + _SIZE]) != digest:
        if held == _EMPTY:
            return place, False
        place = (place + _SIZE) % len(table)
    return place, True


def _doubled(table: bytearray) -> bytearray:
    larger = bytearray(2 * len(table))
    for place in range(0, len(table), _SIZE):
        held = bytes(table[place : place + _SIZE])
        if held != _EMPTY:
            at, _ = _look(larger, held)
            larger[at : at + _SIZE] = held
    return larger
