"""Connects the core with a running Scrapy crawler: finding the crawl, stopping it when the disk fails, the settings of its
topic, its clock, and the keys of ``request.meta``.
"""

from __future__ import annotations

import asyncio
import logging
import os
import time as system
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from scrapy import signals
from scrapy.exceptions import DropItem
from scrapy.settings import SETTINGS_PRIORITIES, BaseSettings
from scrapy.utils.defer import deferred_from_coro
from scrapy.utils.project import ENVVAR

from crawlproject.adapters.earlier_scrapy import close_spider, create_looping_call, is_asyncio_available
from crawlproject.configuration import read_options
from crawlproject.core.address_policy import AddressPolicy, make_safety
from crawlproject.core.heartbeat import PERIOD, Heartbeat
from crawlproject.core.robots import MAX_BYTES as ROBOTS_MAX_BYTES
from crawlproject.core.stopping import FINISHED, NO_NETWORK
from crawlproject.errors import FATAL, BadCrawlDir, Broken, OutOfMemory, StorageFailed
from crawlproject.records import Fetch

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.utils.asyncio import AsyncioLoopingCall
    from twisted.internet.task import LoopingCall

    from crawlproject.core.crawl import Crawl

logger = logging.getLogger(__name__)
frontier_closing = object()  # signal: the frontier is about to be closed; do not use it afterwards
STORAGE_FAILED = "storage_failed"  # finish reason; `scrapy crawl` then exits with code 3
OUT_OF_MEMORY = "out_of_memory"  # likewise
FAILED = "failed"  # a fault of the program; exit code 1
MEMUSAGE = "memusage_exceeded"  # of Scrapy's extension, likewise
INTERRUPTED = "shutdown"  # Scrapy's finish reason after a signal
OUTPUT_FAILED = "output_failed"  # the reader of the items is gone, or a file for them cannot be opened
TAKEN_AT = "frontier_taken_at"  # when the request left the frontier, seconds since the epoch
ENDED_AT = "frontier_ended_at"  # when the last byte of the response had come, seconds since the epoch
ASKED_REST = "frontier_asked_rest"  # seconds for which the server asked to be left alone (Retry-After)
LEASE = "frontier_lease"  # the key of the lease to which the request belongs
AS_SPELLED = "as_spelled"  # do not canonicalize, the server insists on this spelling
LONGEST = "longest_body"  # bytes of the body that are read, if the limit is not that of pages
UNREAD = "unread"  # why the body of the response could not be read
ANY_TYPE = "any_content_type"  # content types that are not those of pages are wanted, too
RESOURCE = "page_resource"  # the request was made by a page in the browser
EXCHANGE = "exchange"  # of a request by a page in the browser: what went over the network, for the archive of the crawl
NO_LOGIN = "no_login"  # the request is sent without the login of its host
SECRETS = "secret_headers"  # names of headers that must not enter an archive
ROBOTS = "robots"  # the request is for a robots.txt
AWAITED_ADDRESS = "awaited_address"  # nothing was fetched: another host with the same address is being visited
AWAITED_ROBOTS = "awaited_robots"  # only robots.txt was fetched; the page itself is still to come
LONGEST_RESOURCE = 2**22  # bytes of a script, or of its data

_LONGEST_CHAIN = 20  # failures, each the cause of the next
_ATTRIBUTE = "topical_crawl"
_STOPPED = "topical_stopped"
_SAFETY = "topical_safety"
_UNREAD = "topical_unread"
_tasks: set[asyncio.Task[None]] = set()  # the event loop keeps weak references only
_reserve: list[bytearray] = [bytearray(2**24)]  # reserved address space, freed when memory runs out
_PROJECT = SETTINGS_PRIORITIES["project"]


class Component:
    """A middleware, pipeline or extension of a running crawler. Scrapy makes it after the spider."""

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)


def attach(crawler: Crawler, crawl: Crawl) -> None:
    """Make ``crawl`` the crawl of this crawler, and log the warnings of its folder."""
    setattr(crawler, _ATTRIBUTE, crawl)
    for warning in crawl.folder.warnings:
        logger.warning("%s", warning)


def crawl_of(crawler: Crawler) -> Crawl | None:
    """The crawl of this crawler; None for spiders that are not topical."""
    return getattr(crawler, _ATTRIBUTE, None)


