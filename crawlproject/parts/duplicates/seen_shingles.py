"""What the pages of a host have said lately."""

from __future__ import annotations

import numpy as np
from xxhash import xxh3_64_intdigest

from crawlproject.pages.text.plain_hashes import Hashes

try:
    from crawlproject.pages.text import text_hashes
except Exception:  # not built, or in a zip file
    text_hashes = None  # type: ignore[assignment]

_SAMPLED = np.uint64(1)  # one of two shingles is remembered
_PLACES = 1 << 23


class SeenShingles:
    """The recent shingles of each host, with all numbers made equal. Half are remembered, by 32 bits each, in 32 MB.

    A place is overwritten by the next shingle that falls on it, so the table covers about the last 30,000 pages. That is
    enough: views of a page, and pages of a trap, are fetched soon after each other.
    """

    def __init__(self) -> None:
        self._seen = np.zeros(_PLACES, dtype=np.uint32)

    def new_share(self, host: str, shingles: Hashes) -> float:
        """The share of the shingles (shape (n,)) that is new on this host, 0 to 1; they count as seen from now on.

        1 for a text none of whose shingles is sampled.
        """
        digest = xxh3_64_intdigest(host.encode())
        if text_hashes is not None:
            room = np.empty(len(shingles), dtype=np.uint64)
            return text_hashes.new_share(shingles, _SAMPLED, digest, room, self._seen)
        sampled = shingles[(shingles >> np.uint64(40)) & _SAMPLED == 0]
        sampled = sampled ^ np.uint64(digest)
        places = sampled & np.uint64(_PLACES - 1)
        marks = (sampled >> np.uint64(32)).astype(np.uint32)
        new = int(np.count_nonzero(self._seen[places] != marks))
        self._seen[places] = marks
        return new / len(marks) if len(marks) else 1.0
