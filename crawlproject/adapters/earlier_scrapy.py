"""Functions that the add-on needs and that Scrapy before 2.18 lacks, implemented for versions down to 2.13.

Everything else needs 2.19, whose aiohttp handler is the base of ours. This file can go when the add-on may require 2.18.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from importlib.util import find_spec
from inspect import isawaitable
from typing import TYPE_CHECKING, Any

import scrapy
from scrapy import signals
from scrapy.downloadermiddlewares.robotstxt import RobotsTxtMiddleware
from scrapy.utils.defer import deferred_from_coro, maybe_deferred_to_future
from scrapy.utils.httpobj import urlparse_cached
from twisted.internet.defer import Deferred

from crawlproject.errors import BadInput

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.core.engine import ExecutionEngine
    from scrapy.crawler import Crawler

_IS_2_14 = find_spec("scrapy.utils.asyncio") is not None

if TYPE_CHECKING or _IS_2_14:
    from scrapy.utils.asyncio import call_later, create_looping_call, is_asyncio_available
else:
    from scrapy.utils.reactor import is_asyncio_reactor_installed as is_asyncio_available
    from twisted.internet.task import LoopingCall as create_looping_call

    def call_later(delay: float, work: Callable[[], object]) -> Any:
        from twisted.internet import reactor  # importing it installs it

        return reactor.callLater(delay, work)


__all__ = [
    "call_later",
    "close_spider",
    "crawl_delay",
    "create_looping_call",
    "hear_of_robots",
    "is_asyncio_available",
    "refuse_earlier",
]


def refuse_earlier(what: str) -> None:
    """Raise ``BadInput`` if Scrapy is earlier than 2.19, which ``what`` needs."""
    if find_spec("scrapy.core.downloader.handlers._aiohttp") is None:
        raise BadInput(f"Scrapy {scrapy.__version__}", f"only the add-on works with it; {what} needs 2.19")


async def close_spider(engine: ExecutionEngine, reason: str) -> None:
    if _IS_2_14:
        await engine.close_spider_async(reason=reason)
    elif engine.spider is not None:
        await maybe_deferred_to_future(engine.close_spider(engine.spider, reason))


def hear_of_robots(crawler: Crawler, hear: Callable[[Any, Request], Awaitable[None]]) -> None:
    """Await ``hear(robotparser=..., request=...)`` before the rules of a robots.txt are used for the first time."""
    if hasattr(signals, "robots_parsed"):
        crawler.signals.connect(hear, signals.robots_parsed)
        return
    middleware: Any = crawler.get_downloader_middleware(RobotsTxtMiddleware)
    if middleware is None:
        return
    read = middleware.robot_parser

    async def robot_parser(request: Request, *spider: Any) -> Any:
        is_new = urlparse_cached(request).netloc not in middleware._parsers
        parser = read(request, *spider)
        if isinstance(parser, Deferred):
            parser = maybe_deferred_to_future(parser)
        if isawaitable(parser):
            parser = await parser
        if is_new and parser is not None:
            await hear(robotparser=parser, request=request)  # type: ignore[call-arg]
        return parser

    middleware.robot_parser = robot_parser if _IS_2_14 else lambda *given: deferred_from_coro(robot_parser(*given))


def crawl_delay(parser: Any, agent: str) -> float:
    """Seconds that a robots.txt asks this agent to wait between visits; 0 if it asks for none."""
    ask = getattr(parser, "crawl_delay", None) or getattr(getattr(parser, "rp", None), "crawl_delay", None)
    return float((ask and ask(agent)) or 0.0)
