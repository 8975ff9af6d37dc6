"""Progress of a crawl on standard error: a status line on a terminal, plain lines elsewhere.

Setting ``CRAWL_PROGRESS_SECONDS``: seconds between two plain lines (default 10; 0: only the final summary). On a terminal,
one line at the bottom is rewritten in place every second instead, and log messages scroll by above it. With ``LOG_FILE``, the
plain lines go to the log.
"""

from __future__ import annotations

import logging
import os
import shutil
import sys
from collections.abc import Callable
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Self, TextIO, cast

from scrapy import signals

from crawlproject.adapters.earlier_scrapy import create_looping_call
from crawlproject.adapters.running import (
    FAILED,
    INTERRUPTED,
    MEMUSAGE,
    OUT_OF_MEMORY,
    OUTPUT_FAILED,
    STORAGE_FAILED,
    crawl_of,
)
from crawlproject.configuration import program
from crawlproject.core.stopping import NO_NETWORK
from crawlproject.errors import BadCrawlDir
from crawlproject.pages.text.printable import counted
from crawlproject.reports.evidence import EVIDENCE
from crawlproject.storage.read import read_json

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.utils.asyncio import AsyncioLoopingCall
    from twisted.internet.task import LoopingCall

    from crawlproject.core.stats import CrawlStats

logger = logging.getLogger(__name__)

_REFRESH = 1.0  # seconds between two drawings on a terminal
_RECENT = 30.0  # seconds over which the current speed is averaged
_RESUMABLE = (INTERRUPTED, NO_NETWORK, OUTPUT_FAILED, STORAGE_FAILED, OUT_OF_MEMORY, MEMUSAGE, FAILED)
_LOOK_AFTER = 100  # pages after which a crawl that found nothing on the topic shows a hint
_NOTHING = 0.005  # mean relevance of the latest pages
_OFF_TOPIC = "off topic"
_ERASE = "\r\x1b[K"
_BETWEEN = " · "  # parts of a line


class Speed:
    """Pages per second over the latest ``window`` seconds."""

    def __init__(self, window: float = _RECENT) -> None:
        self._window = window
        self._samples: list[tuple[float, int]] = []

    def update(self, now: float, pages: int) -> float:
        """The speed at ``now``, with ``pages`` crawled in all; 0 at the first call."""
        self._samples.append((now, pages))
        while len(self._samples) > 2 and self._samples[1][0] <= now - self._window:
            self._samples.pop(0)
        then, before = self._samples[0]
        return (pages - before) / (now - then) if now > then else 0.0


