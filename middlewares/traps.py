"""The trap rules, applied again before the download: to redirects and to requests of other spiders."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlproject.adapters.refused import Refused
from crawlproject.configuration import read_options
from crawlproject.core.reading import make_traps

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler


class TrapMiddleware:
    """Refuses a request whose URL breaks a rule that the URL alone decides (length, segments, extension, scheme)."""

    def __init__(self, crawler: Crawler) -> None:
        self.traps = make_traps(read_options(crawler.settings))
        self.stats = crawler.stats

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def process_request(self, request: Request) -> None:
        if request.meta.get("dont_obey_traps") or request.url.endswith("/robots.txt"):
            return
        rule = self.traps.refusal(request.url)
        if rule:
            if self.stats:
                self.stats.inc_value(f"traps/refused/{rule}")
            raise Refused(f"trap/{rule}", request.url)
