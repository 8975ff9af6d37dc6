"""Lets a running crawl learn from ``judgments.jsonl`` as it grows, whichever process writes it."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from scrapy import signals
from scrapy.utils.asyncio import is_asyncio_available

from crawlproject.adapters.running import crawl_of, frontier_closing, stop
from crawlproject.errors import BadInput, StorageFailed
from crawlproject.parts.judgments.judgments import NAME
from crawlproject.parts.judgments.part import Judgments

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)

EVERY = 1.0  # seconds between two checks of the file
AT_ONCE = 0.02  # seconds for which learning blocks the crawl
SHARE = 0.5  # of the time that learning may take


class JudgmentWatch:
    """Extension that reads the judgments when their file changes. Learning and crawl take turns, ``AT_ONCE`` seconds each."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._task: asyncio.Task[None] | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        extension = cls(crawler)
        crawler.signals.connect(extension.begin, signals.spider_opened)
        crawler.signals.connect(extension.end, frontier_closing)
        crawler.signals.connect(extension.end, signals.spider_closed)
        return extension

    def begin(self) -> None:
        crawl = crawl_of(self._crawler)
        part = crawl.part(Judgments) if crawl is not None else None
        if part is not None and is_asyncio_available():
            self._task = asyncio.ensure_future(self._watch(part))

    def end(self) -> None:
        if self._task is not None:
            self._task.cancel()

    async def _watch(self, part: Judgments) -> None:
        seen: tuple[int, int] | None = None
        while True:
            await asyncio.sleep(EVERY)
            if (mark := _mark(part.folder)) == seen or mark is None:
                continue
            seen = mark
            try:
                await self._learn(part)
            except BadInput as damage:
                logger.warning("judgments are not learned: %s", damage)
            except StorageFailed as failure:
                stop(self._crawler, failure)

    async def _learn(self, part: Judgments) -> None:
        began = perf_counter()
        learning = part.relearn()
        while learning and not part.step():
            took = perf_counter() - began
            if took > AT_ONCE:
                await asyncio.sleep(took * (1 / SHARE - 1))
                began = perf_counter()


def _mark(folder: Path) -> tuple[int, int] | None:
    try:
        state = (folder / NAME).stat()
    except OSError:
        return None
    return state.st_mtime_ns, state.st_size
