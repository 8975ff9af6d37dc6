"""When a crawl stops before it runs dry: its budget of pages or of time is spent, or it is saturated.

A crawl is saturated when it finds little and expects little. Both of these must be below the floor:

- the **harvest rate** of the last ``window`` pages: the share of relevant pages among them (000 section 4.2);
- the **expected worth** of the best waiting URL: the share of relevant pages among the ``NEAREST`` pages of that window whose
  scores are closest to its score. So scores need no absolute meaning, and this works with every ordering.

A duplicate counts as not relevant: it brought nothing new. Pages without content do not count at all.

What is scarce, pages or time, decides up to which precedence class a crawl fetches while better hosts only rest
(``CRAWL_SCARCE``).
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Collection, Iterable
from heapq import nsmallest
from math import sqrt
from typing import Any, ClassVar, Literal, Protocol

from crawlproject.core.peers import Peers
from crawlproject.frontier.base import Frontier
from crawlproject.options import NEAREST
from crawlproject.records import ACTIVE, SPARE, WASTE, FetchEvent
from crawlproject.storage.history import History

NAME = "stopping"  # of its section in a checkpoint
PAGE_BUDGET = "page budget"
TIME_BUDGET = "time budget"
SATURATED = "saturated"
DEAD_END = "frontier empty"
FINISHED = "finished"  # nothing is left to fetch
NO_NETWORK = "no network"
ROUND = "round over"  # of revisits
TOPICS_HAVE_ENOUGH = "topics have enough"  # each of several topics has the pages that it wanted
DRAINED = "drained"  # a worker has given its hosts to the other workers on request
OVER = frozenset(
    (PAGE_BUDGET, TIME_BUDGET, SATURATED, DEAD_END, ROUND, TOPICS_HAVE_ENOUGH, FINISHED, DRAINED)
)  # reasons after which the crawl need not be resumed
EVERY = 20  # pages between two saturation checks
Scarce = Literal["pages", "time", "both"]
NEARLY = 0.9  # share of the floor that spare hosts must reach while pages are scarcer than time
MOST = 0.125  # share of the fetches that may then go to spare hosts
RECENT = 64  # fetches over which this share is averaged

_Z = 1.645  # one-sided, 95 %


class Stopping:
    """Watches one run of a crawl, and decides when it ends.

    ``floor`` is the minimum share of relevant pages (0: never saturated), ``relevant`` the relevance from which a page is
    relevant, ``window`` the number of latest pages considered, ``seconds`` how long this run may take (0: no limit).
    """

    def __init__(self, *, floor: float, window: int, relevant: float, seconds: float) -> None:
        self.seconds = seconds
        self._floor = floor
        self._relevant = relevant
        self._pages: deque[tuple[float, bool]] = deque(maxlen=window)
        self._count = 0  # number of all pages
        self._next_look = EVERY  # number of pages at the next saturation check
        self._saturated = False
        self._began: float | None = None
        self._now = 0.0  # time of the last call of ``reason``

    def learn(self, event: FetchEvent) -> None:
        """Note the score that a stored page had before its fetch, and whether it turned out to be relevant."""
        visit = event.visit
        if visit.md5:
            self._pages.append((visit.score, visit.relevance >= self._relevant and not visit.duplicate_of))
            self._count += 1

    learned_classes: ClassVar[Collection[type]] = ()

    def learned(self) -> Any:
        """All that was learned, for a checkpoint."""
        return list(self._pages), self._count

    def set_learned(self, learned: Any) -> None:
        """Restore the result of ``learned``."""
        pages, self._count = learned
        self._pages.extend(pages)

    def reason(self, now: float, best: Callable[[], float | None]) -> str:
        """Why the crawl takes no more URLs, or "". ``best`` returns the best waiting score, None when nothing waits."""
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
        """When the time budget is spent; None without a limit."""
        return self._began + self.seconds if self.seconds and self._began is not None else None

    def share_spent(self) -> float:
        """The share of the time budget that was spent at the last call of ``reason``; 0 without a limit."""
        return (self._now - self._began) / self.seconds if self.seconds and self._began is not None else 0.0

    def harvest(self) -> float:
        """The share of relevant pages in the window, 0 before the first page."""
        return _share(self._pages)

    def expected_worth(self, score: float) -> float:
        """The probability that a page with this score is relevant, estimated from the pages with similar scores."""
        latest_first = reversed(self._pages)
        return _share(nsmallest(NEAREST, latest_first, key=lambda page: abs(page[0] - score)))


def _share(pages: Iterable[tuple[float, bool]]) -> float:
    worth = [relevant for _, relevant in pages]
    return sum(worth) / len(worth) if worth else 0.0


def wilson_lower_bound(yes: float, no: float) -> float:
    """The lower bound of the share of ``yes`` with 95 % confidence (Wilson score interval); 0 before the first outcome."""
    n = yes + no
    if n <= 0:
        return 0.0
    share, z2 = yes / n, _Z * _Z
    centre = share + z2 / (2 * n)
    return max(0.0, (centre - _Z * sqrt(share * (1 - share) / n + z2 / (4 * n * n))) / (1 + z2 / n))


class Budget(Protocol):
    """Limits how much may be fetched."""

    def is_in_flight(self) -> bool:
        """Whether the open leases may already use up the budget."""
        ...

    def end_reason(self, now: float) -> str:
        """Why the crawl ends, as one of the reasons of ``stopping.py``; empty while some of the budget is left."""
        ...


class PageBudget:
    """At most ``most`` pages for all workers together; 0: no limit."""

    def __init__(self, most: int, history: History, frontier: Frontier, peers: Peers) -> None:
        self._most = most
        self._history = history
        self._frontier = frontier
        self._peers = peers

    def share_spent(self) -> float:
        """The share of the budget that is spent, 1 or more when all of it is spent; 0 without a limit."""
        return self._peers.pages(self._history.pages) / self._most if self._most else 0.0

    def end_reason(self, now: float) -> str:
        return PAGE_BUDGET if self._most and self._peers.pages(self._history.pages) >= self._most else ""

    def is_in_flight(self) -> bool:
        """Leases count only without a server, which limits them itself."""
        if self._peers.has_server:
            return self.share_spent() >= 1.0
        return bool(self._most) and self._history.pages + self._frontier.leases() >= self._most


class Scarcity:
    """Turns ``CRAWL_SCARCE`` into the ceiling of the frontier: ``pages``: ``ACTIVE``; ``time``: every class; ``both``: depending
    on the budgets.

    ``pages`` and ``time`` return the spent share of each budget; None: there is no such budget. Without a page budget, waiting
    saves nothing, so the ceiling is every class. With both budgets, it is every class while the crawl is behind the pace that
    spends them together. Otherwise it is ``SPARE``, hosts that are ``NEARLY`` as good as the floor requires, unless a share
    ``MOST`` of the recent fetches went to such hosts: a crawl never pays more than that to avoid waiting.
    """

    def __init__(
        self, scarce: Scarce, pages: Callable[[], float] | None = None, time: Callable[[], float] | None = None
    ) -> None:
        self._scarce = scarce
        self._pages = pages
        self._time = time
        self._share = 0.0  # share of the recent fetches with scores below the floor
        self._is_late = False  # behind the pace
        self._has_room = True

    def limit_pages(self) -> None:
        """Treat the crawl as one with a page budget, because something outside ends it after some pages."""
        self._pages = self._pages or (lambda: math.inf)

    def ceiling(self) -> int:
        """The highest class to take from while a lower one has a host that is awake."""
        if self._scarce == "time" or (self._scarce == "both" and (self._pages is None or self._is_late)):
            return WASTE
        return ACTIVE if self._scarce == "pages" or not self._has_room else SPARE

    def spare(self, floor: float) -> float:
        """The second floor, below which hosts are not even spare."""
        return floor * NEARLY if floor > 0 else floor / NEARLY

    def taken(self, score: float, floor: float) -> None:
        """A URL with this score is fetched."""
        if self._scarce != "both" or self._pages is None or floor == -math.inf:
            return
        self._share += ((score < floor) - self._share) / RECENT
        self._has_room = self._share < MOST
        self._is_late = self._time is not None and self._pages() < self._time()
