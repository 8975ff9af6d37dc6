"""Metrics of a running crawl for Prometheus: over HTTP, in a file, or both.

``CRAWL_METRICS_PORT`` serves ``/metrics`` on ``CRAWL_METRICS_HOST``, which is loopback by default: anyone who reaches
the port can read what is crawled. On loopback, a web page that is open in a browser can also reach it by rebinding its
name: so there the Host header must be an address of this machine.

``CRAWL_METRICS_FILE`` is replaced atomically every 15 seconds and at the end, for the textfile collector of node_exporter.
Everything is read in the event loop, where the crawl runs, so that nothing changes meanwhile.
"""

from __future__ import annotations

import logging
import socket
from collections.abc import Callable, Iterator
from functools import wraps
from pathlib import Path
from time import monotonic, perf_counter
from typing import TYPE_CHECKING, Any

from scrapy import signals
from scrapy.exceptions import NotConfigured

from crawlproject.adapters.earlier_scrapy import create_looping_call
from crawlproject.adapters.extensions.progress import Speed
from crawlproject.adapters.feeds import PageItem
from crawlproject.adapters.running import crawl_of, frontier_closing, time
from crawlproject.configuration import read_options
from crawlproject.errors import BadSetting, StorageFailed
from crawlproject.extras import need
from crawlproject.frontier.host_queue import queue_of
from crawlproject.storage.append_log import write_atomically
from crawlproject.urls.addresses import REBOUND, is_loopback, names_this_machine

if TYPE_CHECKING:
    from typing import Self

    from aiohttp import web
    from prometheus_client import CollectorRegistry, Metric
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.utils.asyncio import AsyncioLoopingCall
    from twisted.internet.task import LoopingCall

    from crawlproject.frontier.base import Frontier

logger = logging.getLogger(__name__)

_WRITE_EVERY = 15.0  # seconds
_TIMED = (
    "read",
    "examine",
    "score_page",
    "score_links",
    "visit",
    "keep",
    "offer",
)  # ``PageSteps``, besides ``Crawl.take``


