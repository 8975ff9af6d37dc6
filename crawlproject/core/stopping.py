"""When a crawl has enough, besides running dry: its budget of pages or of time is spent, or it is saturated.

Saturated is a crawl that finds little and expects little. Both must be below the floor:

- the **harvest rate** of the last ``window`` pages, the share of them that were relevant (000 section 4.2);
- the **expected worth** of the best URL that waits: the share of relevant pages among the ``NEAREST`` pages of that window whose
  scores were nearest to its score. So no score needs a meaning of its own, and every ordering can be asked.

A duplicate counts as not relevant: it brought nothing new. Pages without content do not count at all.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from heapq import nsmallest

from crawlproject.options import NEAREST
from crawlproject.records import FetchEvent

PAGE_BUDGET = "page budget"
TIME_BUDGET = "time budget"
SATURATED = "saturated"
DEAD_END = "frontier empty"
FINISHED = "finished"  # nothing is left to fetch
NO_NETWORK = "no network"
ROUND = "round over"  # of revisits
TOPICS_HAVE_ENOUGH = "topics have enough"  # each of several has the pages that it wanted
OVER = frozenset(
    (PAGE_BUDGET, TIME_BUDGET, SATURATED, DEAD_END, ROUND, TOPICS_HAVE_ENOUGH, FINISHED)
)  # it need not go on

EVERY = 20  # pages between two looks at the frontier


class Stopping:
    """Watches one run of a crawl, and decides when it ends.

    ``floor`` is the least share of relevant pages (0: never saturated), ``relevant`` the relevance from which a page counts,
    ``window`` the number of pages that are looked at, ``seconds`` how long this run may take (0: no limit).
    """

    def __init__(self, *, floor: float, window: int, relevant: float, seconds: float) -> None:
        self.seconds = seconds
        self._floor = floor
        self._relevant = relevant
        self._pages: deque[tuple[float, bool]] = deque(maxlen=window)
        self._count = 0  # of all pages
        self._next_look = EVERY  # at this number of pages
        self._saturated = False
        self._began: float | None = None
        self._now = 0.0  # when it was asked last

    def learn(self, event: FetchEvent) -> None:
        """A stored page with this score before its fetch turned out to be relevant, or not."""
        visit = event.visit
        if visit.md5:
            self._pages.append((visit.score, visit.relevance >= self._relevant and not visit.duplicate_of))
            self._count += 1

    def reason(self, now: float, best: Callable[[], float | None]) -> str:
        """Why no more URLs are to be taken, or "". ``best`` gives the best waiting score, None when nothing waits."""
        if self._began is None:
            self._began = now
        self._now = now
        if self.seconds and now - self._began >= self.seconds:
            return TIME_BUDGET
        if (
            self._floor
            and not self._saturated
            and self._count >= self._next_look
            and len(self._pages) == self._pages.maxlen
        ):
            self._next_look = self._count + EVERY
            score = best()
            self._saturated = (
                score is not None and self.harvest() < self._floor and self.expected_worth(score) < self._floor
            )
        return SATURATED if self._saturated else ""

    def deadline(self) -> float | None:
        """When the time is up; None without a limit."""
        return self._began + self.seconds if self.seconds and self._began is not None else None

    def share_spent(self) -> float:
        """The share of the time that was over when ``reason`` was asked last; 0 without a limit."""
        return (self._now - self._began) / self.seconds if self.seconds and self._began is not None else 0.0

    def harvest(self) -> float:
        """The share of relevant pages in the window, 0 before the first page."""
        return _share(self._pages)

    def expected_worth(self, score: float) -> float:
        """The chance that a page with this score is relevant, judged by the pages with scores like it."""
        latest_first = reversed(self._pages)
        return _share(nsmallest(NEAREST, latest_first, key=lambda page: abs(page[0] - score)))


def _share(pages: Iterable[tuple[float, bool]]) -> float:
    worth = [relevant for _, relevant in pages]
    return sum(worth) / len(worth) if worth else 0.0
