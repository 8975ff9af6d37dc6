"""The most relevant pages of a crawl, one per distinct text."""

from __future__ import annotations

import heapq
from operator import itemgetter

from crawlproject.records import Visit


class BestPages:
    """The ``most`` most relevant pages, the earlier one first on a tie. Pages with equal bytes and duplicates count once."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._heap: list[tuple[float, int, Visit]] = []
        self._digests: set[str] = set()

    def add(self, line: int, visit: Visit) -> None:
        entry = (visit.relevance, -line, visit)
        digest = visit.digest if visit.size else visit.md5  # a rehearsal stores no bytes
        if digest in self._digests or visit.duplicate_of:
            return
        if len(self._heap) < self._most:
            heapq.heappush(self._heap, entry)
        elif entry[:2] > self._heap[0][:2]:
            dropped = heapq.heapreplace(self._heap, entry)[2]
            self._digests -= {dropped.digest, dropped.md5}
        else:
            return
        self._digests.add(digest)

    def ranked(self) -> list[tuple[int, Visit]]:
        """Line numbers and visits, best first."""
        return [(-line, visit) for _, line, visit in sorted(self._heap, key=itemgetter(0, 1), reverse=True)]
