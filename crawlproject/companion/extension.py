"""The Scrapy extension of the companion: runs its service, and keeps the crawl open while it waits for the next page."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING

from scrapy import signals
from scrapy.exceptions import DontCloseSpider

from crawlproject.adapters.extensions.progress import print_above
from crawlproject.adapters.running import crawl_of, stopped, wake
from crawlproject.companion.companion import Companion
from crawlproject.companion.look_ahead import LookAhead
from crawlproject.companion.person import person_folder
from crawlproject.companion.service import CompanionService
from crawlproject.configuration import program, read_options
from crawlproject.core.reading import make_reader
from crawlproject.http.loopback import listen
from crawlproject.pages.text.relevance import make_analyzer
from crawlproject.parts import registry

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler


class CompanionServer:
    """Serves the companion during the crawl of ``scrapy companion``. Raises ``BadSetting`` if the port cannot be used,
    ``BadInput`` for a profile that cannot be read, and ``StorageFailed``."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._options = options = read_options(crawler.settings)
        self._person = person_folder(options)
        self._profile = self._person.load()
        self._analyzer = make_analyzer(self._profile.language, options)
        self._listening = listen("127.0.0.1", options.companion_port, "COMPANION_PORT")
        self._service: CompanionService | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        extension = cls(crawler)
        crawler.signals.connect(extension.begin, signals.spider_opened)
        crawler.signals.connect(extension.idle, signals.spider_idle)
        crawler.signals.connect(extension.end, signals.spider_closed)
        return extension

    async def begin(self) -> None:
        """Start the service, and print its address, which contains the token."""
        crawl, options = crawl_of(self._crawler), self._options
        assert crawl is not None, "the command starts a topical crawl"
        crawl.folder.hide()  # the pages fetched ahead reveal what the person read
        ahead = LookAhead(crawl, options.companion_clicks)
        companion = Companion(
            ahead, self._profile, self._analyzer, self._person.save, most=options.companion_suggestions
        )
        reading = options.model_copy(update={"page_main_text": True})
        reader = make_reader(
            reading, self._analyzer, crawl.canonicalize, tag_paths=False, reads=registry.reads(reading)
        )
        self._service = CompanionService(companion, self._person, reader, self._listening, partial(wake, self._crawler))
        await self._service.begin()
        print_above(f"Companion: {self._service.url}/#{self._service.token}", sys.stderr)
        print_above(f"Open it in your browser; Ctrl-C ends {program} companion.", sys.stderr)

    def idle(self) -> None:
        """Keep the spider open: the person may open another page at any time."""
        if not stopped(self._crawler):
            raise DontCloseSpider

    async def end(self) -> None:
        if self._service is not None:
            await self._service.end()