def safety_of(crawler: Crawler) -> AddressPolicy:
    """Where this crawler may connect to: what the settings allow, and the seeds of its topic, or the start URLs of its spider.

    Callable only once the spider exists.
    """
    safety: AddressPolicy | None = getattr(crawler, _SAFETY, None)
    if safety is None:
        crawl = crawl_of(crawler)
        seeds = crawl.topic.seeds if crawl else getattr(crawler.spider, "start_urls", ())
        safety = make_safety(crawl.options if crawl else read_options(crawler.settings), seeds)
        setattr(crawler, _SAFETY, safety)
    return safety


def count(crawler: Crawler, name: str, times: int = 1) -> None:
    """Add ``times`` to a statistic of Scrapy."""
    if crawler.stats:
        crawler.stats.inc_value(name, times)


def stopped(crawler: Crawler) -> bool:
    """Whether a fatal failure stops the crawl: of the disk, of the frontier's server, of memory, of the program. Nothing more
    is written then, so that the files stay consistent.
    """
    return hasattr(crawler, _STOPPED)


def torn(crawler: Crawler) -> bool:
    """Whether memory ran out, or the program failed, in the middle of a step: the state of the process must not be written
    any more.
    """
    failure = getattr(crawler, _STOPPED, None)
    return isinstance(failure, MemoryError | Broken) and not isinstance(failure, OutOfMemory)


def broken(crawler: Crawler) -> bool:
    """Whether a fault of the program stopped the crawl."""
    return isinstance(getattr(crawler, _STOPPED, None), Broken)


def interrupted(crawler: Crawler) -> bool:
    """Whether a topical crawl was ended by a signal, such as Ctrl-C, or by a lack of network, memory or a reader of its items."""
    crawl = crawl_of(crawler)
    if hasattr(crawler, _UNREAD):  # possibly set after the crawl had another finish reason
        return True
    endings = (INTERRUPTED, NO_NETWORK, MEMUSAGE, OUTPUT_FAILED)
    return crawl is not None and crawl.folder.manifest.found.get("reason") in endings


def fruitless(crawler: Crawler) -> Path | None:
    """The folder of a topical crawl that had nothing left to fetch and has no page; None for any other crawl.

    A worker of several may rightly have no pages, so it does not count.
    """
    crawl = crawl_of(crawler)
    if crawl is None or crawl.folder.history.pages or crawl.peers.has_server:
        return None
    return crawl.folder.path if crawl.folder.manifest.found.get("reason") == FINISHED else None


def wake(crawler: Crawler) -> None:
    """Let the engine ask the scheduler for requests now: otherwise it would wait up to 5 seconds."""
    slot = crawler.engine._slot if crawler.engine else None  # there is no public API (docs/upstream/0006)
    if slot is not None:
        slot.nextcall.schedule()


def stop(crawler: Crawler, failure: StorageFailed | MemoryError | BadCrawlDir | Broken) -> None:
    """End the crawl with its state as on disk; pages in flight are fetched again after a resume.

    Only the first failure is logged.
    """
    if stopped(crawler):
        return
    _reserve.clear()  # make room for the end of the crawl
    setattr(crawler, _STOPPED, failure)
    if isinstance(failure, MemoryError) and not isinstance(failure, OutOfMemory):
        failure = OutOfMemory("no memory is left")
    logger.error("%s. The crawl stops; %s.", failure, failure.advice)
    reason = FAILED if isinstance(failure, Broken) else STORAGE_FAILED
    end(crawler, OUT_OF_MEMORY if isinstance(failure, OutOfMemory) else reason)


def end(crawler: Crawler, reason: str) -> None:
    """Let the crawl end after the fetches in flight, unless it is already ending."""
    engine = crawler.engine
    if engine is not None and engine.spider is not None and engine._slot is not None and engine._slot.closing is None:
        closing = close_spider(engine, reason)
        if not is_asyncio_available():  # the project uses another reactor
            deferred_from_coro(closing)
            return
        task = asyncio.ensure_future(closing)
        _tasks.add(task)
        task.add_done_callback(_tasks.discard)


def output_failed(crawler: Crawler) -> None:
    """End the crawl because its items can no longer be written. It counts as interrupted, even if it was already ending."""
    setattr(crawler, _UNREAD, True)
    end(crawler, OUTPUT_FAILED)


def memory_error(failure: BaseException | None) -> MemoryError | None:
    """The ``MemoryError`` that caused a failure, or None."""
    seen = 0
    while failure is not None and not isinstance(failure, MemoryError) and seen < _LONGEST_CHAIN:
        failure, seen = failure.__cause__ or failure.__context__, seen + 1
    return failure if isinstance(failure, MemoryError) else None


