"""Which text is the template of a site: shingles that appear on several of its originals.

Template text that two pages share is no evidence that they are the same. A sketch is a sample of the shingles of a page, so it is
enough to count the minima of the originals of each host. Copies are not counted: a page with twenty copies is not a template.
Nor is a page with twenty half-done translations: text that pages of the same name in different folders share counts once.
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

LEAST_PAGES = 4  # originals of a host, with different names, that share a minimum if it belongs to the template
LEAST_LEFT = 12  # minima, of 128, that two pages must have outside the template

_PLACES = 1 << 21  # of 4 bytes
_WORD = (1 << 64) - 1
_TAG = 0xFFFFF000


class TemplateText:
    """A table of 32-bit entries, one for each minimum of each host: 20 bits of its hash, 8 bits of the name of the page that had
    it last, and a 4-bit count. 8 MB in all.

    A minimum whose place is taken by another lowers the other's count if that is above 1, and else replaces it. So frequent
    minima stay (Misra and Gries, 1982), and those seen once make room.
    """

    def __init__(self) -> None:
        self._table = empty_table(_PLACES, np.uint32)

    def learned(self) -> Packed:
        """The state for a checkpoint."""
        return packed(self._table)

    def set_learned(self, learned: Packed) -> None:
        """Restore the state."""
        unpack(learned, self._table)

    def add(self, url: str, minima: bytes, name: int) -> None:
        """Count the minima of an original; ``name`` is the digest of its name."""
        count = key_slots.count_minima if key_slots is not None else _count
        count(self._table, minima, _digest(url), name & 255)

    def resemblance(self, url: str, minima: bytes, other_url: str, other: bytes) -> float:
        """The estimated Jaccard coefficient of the text of two pages outside the template; 0 if there is too little of it.

        A minimum is ignored if it belongs to the template of both sites.
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
    """How many minima are equal, and how many were compared: those that do not belong to both templates."""

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
