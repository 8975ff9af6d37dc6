"""When a crawl has enough, besides running dry: its budget of pages or of time is spent, or it is saturated.

Saturated is a crawl that finds little and expects little. Both must be below the floor:

- the **harvest rate** of the last ``window`` pages, the share of them that were relevant (000 section 4.2);
- the **expected worth** of the best URL that waits: the share of relevant pages among the ``NEAREST`` pages of that window whose
  scores were nearest to its score. So no score needs a meaning of its own, and every ordering can be asked.

A duplicate counts as not relevant: it brought nothing new. Pages without content do not count at all.

What is scarce, pages or time, says up to which precedence class a crawl goes while better hosts only rest (``CRAWL_SCARCE``).
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

NAME = "stopping"  # of what it has learned, in a checkpoint
PAGE_BUDGET = "page budget"
TIME_BUDGET = "time budget"
SATURATED = "saturated"
DEAD_END = "frontier empty"
FINISHED = "finished"  # nothing is left to fetch
NO_NETWORK = "no network"
ROUND = "round over"  # of revisits
TOPICS_HAVE_ENOUGH = "topics have enough"  # each of several has the pages that it wanted
DRAINED = "drained"  # a worker of several has given its hosts to the others, as it was told to
OVER = frozenset(
    (PAGE_BUDGET, TIME_BUDGET, SATURATED, DEAD_END, ROUND, TOPICS_HAVE_ENOUGH, FINISHED, DRAINED)
)  # it need not go on
EVERY = 20  # pages between two looks at the frontier
Scarce = Literal["pages", "time", "both"]
NEARLY = 0.9  # of the floor: hosts that are spare while pages are scarcer than time
MOST = 0.125  # share of the fetches that may go to spare hosts then
RECENT = 64  # fetches over which the share is taken

_Z = 1.645  # one side, 95 %


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

    learned_classes: ClassVar[Collection[type]] = ()

    def learned(self) -> Any:
        """All that was learned, for a checkpoint."""
        return list(self._pages), self._count

    def set_learned(self, learned: Any) -> None:
        """Know that again."""
        pages, self._count = learned
        self._pages.extend(pages)

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


def wilson_lower_bound(yes: float, no: float) -> float:
    """The share of ``yes`` that is surpassed with 95 % confidence: Wilson's score bound; 0 before the first outcome."""
    n = yes + no
    if n <= 0:
        return 0.0
    share, z2 = yes / n, _Z * _Z
    centre = share + z2 / (2 * n)
    return max(0.0, (centre - _Z * sqrt(share * (1 - share) / n + z2 / (4 * n * n))) / (1 + z2 / n))


class Budget(Protocol):
    """How much may be fetched."""

    def is_in_flight(self) -> bool:
        """Whether the open leases may already fill it."""
        ...

    def end_reason(self, now: float) -> str:
        """Why the crawl ends, as one of the reasons of ``stopping.py``; empty while there is some left."""
        ...


class PageBudget:
    """At most ``most`` pages, of all workers together; 0: no limit."""

    def __init__(self, most: int, history: History, frontier: Frontier, peers: Peers) -> None:
        self._most = most
        self._history = history
        self._frontier = frontier
        self._peers = peers

    def share_spent(self) -> float:
        """The share of the budget that is spent, at least 1 when all is; 0 without a limit."""
        return self._peers.pages(self._history.pages) / self._most if self._most else 0.0

    def end_reason(self, now: float) -> str:
        return PAGE_BUDGET if self._most and self._peers.pages(self._history.pages) >= self._most else ""

    def is_in_flight(self) -> bool:
        """A server sees to that itself."""
        if self._peers.has_server:
            return self.share_spent() >= 1.0
        return bool(self._most) and self._history.pages + self._frontier.leases() >= self._most


class Scarcity:
    """``CRAWL_SCARCE``, as the ceiling of the frontier. ``pages``: ``ACTIVE``. ``time``: every class. ``both``: what the
    budgets say.

    ``pages`` and ``time`` give the share of each budget that is spent; None: there is no such budget. Without one of
    pages, waiting saves nothing: every class. With both, every class while the crawl is behind the pace that
    spends them together. Else ``SPARE``, which are hosts that are ``NEARLY`` as good as the floor asks for, while no more than a
    share ``MOST`` of the recent fetches went to such hosts: so a crawl never pays more than that for not waiting.
    """

    def __init__(
        self, scarce: Scarce, pages: Callable[[], float] | None = None, time: Callable[[], float] | None = None
    ) -> None:
        self._scarce = scarce
        self._pages = pages
        self._time = time
        self._share = 0.0  # of the recent fetches, those below the floor
        self._is_late = False  # behind the pace
        self._has_room = True

    def limit_pages(self) -> None:
        """Somebody else ends the crawl after some pages: that is a budget, too."""
        self._pages = self._pages or (lambda: math.inf)

    def ceiling(self) -> int:
        """The highest class that is taken while a lower one has a host that is awake."""
        if self._scarce == "time" or (self._scarce == "both" and (self._pages is None or self._is_late)):
            return WASTE
        return ACTIVE if self._scarce == "pages" or not self._has_room else SPARE

    def spare(self, floor: float) -> float:
        """The second floor."""
        return floor * NEARLY if floor > 0 else floor / NEARLY

    def taken(self, score: float, floor: float) -> None:
        """A URL of this score is fetched."""
        if self._scarce != "both" or self._pages is None or floor == -math.inf:
            return
        self._share += ((score < floor) - self._share) / RECENT
        self._has_room = self._share < MOST
        self._is_late = self._time is not None and self._pages() < self._time()