class Progress:
    """``EXTENSIONS = {"crawlproject.adapters.extensions.progress.Progress": 10}``."""

    def __init__(self, crawler: Crawler, seconds: float, stream: TextIO, clock: Callable[[], float]) -> None:
        self._crawler = crawler
        self._clock = clock
        self._speed = Speed()
        self._status = StatusLine(stream) if seconds > 0 and is_interactive(stream) else None
        self._print: Callable[[str], object] = lambda line: print(line, file=stream, flush=True)
        if crawler.settings.get("LOG_FILE"):
            self._status = None
            # At the level of the log or higher, so that the lines always appear in it.
            self._print = partial(logger.log, max(logging.INFO, _log_level(crawler)))
        self._loop: AsyncioLoopingCall | LoopingCall | None = None
        self._interval = _REFRESH if self._status else seconds
        self._started = 0.0
        self._pages_before = 0
        self._reason = ""
        self._told: set[str] = set()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        seconds = crawler.settings.getfloat("CRAWL_PROGRESS_SECONDS", 10.0)
        progress = cls(crawler, seconds, sys.stderr, monotonic)
        crawler.signals.connect(progress.begin, signal=signals.spider_opened)
        crawler.signals.connect(progress.closing, signal=signals.spider_closed)
        crawler.signals.connect(progress.end, signal=signals.engine_stopped)
        return progress

    def begin(self) -> None:
        """Start the display, unless the spider is not topical."""
        crawl = crawl_of(self._crawler)
        if crawl is None:
            return
        source = crawl.stats
        self._started = self._clock()
        self._pages_before = source.pages
        self._speed.update(self._started, source.pages)
        if self._interval <= 0:
            return
        if self._status:
            self._status.open()
        self._loop = create_looping_call(self.tick)
        self._loop.start(self._interval, now=self._status is not None)

    def tick(self) -> None:
        """Show the numbers of this moment."""
        crawl = crawl_of(self._crawler)
        if crawl is None:
            return
        source = crawl.stats
        self._tell_of_the_last(source)
        self._tell_of_nothing(source)
        line = progress_line(source, self._speed.update(self._clock(), source.pages), self._clock() - self._started)
        if self._status:
            self._status.show(line)
        else:
            self._print(line)

    def _tell_of_the_last(self, source: CrawlStats) -> None:
        """Show once for each class that only URLs behind all else are left."""
        left = source.all_that_is_left
        if left and source.is_endless and left not in self._told:
            self._told.add(left)
            show(
                self._crawler,
                f"For half a minute, only {left} were fetched, such as {source.taken_last}. "
                f"{counted(source.frontier_size, 'URL')} may lead to more without end, like the months of a calendar. "
                "End the crawl with Ctrl-C, or set a limit, such as -s CRAWL_MAX_PAGES=5000, -s CRAWL_MAX_SECONDS=3600 or "
                "-s CRAWL_MIN_HARVEST=0.05.",
            )

    def _tell_of_nothing(self, source: CrawlStats) -> None:
        """Show once what may be wrong with a topic if no page is about it."""
        if _OFF_TOPIC in self._told or source.pages < _LOOK_AFTER:
            return
        self._told.add(_OFF_TOPIC)
        relevance = source.recent_relevance()
        if relevance < _NOTHING:
            show(
                self._crawler,
                f"After {counted(source.pages, 'page')} the latest have a mean relevance of {relevance:.3f}: hardly any has the "
                "keywords of the topic. Are these in the language of the pages, and do the seeds lead to the topic? "
                f"{program} topic check shows what the seeds say.",
            )

    def closing(self, reason: str) -> None:
        """Stop the display: the crawl is closed."""
        self._reason = reason
        if self._loop is not None and self._loop.running:
            self._loop.stop()

    def end(self) -> None:
        """Replace the display by a summary. Called after every ``spider_closed``, so the report is written."""
        crawl = crawl_of(self._crawler)
        if crawl is None or not self._started:
            return
        source = crawl.stats
        if self._status:
            self._status.close()
        self._tell_of_nothing(source)  # a short crawl may have had no tick
        new_pages, elapsed = source.pages - self._pages_before, self._clock() - self._started
        seconds, speed = reported_pace(source) or (elapsed, new_pages / elapsed if elapsed > 0 else 0.0)
        self._print(summary_line(source, new_pages, seconds, speed, self._reason))
        for part in crawl.parts:
            if lines := part.progress():
                self._print("\n".join(lines))


def _log_level(crawler: Crawler) -> int:
    level = logging.getLevelName(crawler.settings.get("LOG_LEVEL") or "INFO")
    return level if isinstance(level, int) else logging.INFO


def progress_line(source: CrawlStats, speed: float, elapsed: float) -> str:
    """One line with the most important numbers first, because it is cut at the terminal's width."""
    best, left = source.best_waiting, source.all_that_is_left
    in_budget = source.pages < source.max_pages  # revisits exceed the budget; 0: no budget
    parts = [
        clock_time(elapsed),
        f"{source.pages:,} of {source.max_pages:,} pages" if in_budget else counted(source.pages, "page"),
        f"{speed:.1f}/s",
        f"only {left} are left: {counted(source.frontier_size, 'URL')}" if left else "",
        f"relevance {source.recent_relevance():.3f}",
        counted(source.errors, "error"),
        f"{source.refused:,} refused",
        "" if left else f"{source.frontier_size:,} waiting on {counted(source.hosts_waiting, 'host')}",
        "" if best is None else f"best {best:.3f}",
    ]
    return " · ".join(filter(None, parts))


def reported_pace(source: CrawlStats) -> tuple[float, float] | None:
    """The crawling time and the pages per second of the report, so that both agree; None without an up-to-date report."""
    report = source.report_path
    try:
        document = read_json(report.with_name(EVIDENCE)) if report is not None else None
        numbers = {number["anchor"]: number["value"] for number in (document or {}).get("numbers", ())}
    except (BadCrawlDir, KeyError, TypeError):
        return None
    if numbers.get("fetches") != source.fetches or not numbers.get("time"):
        return None
    return numbers["time"], numbers["speed"] or 0.0


