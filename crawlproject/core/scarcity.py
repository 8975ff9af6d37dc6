"""What a crawl is to save, pages or time: up to which precedence class it goes while better hosts only rest."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal

from crawlproject.core.budget import PageBudget
from crawlproject.core.stopping import Stopping
from crawlproject.options import Options
from crawlproject.records import ACTIVE, SPARE, WASTE

Scarce = Literal["pages", "time", "both"]

NEARLY = 0.9  # of the floor: hosts that are spare while pages are scarcer than time
MOST = 0.125  # share of the fetches that may go to spare hosts then
RECENT = 64  # fetches over which the share is taken


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


def make_scarcity(options: Options, budget: PageBudget, stopping: Stopping) -> Scarcity:
    """That of a crawl with these budgets."""
    pages = budget.share_spent if options.crawl_max_pages else None
    time = stopping.share_spent if options.crawl_max_seconds else None
    return Scarcity(options.crawl_scarce, pages, time)
