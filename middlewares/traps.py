"""Applies the trap rules again before the download, for redirects and for requests of other spiders."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlproject.adapters.refused import Refused
from crawlproject.adapters.running import Component, count
from crawlproject.configuration import read_options
from crawlproject.core.reading import make_traps

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler


class TrapMiddleware(Component):
    """Refuses a request whose URL breaks a rule that depends only on the URL (length, segments, extension, scheme)."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self.traps = make_traps(read_options(crawler.settings))

    def process_request(self, request: Request) -> None:
        if request.meta.get("dont_obey_traps") or request.url.endswith("/robots.txt"):
            return
        rule = self.traps.refusal(request.url)
        if rule:
            count(self.crawler, f"traps/refused/{rule}")
            raise Refused(f"trap/{rule}", request.url)