def summary_line(source: CrawlStats, new_pages: int, elapsed: float, speed: float, reason: str) -> str:
    """The result of the crawl, and where its report is."""
    added = "" if new_pages == source.pages else f" ({new_pages:,} in this run)"
    lines = [
        f"Crawl ended ({reason or 'unknown reason'}): {counted(source.pages, 'page')}{added}"
        f" of {counted(source.fetches, 'fetch', 'fetches')} in {clock_time(round(elapsed))}, {speed:.1f} pages/s,"
        f" {counted(source.errors, 'error')}, {counted(source.refused, 'link')} refused."
    ]
    if not source.pages:
        lines.append("No page was stored; the report shows what happened to the seeds.")
    if source.unfollowed:
        lines.append(f"{counted(source.unfollowed, 'link')} of pages that ask for it (nofollow) not followed.")
    if reason in _RESUMABLE:
        lines.append("Run the same command again to resume.")
    report = source.report_path
    if report is not None and report.exists():
        lines.append(f"Report: {report}")
    return "\n".join(lines)


def clock_time(seconds: float) -> str:
    """``m:ss`` or ``h:mm:ss``."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def is_interactive(stream: TextIO) -> bool:
    """Whether a line on ``stream`` can be rewritten: it is a terminal, and not a dumb one (``TERM``)."""
    return stream.isatty() and os.environ.get("TERM", "dumb") not in ("dumb", "unknown", "")


def print_share(what: str, share: float) -> None:
    """On a terminal, print the share of a task that is done, over the previous value."""
    if is_interactive(sys.stderr):
        print(f"\r{share:4.0%} {what}", end="" if share < 1.0 else "\n", file=sys.stderr, flush=True)


def show(crawler: Crawler, message: str) -> None:
    """Show a message about a crawl in the same place as its progress."""
    if crawler.settings.get("LOG_FILE"):
        logger.log(max(logging.INFO, _log_level(crawler)), message)
    else:
        print_above(message, sys.stderr)


def close_displays() -> None:
    """Remove the status lines of crawls that were ended abruptly."""
    while _open:
        _open[-1].close()


def print_above(message: str, stream: TextIO) -> None:
    """Print a line to ``stream``, above its status line if there is one."""
    above = next((line for line in _open if line.is_on(stream)), None)
    print(message, file=cast(TextIO, above or stream), flush=True)


class StatusLine:
    """The bottom line of a terminal. From ``open`` to ``close``, the root logger's handlers for ``stream`` write through it."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._line = ""
        self._whole = True  # the last message written ended its line
        self._handlers: list[logging.StreamHandler[TextIO]] = []

    def open(self) -> None:
        """Print log messages above the line from now on."""
        _open.append(self)
        for handler in logging.root.handlers:
            if isinstance(handler, logging.StreamHandler) and handler.stream is self._stream:
                handler.setStream(cast(TextIO, self))
                self._handlers.append(handler)

    def is_on(self, stream: TextIO) -> bool:
        return self._stream is stream

    def show(self, line: str) -> None:
        """Replace the line by ``line``, cut to the terminal's width, if possible between two of its parts."""
        width = shutil.get_terminal_size().columns - 1
        if len(line) > width:
            line = line[: width - 1].rpartition(_BETWEEN)[0] or line[: width - 1] + "…"
        self._line = line
        if self._whole:
            self._stream.write(_ERASE + self._line)
            self._stream.flush()

    def close(self) -> None:
        """Remove the line and give the stream back to the log."""
        for handler in self._handlers:
            handler.setStream(self._stream)
        self._handlers.clear()
        if self in _open:
            _open.remove(self)
        self._line = ""
        self._stream.write(_ERASE)
        self._stream.flush()

    def write(self, text: str) -> None:
        """Write log output above the line, which is drawn again below a finished message."""
        self._stream.write((_ERASE if self._whole else "") + text)
        self._whole = text.endswith("\n")
        if self._whole:
            self._stream.write(self._line)

    def flush(self) -> None:
        self._stream.flush()


_open: list[StatusLine] = []  # those that are open
