"""Keys to numbers in little memory: 64-bit keys, several numbers a key, nothing is ever removed."""

from __future__ import annotations

from array import array

try:
    from crawlproject.parts.duplicates import key_slots
except Exception:  # not built, or in a zip file
    key_slots = None  # type: ignore[assignment]

PER_KEY = 8  # numbers kept of a key: the first ones

_TABLES = 64
_FIRST = 32  # places of a table at first
_NUMBER = (1 << 32) - 1


class KeyTable:
    """A multimap in 64 hash tables with open addressing: 12 to 24 bytes a number.

    Of a key 38 bits are kept, so that another key's numbers are found now and then: the caller checks what is found.
    Numbers are 0 to 2^32 - 2. Each table doubles by itself when two thirds of it are taken, so that no addition takes long.
    """

    def __init__(self) -> None:
        self._tables = [_empty(_FIRST) for _ in range(_TABLES)]
        self._taken = [0] * _TABLES

    def find(self, key: int) -> list[int]:
        """The numbers of a key, first in, first out."""
        tag = key & _NUMBER
        table = self._tables[key >> 58]
        if key_slots is not None:
            return key_slots.find(table, tag)
        mask = len(table) - 1
        place = tag & mask
        found = []
        while held := table[place]:
            if held >> 32 == tag:
                found.append((held & _NUMBER) - 1)
            place = (place + 1) & mask
        return found

    def add(self, key: int, number: int) -> None:
        """Give a key (0 to 2^64 - 1) one more number, unless it has ``PER_KEY`` already."""
        which, tag = key >> 58, key & _NUMBER
        table = self._tables[which]
        if not (key_slots.put if key_slots is not None else _put)(table, tag, number, PER_KEY):
            return
        self._taken[which] += 1
        if 3 * self._taken[which] > 2 * len(table):
            self._tables[which] = _doubled(table)

    @property
    def size(self) -> int:
        """Bytes of memory."""
        return sum(table.itemsize * len(table) for table in self._tables)


def _empty(places: int) -> array[int]:
    return array("Q", bytes(8 * places))


def _put(table: array[int], tag: int, number: int, most: int) -> bool:
    """Give a tag one more number; False when it has ``most`` of them."""
    mask = len(table) - 1
    place = tag & mask
    same = 0
    while held := table[place]:
        same += held >> 32 == tag
        place = (place + 1) & mask
    if same >= most:
        return False
    table[place] = tag << 32 | number + 1
    return True


def _doubled(table: array[int]) -> array[int]:
    larger = _empty(2 * len(table))
    if key_slots is not None:
        key_slots.move(table, larger)
        return larger
    mask = len(larger) - 1
    start = next(place for place, held in enumerate(table) if not held)  # no run of places begins before it
    for held in (*table[start:], *table[:start]):
        if held:
            place = held >> 32 & mask
            while larger[place]:
                place = (place + 1) & mask
            larger[place] = held
    return larger
