"""The services of one crawl: what handlers, parts and replays reach it by."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from crawlproject.core.admission import Admission
from crawlproject.core.connections import Connections
from crawlproject.core.history_writer import HistoryWriter
from crawlproject.core.kinds.handler import Handler
from crawlproject.core.ordering_feed import OrderingFeed
from crawlproject.core.outlinks import Outlinks
from crawlproject.core.page_steps import PageSteps
from crawlproject.core.part import Parts
from crawlproject.core.peers import Peers
from crawlproject.core.stopping import Stopping
from crawlproject.frontier.base import Frontier
from crawlproject.options import Options
from crawlproject.orderings.base import BaseOrdering
from crawlproject.pages.text.relevance import TopicJudge
from crawlproject.records import CrawlUrl, Topic
from crawlproject.storage.crawl_folder import CrawlFolder


@dataclass(slots=True)
class Services:
    """One object a crawl. ``kinds`` are the handlers by kind of URL; they are complete when the crawl is put together.

    ``now`` is the time of the latest take, in seconds since the epoch.
    """

    topic: Topic
    options: Options
    canonicalize: Callable[..., str]
    judge: TopicJudge
    ordering: BaseOrdering
    folder: CrawlFolder
    frontier: Frontier
    peers: Peers
    parts: Parts
    admission: Admission
    connections: Connections
    feed: OrderingFeed
    history: HistoryWriter
    outlinks: Outlinks
    steps: PageSteps
    stopping: Stopping
    kinds: dict[str, Handler] = field(default_factory=dict)
    now: float = 0.0

    def offer(self, url: CrawlUrl) -> bool:
        """Offer a URL by the rules of its kind; whether it may be fetched now."""
        return self.kinds[url.kind].offer(url)

    def handler(self, kind: str) -> Handler:
        """The handler of a kind; of one whose part is not here any more, that of nothing (``kinds/page.py``)."""
        return self.kinds.get(kind) or self.kinds[""]

    def handlers(self) -> Mapping[str, Handler]:
        """All of them."""
        return self.kinds
