"""Several workers of one crawl, which share one frontier in Redis and learn together."""

from __future__ import annotations

from collections.abc import Callable

from crawlproject.core.part import Part, Setup
from crawlproject.core.peers import Peers
from crawlproject.core.set_clock import set_back
from crawlproject.core.stopping import DRAINED
from crawlproject.frontier.base import Frontier
from crawlproject.frontier.factory import join_frontier
from crawlproject.options import Options
from crawlproject.parts.workers.shared_peers import SharedPeers
from crawlproject.storage.crawl_folder import CrawlFolder


class Workers(Part):
    """Present with ``FRONTIER = "redis"``: the peers of a worker, and its end when it was told to leave."""

    name = "workers"

    def __init__(self, peers: SharedPeers) -> None:
        self._peers = peers

    @classmethod
    def make(cls, setup: Setup) -> Workers | None:
        return cls(setup.peers) if isinstance(setup.peers, SharedPeers) else None

    def end_reason(self, now: float) -> str:
        return DRAINED if self._peers.has_left() else ""

    @classmethod
    def open_frontier(
        cls, options: Options, folder: CrawlFolder, *, clock: Callable[[], float], commit: int, name: str, endless: bool
    ) -> tuple[Frontier, Peers] | None:
        if options.frontier != "redis":
            return None
        frontier = join_frontier(
            options,
            options.frontier_redis_name or name,
            folder.path / "frontier",
            clock=clock,
            commit=commit,
            behind=set_back(folder.path / "history.jsonl", clock(), folder.manifest.last_ended(folder.history.lines)),
            pages=folder.history.pages,
            endless=endless,
        )
        return frontier, SharedPeers(options.worker, frontier, folder.path)
