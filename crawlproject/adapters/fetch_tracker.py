"""How far the requests of open leases came: to a server, and back to the spider."""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakSet

from scrapy import signals

from crawlproject.adapters.meta import LEASE

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from crawlproject.adapters.leases import Leases


class FetchTracker:
    """Listens to the downloader. Requests carry the key of their lease in ``meta``."""

    def __init__(self, crawler: Crawler, leases: Leases) -> None:
        self._leases = leases
        self._reached: WeakSet[Request] = WeakSet()
        self._answered: WeakSet[Request] = WeakSet()
        crawler.signals.connect(self._note_reached, signals.request_reached_downloader)
        crawler.signals.connect(self._note_answer, signals.response_received)

    def begin(self, key: str, request: Request) -> None:
        """The engine is given this request for the lease ``key``."""
        request.meta[LEASE] = key
        self._answered.discard(request)

    def reached(self, request: Request) -> bool:
        """Whether it left for a server."""
        return request in self._reached

    def answered(self, issued: Request) -> bool:
        """Whether its response is with the spider."""
        return issued in self._answered

    def _note_reached(self, request: Request) -> None:
        self._reached.add(request)

    def _note_answer(self, response: Response, request: Request) -> None:
        issued = self._leases.issued(str(request.meta.get(LEASE)), request)
        if issued is not None:
            self._answered.add(issued)
