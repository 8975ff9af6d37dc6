"""Makes Scrapy wait for the mirror after everything else of a crawl is written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy import signals
from scrapy.exceptions import NotConfigured
from scrapy.utils.defer import maybe_deferred_to_future
from twisted.internet.threads import deferToThread

from crawlproject.adapters.running import Component, crawl_of
from crawlproject.errors import BadSetting
from crawlproject.parts.mirror.part import SETTING, MirrorPart

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler

_BY_TOPIC = 30  # priority "spider": topic files may come from strangers


class MirrorEnding(Component):
    """Called after ``FinishedMarker``, which comes before it in ``EXTENSIONS``."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        if not crawler.settings.get(SETTING):
            raise NotConfigured
        if crawler.settings.getpriority(SETTING) == _BY_TOPIC:
            wish = "a topic file must not set it: it copies the crawl elsewhere; use -s or the project's settings"
            raise BadSetting(f"setting {SETTING}", wish)
        extension = super().from_crawler(crawler)
        crawler.signals.connect(extension.end, signals.engine_stopped)
        return extension

    async def end(self) -> None:
        crawl = crawl_of(self.crawler)
        part = crawl.part(MirrorPart) if crawl is not None else None
        if part is not None:
            await maybe_deferred_to_future(deferToThread(part.finish))
