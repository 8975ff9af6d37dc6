"""The live data of a crawl, which only its process knows, and its control: pause, resume, stop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import asdict
from time import monotonic, perf_counter
from typing import TYPE_CHECKING, Any

from crawlproject.adapters.extensions.progress import Speed
from crawlproject.adapters.running import INTERRUPTED, crawl_of, time, wake
from crawlproject.core.parts import Parts
from crawlproject.dashboard.crawl_json import counted
from crawlproject.frontier.base import HostStats, WatchedFrontier
from crawlproject.reports.live_summary import AGENTS

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from crawlproject.core.crawl import Crawl

HOSTS = 15  # listed hosts of the frontier
SHARE = 0.01  # share of time that may be spent on looking at the frontier
ACTIONS = ("pause", "resume", "stop")


class Throttled:
    """Caches the result of ``look``, and calls it so rarely that it takes at most ``SHARE`` of the time.

    The time that a look at the hosts of a frontier takes grows with the number of hosts in memory.
    """

    def __init__(self, look: Callable[[], Any]) -> None:
        self._look = look
        self._seen: Any = None
        self._next = float("-inf")

    def __call__(self) -> Any:
        now = monotonic()
        if now >= self._next:
            began = perf_counter()
            self._seen = self._look()
            self._next = now + (perf_counter() - began) / SHARE
        return self._seen


class RunningCrawl:
    """The crawl of this process. Methods run in its event loop, so the crawl does not change while they read it."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._speed = Speed()
        self._frontier_of = Throttled(self._frontier)
        self._closing: asyncio.Task[None] | None = None

    @property
    def crawl(self) -> Crawl | None:
        return crawl_of(self._crawler)

    @property
    def status(self) -> str:
        """``running``, ``paused`` or ``stopping``."""
        engine = self._crawler.engine
        if self._closing is not None or engine is None or engine._slot is None or engine._slot.closing is not None:
            return "stopping"
        return "paused" if engine.paused else "running"

    def document(self) -> dict[str, Any]:
        """The current numbers; those of the frontier may be slightly older."""
        crawl = self.crawl
        if crawl is None:
            return {}
        return {
            "status": self.status,
            "offline": None if crawl.connections.began is None else time() - crawl.connections.began,
            "speed": self._speed.update(monotonic(), crawl.stats.pages),
            "refused": counted(crawl.folder.refusals.counts),
            "refused_total": crawl.stats.refused,
            "family": [asdict(life) for life in crawl.ordering.family(AGENTS)],
            "learning": None,
            "learns": False,
            **{name: value for part in crawl.parts for name, value in part.status().items()},
            **self._frontier_of(),
        }

    def _frontier(self) -> dict[str, Any]:
        crawl = self.crawl
        if crawl is None or self.status == "stopping":
            return {}
        frontier, now = crawl.frontier, time()
        resting = getattr(frontier, "resting", None)  # some frontiers cannot tell without a search
        busiest = frontier.busiest(HOSTS) if isinstance(frontier, WatchedFrontier) else []
        blocks = {found.host: found.until for found in frontier.blocked()} if busiest else {}
        return {
            "waiting": len(frontier),
            "leased": frontier.leases(),
            "hosts_waiting": frontier.hosts(),
            "resting": resting() if resting else None,
            "evicted": frontier.evicted(),
            "best_score": frontier.best(),
            "frontier_hosts": [_host(stats, now, blocks.get(stats.host, 0.0), crawl.parts) for stats in busiest],
        }

    def control(self, action: str) -> None:
        """``pause``, ``resume`` or ``stop``; fetches in flight are completed. Raises ``ValueError`` for any other action."""
        engine = self._crawler.engine
        if action not in ACTIONS:
            raise ValueError(f"expected one of {', '.join(ACTIONS)}, not {action!r}")
        if engine is None or self.status == "stopping":
            return
        if action == "pause":
            engine.pause()
            return
        engine.unpause()
        if action == "stop":
            self._closing = asyncio.ensure_future(engine.close_spider_async(reason=INTERRUPTED))
        else:
            wake(self._crawler)


def _host(stats: HostStats, now: float, blocked_until: float, parts: Parts) -> dict[str, Any]:
    reasons = filter(None, (part.why_waits(stats.host, now) for part in parts))
    return {
        "host": stats.host[:100],
        "waiting": stats.waiting,
        "best": stats.best,
        "rests": max(0.0, stats.due - now),
        "blocked": max(0.0, blocked_until - now),
        "why_waits": next(reasons, "silent" if blocked_until > now else ""),
        "leased": stats.leased,
    }
