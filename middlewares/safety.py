"""Checks the port and any literal address of a URL before it is fetched, for pages, redirects and robots.txt alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.exceptions import NotConfigured

from crawlproject.adapters.refused import Refused
from crawlproject.adapters.running import Component, count, safety_of
from crawlproject.configuration import read_options

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler


class SafetyMiddleware(Component):
    """Refuses a request when ``AddressPolicy.refusal`` returns a reason. Off for a virtual web, which uses no network.

    Names are not resolved here: ``http_handler.py`` checks the addresses that they resolve to.
    """

    def __init__(self, crawler: Crawler) -> None:
        if read_options(crawler.settings).virtual_web:
            raise NotConfigured
        super().__init__(crawler)

    def process_request(self, request: Request) -> None:
        if not request.url.startswith(("http:", "https:")):
            return  # a spider's own request with another scheme (file:, data:); links never have one
        reason = safety_of(self.crawler).refusal(request.url)
        if reason:
            count(self.crawler, f"{reason}/refused")
            raise Refused(reason, request.url)
