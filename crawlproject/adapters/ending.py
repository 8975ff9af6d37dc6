"""Messages for users who end a crawl by a signal: a first one stops it after the fetches in flight, a second one at once.

Scrapy's own handlers do that without a message. SIGHUP, which is sent when a terminal is closed or a connection is lost, ends a
crawl like SIGTERM.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from scrapy import signals

from crawlproject.adapters.earlier_scrapy import is_asyncio_available
from crawlproject.adapters.extensions.progress import close_displays, show
from crawlproject.adapters.running import crawl_of
from crawlproject.pages.text.printable import counted

if TYPE_CHECKING:
    from types import FrameType

    from scrapy.crawler import Crawler

_AGAIN: dict[int, str] = {signal.SIGINT: "Ctrl-C again", signal.SIGTERM: "a second signal"}


def stop_on_hangup() -> None:
    """Let SIGHUP act like SIGTERM, but only once, because a shell and the system may both send it. ``nohup`` is respected."""
    if signal.getsignal(signal.SIGHUP) is signal.SIG_DFL:
        signal.signal(signal.SIGHUP, _hang_up)


def _hang_up(number: int, frame: FrameType | None) -> None:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    handler = signal.getsignal(signal.SIGTERM)
    if callable(handler):
        handler(signal.SIGTERM, frame)
    else:  # Scrapy has not installed its handler yet
        signal.raise_signal(signal.SIGTERM)


def tell_of_signals(crawler: Crawler) -> None:
    """While the spider runs, report at once what the crawl waits for after the first signal."""

    def install() -> None:
        if is_asyncio_available():
            call_soon = asyncio.get_running_loop().call_soon_threadsafe
            for number in _AGAIN:
                tell = partial(call_soon, partial(_tell, crawler, number))
                signal.signal(number, _telling(tell, signal.getsignal(number)))

    crawler.signals.connect(install, signals.spider_opened, weak=False)  # Scrapy has installed its handlers by then


def _telling(tell: Callable[[], object], handler: Any) -> Callable[[int, FrameType | None], None]:
    """A signal handler that calls ``handler``, which replaces this one, and prints a message from the event loop, because the
    signal may have interrupted a write.
    """

    def tell_and_stop(number: int, frame: FrameType | None) -> None:
        tell()
        if callable(handler):
            handler(number, frame)

    return tell_and_stop


def _tell(crawler: Crawler, number: int) -> None:
    crawl = crawl_of(crawler)
    under_way = crawl.frontier.leases() if crawl is not None else 0
    awaited = f" after {counted(under_way, 'fetch', 'fetches')} in flight" if under_way else ""
    show(crawler, f"Stopping{awaited}; {_AGAIN[number]} stops at once.")


def tell_of_forced_end(crawler: Crawler) -> None:
    """Report that a second signal has ended the crawl, or the steps after its report."""
    from crawlproject.adapters.extensions.report import ReportWriter  # slow to import

    close_displays()
    writer = None
    with suppress(RuntimeError):  # raised while the crawl is still being put together
        writer = crawler.get_extension(ReportWriter)
    lacking = "" if writer is not None and writer.written else ", without a report"
    show(crawler, f"Stopped at once{lacking}. Nothing is lost: run the same command again to resume.")
