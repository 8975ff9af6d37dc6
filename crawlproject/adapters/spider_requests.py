"""Converts a spider's own requests to entries of the frontier, and back."""

from __future__ import annotations

import logging
from collections.abc import Callable
from time import time_ns
from typing import TYPE_CHECKING

from crawlproject.adapters.request_json import dump_request, load_request
from crawlproject.adapters.running import count
from crawlproject.records import CrawlUrl

if TYPE_CHECKING:
    from scrapy import Request, Spider
    from scrapy.crawler import Crawler

    from crawlproject.adapters.leases import Leases

logger = logging.getLogger(__name__)


class SpiderRequests:
    """Requests with callback, headers and body, kept as text or as objects.

    ``identity`` returns the same text for requests that count as the same; it begins with the URL, up to a ``#``. The score of
    a request is ``default_score`` plus its priority. With ``as_text=False``, objects are kept, with all that they refer to.
    """

    def __init__(
        self,
        crawler: Crawler,
        spider: Spider,
        leases: Leases,
        identity: Callable[[Request], str],
        *,
        default_score: float,
        as_text: bool = True,
    ) -> None:
        self.identity = identity
        self._crawler = crawler
        self._spider = spider
        self._leases = leases
        self._default_score = default_score
        self._as_text = as_text or leases.is_shared
        self._serial = time_ns()  # serial number of unfiltered requests; a resumed frontier knows those of earlier runs

    def put(self, request: Request, *, unfiltered: bool = False) -> bool:
        """Offer a request to the frontier. False: it is known. With ``unfiltered`` or ``dont_filter``, it is always new."""
        key = self.identity(request)
        if unfiltered or request.dont_filter:
            self._serial += 1
            key = f"{key.partition('#')[0]}#{self._serial}"
        text = self._text_of(request) if self._as_text else ""
        if not text and self._leases.is_shared:
            return False
        depth = request.meta.get("depth", 0)
        score = self._default_score + request.priority
        accepted = self._leases.frontier.put(CrawlUrl(key, score, depth if type(depth) is int else 0, request=text))
        if accepted and not text:
            self._leases.keep(key, request)
        return accepted

    def load(self, taken: CrawlUrl) -> Request | None:
        """The request of a lease. If it cannot be made again, end the lease and return None."""
        kept = self._leases.kept.pop(taken.key, None)
        if kept is not None:
            return kept
        try:
            return load_request(taken.request or "", self._spider)
        except ValueError as cause:  # it was kept in memory only, or the spider no longer has the callback
            logger.error("a request to %s is lost: it cannot be rebuilt (%s)", taken.url, cause)
            count(self._crawler, "scheduler/unserializable/lost")
            self._leases.frontier.drop(taken.key)
            return None

    def _text_of(self, request: Request) -> str:
        """The request as JSON; empty if it can only be kept as an object."""
        try:
            return dump_request(request, self._spider)
        except (TypeError, ValueError) as cause:
            count(self._crawler, "scheduler/unserializable")
            if self._leases.is_shared:
                logger.error("%s is dropped: other workers could not make it (%s)", request, cause)
            else:
                logger.debug("kept in memory only: %s (%s)", request, cause)
            return ""
