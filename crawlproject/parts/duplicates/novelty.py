"""How much of a page its host has not said before.

A calendar has another date on each page and nothing else; a shop shows the same goods in each order. No two of their pages
need be copies, and yet the hundredth says nothing new.
"""

from __future__ import annotations

import numpy as np
from xxhash import xxh3_64_intdigest

from crawlproject.pages.text import minhash
from crawlproject.pages.text.minhash import Hashes

LEAST = 20  # shingles of which fewer say nothing

_SAMPLED = np.uint64(3)  # of four shingles one is remembered
_PLACES = 1 << 22


class SeenShingles:
    """The shingles of each host seen lately, numbers made one: one of four is remembered, by 32 bits, in 16 MB for all.

    A place is overwritten by the next shingle that falls on it, so what is remembered is that of the last 30,000 pages or so;
    a trap fetches its pages in a row.
    """

    def __init__(self) -> None:
        self._seen = np.zeros(_PLACES, dtype=np.uint32)

    def new_share(self, host: str, shingles: Hashes) -> float:
        """Which share of the shingles (shape (n,)) is new on this host, 0 to 1; they are seen from now on.

        1 for a text that is too short to judge.
        """
        digest = xxh3_64_intdigest(host.encode())
        if minhash.text_hashes is not None:
            room = np.empty(len(shingles), dtype=np.uint64)
            return minhash.text_hashes.new_share(shingles, _SAMPLED, digest, LEAST, room, self._seen)
        sampled = shingles[(shingles >> np.uint64(40)) & _SAMPLED == 0]
        if len(sampled) < LEAST:
            return 1.0
        sampled = sampled ^ np.uint64(digest)
        places = sampled & np.uint64(_PLACES - 1)
        marks = (sampled >> np.uint64(32)).astype(np.uint32)
        new = np.count_nonzero(self._seen[places] != marks) / len(marks)
        self._seen[places] = marks
        return float(new)