class Metrics:
    """``EXTENSIONS = {"crawlproject.adapters.extensions.metrics.Metrics": 30}``, with any spider and either of our schedulers.

    Raises ``BadSetting`` when nothing can listen on the port.
    """

    def __init__(self, crawler: Crawler, listening: socket.socket | None, path: Path | None) -> None:
        from crawlproject.adapters.extensions.metric_families import (  # prometheus_client takes a while to import
            Pauses,
            StepTimes,
        )

        self.crawler = crawler
        self._listening = listening
        self._path = path
        self._pauses = Pauses()
        self._steps = StepTimes()
        self._speed = Speed()
        self._relevant = 0
        self._judged = 0
        self._frontier: Frontier | None = None
        self._last: list[Metric] = []  # the numbers of the frontier when it was closed
        self._registry = self._new_registry()
        self._runner: web.ServerRunner | None = None
        self._loop: AsyncioLoopingCall | LoopingCall | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        settings = crawler.settings
        options = read_options({name: settings[name] for name in settings if name.startswith("CRAWL_METRICS_")})
        if not options.crawl_metrics_port and not options.crawl_metrics_file:
            raise NotConfigured  # it is off
        need(f"setting CRAWL_METRICS_{'PORT' if options.crawl_metrics_port else 'FILE'}", "metrics")
        listening = None
        if options.crawl_metrics_port:
            listening = _listen(options.crawl_metrics_host, options.crawl_metrics_port)
        metrics = cls(crawler, listening, Path(options.crawl_metrics_file) if options.crawl_metrics_file else None)
        crawler.signals.connect(metrics.begin, signals.spider_opened)
        crawler.signals.connect(metrics.frontier_closing, frontier_closing)
        crawler.signals.connect(metrics.end, signals.spider_closed)
        crawler.signals.connect(metrics.started, signals.request_reached_downloader)
        crawler.signals.connect(metrics.ended, signals.response_downloaded)
        crawler.signals.connect(metrics.scraped, signals.item_scraped)
        return metrics

    # ------------------------------------------------------------ signals

    async def begin(self) -> None:
        """Start serving and writing."""
        scheduler = self.crawler.engine.scheduler if self.crawler.engine else None
        self._frontier = getattr(scheduler, "frontier", None)
        crawl = crawl_of(self.crawler)
        if crawl is not None:
            for part, step in (crawl, "take"), *((crawl.steps, step) for step in _TIMED):
                setattr(part, step, self._timed(step, getattr(part, step)))
        if self._listening is not None:
            host = self.crawler.settings.get("CRAWL_METRICS_HOST") or "127.0.0.1"
            self._runner = await _serve(self._listening, host, self._text)
        if self._path is not None:
            self._loop = create_looping_call(self._write)
            self._loop.start(_WRITE_EVERY, now=True)

    def frontier_closing(self) -> None:
        from crawlproject.adapters.extensions.metric_families import of_frontier

        if self._frontier is not None:
            self._last, self._frontier = list(of_frontier(self._frontier)), None

    async def end(self) -> None:
        """Stop, and write the final numbers."""
        if self._loop is not None and self._loop.running:
            self._loop.stop()
        if self._path is not None:
            self._write()
        if self._runner is not None:
            await self._runner.cleanup()

    def started(self, request: Request) -> None:
        self._pauses.started(queue_of(request.url), time())

    def ended(self, request: Request) -> None:
        self._pauses.ended(queue_of(request.url), time())

    def scraped(self, item: Any) -> None:
        crawl = crawl_of(self.crawler)
        if crawl is not None and isinstance(item, PageItem):
            self._judged += 1
            self._relevant += item.page.relevance >= crawl.options.page_relevant

    # ------------------------------------------------------------ reading

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics; ``prometheus_client`` calls this at each scrape."""
        from crawlproject.adapters.extensions import metric_families as families

        yield from families.of_stats(self.crawler.stats.get_stats() if self.crawler.stats else {})
        yield from families.of_frontier(self._frontier) if self._frontier is not None else self._last
        crawl = crawl_of(self.crawler)
        if crawl is not None:
            speed = self._speed.update(monotonic(), crawl.stats.pages)
            yield from families.of_crawl(crawl, self._relevant, self._judged, speed)
            yield self._steps.family()
        yield self._pauses.family()

    def _new_registry(self) -> CollectorRegistry:
        from prometheus_client import CollectorRegistry, ProcessCollector

        registry = CollectorRegistry(auto_describe=False)
        registry.register(self)
        ProcessCollector(registry=registry)
        return registry

    def _text(self) -> bytes:
        from prometheus_client import generate_latest

        return generate_latest(self._registry)

    def _write(self) -> None:
        assert self._path is not None
        try:
            write_atomically(self._path, [self._text()], sync=False)
        except StorageFailed as failure:  # not worth stopping the crawl
            logger.warning("%s", failure)

    def _timed(self, step: str, method: Callable[..., Any]) -> Callable[..., Any]:
        steps = self._steps

        @wraps(method)
        def timed(*args: Any, **kwargs: Any) -> Any:
            began = perf_counter()
            try:
                return method(*args, **kwargs)
            finally:
                steps.add(step, perf_counter() - began)

        return timed


def _listen(host: str, port: int) -> socket.socket:
    try:
        return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except (OSError, OverflowError) as refused:
        raise BadSetting("setting CRAWL_METRICS_PORT", f"cannot listen on {host}:{port}: {refused}") from None


async def _serve(listening: socket.socket, host: str, text: Callable[[], bytes]) -> web.ServerRunner:
    """Answer ``GET /metrics`` on the port until the runner is cleaned up; ``host`` is the setting ``CRAWL_METRICS_HOST``."""
    from aiohttp import web
    from prometheus_client import CONTENT_TYPE_LATEST

    guarded = is_loopback(listening.getsockname()[0])  # other addresses have names in their networks

    async def answer(request: web.BaseRequest) -> web.Response:
        if guarded and not names_this_machine(request.headers.get("Host", ""), host):
            return web.Response(status=403, text=f"{REBOUND}\n")
        if request.path != "/metrics":
            return web.Response(status=404, text="see /metrics\n")
        if request.method not in ("GET", "HEAD"):
            return web.Response(status=405, headers={"Allow": "GET, HEAD"})
        return web.Response(body=text(), headers={"Content-Type": CONTENT_TYPE_LATEST})

    runner = web.ServerRunner(web.Server(answer, access_log=None), shutdown_timeout=0.5)
    await runner.setup()
    await web.SockSite(runner, listening).start()
    return runner
