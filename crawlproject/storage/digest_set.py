"""A compact, grow-only set of strings, which stores only the MD5 digest (16 bytes) of each."""

from __future__ import annotations

from hashlib import md5

_SIZE = 16  # bytes of a digest
_TABLES = 256
_FIRST = 32  # initial slots of a table
_EMPTY = bytes(_SIZE)


class DigestSet:
    """256 hash tables of digests with open addressing: 24 to 48 bytes per string, where a ``set`` takes 110.

    Each table doubles separately when it is two thirds full, so that no addition takes long. The probability of any
    collision of digests among 10^12 strings is 10^-15.
    """

    def __init__(self) -> None:
        self._tables = [bytearray(_SIZE * _FIRST) for _ in range(_TABLES)]
        self._taken = [0] * _TABLES
        self._size = 0

    def add(self, text: str) -> None:
        """Add a string if it is not in the set yet."""
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
