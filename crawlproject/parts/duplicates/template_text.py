"""Which text is the template of a site: shingles that stand on several of its originals.

What two pages share of it is no evidence that they are the same. A sketch is a sample of the shingles of a page, so it is enough
to count the minima of the originals, by their host. Copies are not counted: a page with twenty copies is no template. Nor is one
with twenty translations that are half done: what pages share that have one name, in other folders, is counted once.
"""

from __future__ import annotations

import numpy as np
from xxhash import xxh3_64_intdigest

from crawlproject.core.learned_state import Packed, empty_table, packed, unpack
from crawlproject.urls.hosts import host_of

try:
    from crawlproject.parts.duplicates import key_slots
except Exception:  # not built, or in a zip file
    key_slots = None  # type: ignore[assignment]

LEAST_PAGES = 4  # originals of a host, of other names, on which the same minimum is of its template
LEAST_LEFT = 12  # minima, of 128, that two pages must have besides the template

_PLACES = 1 << 21  # of 4 bytes
_WORD = (1 << 64) - 1
_TAG = 0xFFFFF000


class TemplateText:
    """A number for each minimum of each host: 20 bits of it, 8 of the name of the page that had it last, 4 that
    count. 8 MB for all.

    A minimum that falls on the place of another takes it over, or lowers its count if that is above 1. So what is frequent stays
    (Misra and Gries, 1982), and what was seen once makes room.
    """

    def __init__(self) -> None:
        self._table = empty_table(_PLACES, np.uint32)

    def learned(self) -> Packed:
        """All that is known, for a checkpoint."""
        return packed(self._table)

    def set_learned(self, learned: Packed) -> None:
        """Know that again."""
        unpack(learned, self._table)

    def add(self, url: str, minima: bytes, name: int) -> None:
        """Count the minima of an original; ``name`` is a digest of its own."""
        count = key_slots.count_minima if key_slots is not None else _count
        count(self._table, minima, _digest(url), name & 255)

    def resemblance(self, url: str, minima: bytes, other_url: str, other: bytes) -> float:
        """The estimated Jaccard coefficient of what two pages have besides the template; 0 when that is too little.

        A minimum says nothing when it is of the template of both sites.
        """
        same_minima = key_slots.same_minima if key_slots is not None else _same
        same, left = same_minima(self._table, minima, _digest(url), other, _digest(other_url), LEAST_PAGES)
        return same / left if left >= LEAST_LEFT else 0.0


def _digest(url: str) -> int:
    return xxh3_64_intdigest(host_of(url).encode())


def _mixed(minima: bytes, place: int, host: int) -> int:
    value = place << 16 | minima[2 * place + 1] << 8 | minima[2 * place]
    value = (value + host) * 0xFF51AFD7ED558CCD & _WORD
    value = (value ^ value >> 33) * 0xC4CEB9FE1A85EC53 & _WORD
    return value ^ value >> 33


def _count(table: memoryview[int], minima: bytes, host: int, name: int) -> None:
    for place in range(len(minima) // 2):
        value = _mixed(minima, place, host)
        slot, tag = value & len(table) - 1, value >> 32 & _TAG
        held = table[slot]
        if held and held & _TAG == tag:
            if held >> 4 & 255 != name:
                table[slot] = tag | name << 4 | min(held & 15, 14) + 1
        else:
            table[slot] = held - 1 if held & 15 > 1 else tag | name << 4 | 1


def _same(table: memoryview[int], one: bytes, host: int, other: bytes, other_host: int, least: int) -> tuple[int, int]:
    """How many minima are equal, of how many that are not of both templates."""

    def is_common(value: int) -> bool:
        held = table[value & len(table) - 1]
        return held & 15 >= least and held & _TAG == value >> 32 & _TAG

    same = left = 0
    for place in range(len(one) // 2):
        if is_common(_mixed(one, place, host)) and is_common(_mixed(other, place, other_host)):
            continue
        left += 1
        same += one[2 * place : 2 * place + 2] == other[2 * place : 2 * place + 2]
    return same, left