def repeated(crawler: Crawler, work: Callable[[], None], seconds: float) -> None:
    """Call ``work`` every ``seconds``, from the beginning of the crawl until its frontier is about to be closed."""
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
    """A context in which a ``FATAL`` error stops the crawl and is not raised."""
    try:
        yield
    except FATAL as failure:
        stop(crawler, failure)


@contextmanager
def breaking() -> Iterator[None]:
    """A context in which any unexpected exception becomes ``FATAL``."""
    try:
        yield
    except (*FATAL, DropItem):
        raise
    except Exception as failure:
        logger.exception("An unexpected exception")
        raise Broken(f"{type(failure).__name__}: {failure}") from failure


def apply_topic_settings(settings: BaseSettings, wanted: Mapping[str, Any]) -> None:
    """Let the ``[crawl]`` table of a topic override the project's settings, but not ``-s`` or settings made by a script.

    ``settings.set(name, value)`` in a script, and the settings given to a ``CrawlerProcess``, have the same priority as those of
    the project. They are recognised by values that differ from those in the project's settings module.
    """
    name_of_module = os.environ.get(ENVVAR)
    project = vars(import_module(name_of_module)) if name_of_module else {}
    for name, value in wanted.items():
        chosen = settings.getpriority(name) == _PROJECT and (name not in project or settings[name] != project[name])
        if not chosen:
            settings.set(name, value, priority="spider")


class SteadyClock:
    """A wall clock that is never set. ``wall`` returns seconds since the epoch, ``elapsed`` seconds since any moment."""

    def __init__(self, wall: Callable[[], float], elapsed: Callable[[], float]) -> None:
        self._elapsed = elapsed
        self._offset = wall() - elapsed()

    def __call__(self) -> float:
        return self._offset + self._elapsed()


_elapsed: Callable[[], float] = system.monotonic
if hasattr(system, "CLOCK_BOOTTIME"):  # Linux: includes the sleep of the machine
    _elapsed = partial(system.clock_gettime, system.CLOCK_BOOTTIME)
time = SteadyClock(system.time, _elapsed)
"""Instead of ``time.time`` in everything that runs in a crawl."""
heartbeat = Heartbeat(time, system.thread_time)
"""That of the event loop, which crawls of topics keep beating."""


class HeartbeatWatch:
    """Keeps the heartbeat going while a crawl runs, and warns when the process was suspended."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._told = heartbeat.suspensions
        crawler.signals.connect(self._start, signals.spider_opened, weak=False)
        repeated(crawler, self._beat, PERIOD)

    def _start(self) -> None:
        heartbeat.start()
        self._crawler.signals.connect(heartbeat.stop, frontier_closing, weak=False)

    def _beat(self) -> None:
        heartbeat.beat()
        if heartbeat.suspensions == self._told:
            return
        self._told = heartbeat.suspensions
        count(self._crawler, "downloader/suspensions")
        logger.warning(
            "The process was suspended for %.0f s. Fetches that fail because of this are repeated.",
            heartbeat.latest_suspension(),
        )


def fetch_of(request: Request, status: int, now: float) -> Fetch:
    """The ``Fetch`` of a request that was taken from the frontier. It ended ``now``, unless its end was noted earlier."""
    at = request.meta.get(ENDED_AT, now)
    taken = request.meta.get(TAKEN_AT, at)
    seconds = max(0.0, at - taken - heartbeat.lost(taken, at))  # the time that the host took
    return Fetch(status, at, seconds, request.meta.get(ASKED_REST, 0.0))


def robots_agent(settings: BaseSettings) -> str:
    """The agent whose rules in robots.txt and robots tags apply: Scrapy's ``ROBOTSTXT_USER_AGENT``, else ``USER_AGENT``."""
    agent: str = settings.get("ROBOTSTXT_USER_AGENT") or settings["USER_AGENT"]
    return agent


def longest_body(request: Request, page_max_bytes: int) -> int:
    """How many bytes of the body are read, unpacked or not; for a robots.txt, the limit that RFC 9309 allows."""
    meta = request.meta
    longest: int = meta.get(LONGEST, page_max_bytes)
    return ROBOTS_MAX_BYTES if ROBOTS in meta else LONGEST_RESOURCE if RESOURCE in meta else longest
