"""How much may be fetched on behalf of a person: so much a page at hand, and so much a minute."""

from __future__ import annotations

import math
from collections import deque


class AheadPace:
    """A brake of a crawl (``core/brakes.py``). ``per_page``: fetches for each page at hand; ``per_minute``: in any 60 seconds.

    The robots.txt of a host counts as a fetch. Nothing is fetched before the first page at hand, nor while it is ``paused``.
    """

    def __init__(self, per_page: int, per_minute: int) -> None:
        self.paused = False
        self.per_page = per_page
        self.spent = per_page  # for the page at hand
        self.total = 0  # of the session
        self._per_minute = per_minute
        self._latest: deque[float] = deque(maxlen=per_minute)

    def begin(self) -> None:
        """There is another page at hand."""
        self.spent = 0

    def stop(self) -> None:
        """There is no page at hand any more."""
        self.spent = self.per_page

    def next_time(self) -> float:
        """When the next fetch may begin; infinity: not for this page."""
        if self.paused or self.spent >= self.per_page:
            return math.inf
        return self._latest[0] + 60.0 if len(self._latest) == self._per_minute else 0.0

    def taken(self, now: float) -> None:
        """A fetch begins."""
        self.spent += 1
        self.total += 1
        self._latest.append(now)
