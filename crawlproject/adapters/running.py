"""Where the core meets a running Scrapy crawler: finding the crawl, and stopping it when the disk fails."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from scrapy import signals
from scrapy.utils.asyncio import create_looping_call, is_asyncio_available
from scrapy.utils.defer import deferred_from_coro

from crawlproject.configuration import read_options
from crawlproject.core.address_policy import AddressPolicy, make_safety
from crawlproject.core.crawl import Crawl
from crawlproject.core.stopping import FINISHED, NO_NETWORK
from crawlproject.errors import StorageFailed

if TYPE_CHECKING:
    from pathlib import Path

    from scrapy.crawler import Crawler
    from scrapy.utils.asyncio import AsyncioLoopingCall
    from twisted.internet.task import LoopingCall

logger = logging.getLogger(__name__)

frontier_closing = object()  # signal: the frontier is about to be closed; do not use it afterwards
STORAGE_FAILED = "storage_failed"  # finish reason; `scrapy crawl` then exits with code 3
INTERRUPTED = "shutdown"  # Scrapy's finish reason after a signal
_ATTRIBUTE = "topical_crawl"
_STOPPED = "storage_failed"
_SAFETY = "topical_safety"
_tasks: set[asyncio.Task[None]] = set()  # the event loop keeps weak references only


def attach(crawler: Crawler, crawl: Crawl) -> None:
    """Make ``crawl`` the crawl of this crawler, and say what its folder had lost."""
    setattr(crawler, _ATTRIBUTE, crawl)
    for warning in crawl.folder.warnings:
        logger.warning("%s", warning)


def crawl_of(crawler: Crawler) -> Crawl | None:
    """The crawl of this crawler; None for spiders that are not topical."""
    return getattr(crawler, _ATTRIBUTE, None)


def safety_of(crawler: Crawler) -> AddressPolicy:
    """Where this crawler may connect to: what the settings allow, and the seeds of its topic, or of another spider.

    Callable only once the spider exists.
    """
    safety: AddressPolicy | None = getattr(crawler, _SAFETY, None)
    if safety is None:
        crawl = crawl_of(crawler)
        seeds = crawl.topic.seeds if crawl else getattr(crawler.spider, "start_urls", ())
        safety = make_safety(crawl.options if crawl else read_options(crawler.settings), seeds)
        setattr(crawler, _SAFETY, safety)
    return safety


def count(crawler: Crawler, name: str) -> None:
    """Add 1 to a statistic."""
    if crawler.stats:
        crawler.stats.inc_value(name)


def stopped(crawler: Crawler) -> bool:
    """Whether the disk refused a write: nothing more is written then, so that the files stay consistent."""
    return getattr(crawler, _STOPPED, False)


def interrupted(crawler: Crawler) -> bool:
    """Whether a topical crawl was ended by a signal, such as Ctrl-C, or for want of a network."""
    crawl = crawl_of(crawler)
    return crawl is not None and crawl.folder.manifest.found.get("reason") in (INTERRUPTED, NO_NETWORK)


def fruitless(crawler: Crawler) -> Path | None:
    """The folder of a topical crawl that had nothing left to fetch and has no page; None for any other.

    One of several workers may have none.
    """
    crawl = crawl_of(crawler)
    if crawl is None or crawl.folder.history.pages or crawl.peers.has_server:
        return None
    return crawl.folder.path if crawl.folder.manifest.found.get("reason") == FINISHED else None


def wake(crawler: Crawler) -> None:
    """Let the engine ask the scheduler for requests now: else it would wait up to 5 seconds."""
    slot = crawler.engine._slot if crawler.engine else None
    if slot is not None:
        slot.nextcall.schedule()


def stop(crawler: Crawler, failure: StorageFailed) -> None:
    """End the crawl with its state as the disk holds it; pages in flight are fetched again after a resume.

    Only the first failure is logged.
    """
    if stopped(crawler):
        return
    setattr(crawler, _STOPPED, True)
    logger.error("%s. The crawl stops; free some space and run the same command to resume.", failure)
    engine = crawler.engine
    if engine is not None and engine.spider is not None and engine._slot is not None and engine._slot.closing is None:
        closing = engine.close_spider_async(reason=STORAGE_FAILED)
        if not is_asyncio_available():  # a project with another reactor
            deferred_from_coro(closing)
            return
        task = asyncio.ensure_future(closing)
        _tasks.add(task)
        task.add_done_callback(_tasks.discard)


def repeated(crawler: Crawler, work: Callable[[], None], seconds: float) -> None:
    """Call ``work`` every so many seconds, from the beginning of the crawl until its frontier is about to be closed."""
    loop: AsyncioLoopingCall | LoopingCall | None = None

    def begin() -> None:
        nonlocal loop
        loop = create_looping_call(work)
        loop.start(seconds, now=False)

    def end() -> None:
        if loop is not None and loop.running:
            loop.stop()

    crawler.signals.connect(begin, signals.spider_opened, weak=False)
    crawler.signals.connect(end, frontier_closing, weak=False)


@contextmanager
def stopping(crawler: Crawler) -> Iterator[None]:
    """Inside, a refused write stops the crawl and is not raised."""
    try:
        yield
    except StorageFailed as failure:
        stop(crawler, failure)
