"""Passes responses to the archive of the crawl, as they were received over the network."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy import signals

from crawlproject.adapters.running import (
    ENDED_AT,
    EXCHANGE,
    LEASE,
    RESOURCE,
    ROBOTS,
    SECRETS,
    TAKEN_AT,
    Component,
    crawl_of,
    stopped,
    stopping,
    time,
)
from crawlproject.records import QUERY, REVISIT
from crawlproject.storage.warc.record import Exchange, Header

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request, Spider
    from scrapy.crawler import Crawler
    from scrapy.http import Headers, Response


class WarcRecorder(Component):
    """Listens to the downloader when the crawl is archived (``CRAWL_WARC``).

    The signal is sent before any middleware sees the response, so its body is still compressed. The response to a request
    from the frontier is written when its lease ends, with the requests that the page made in a browser; robots.txt is written
    at once. Probes are not archived.
    """

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        extension = super().from_crawler(crawler)
        crawler.signals.connect(extension.spider_opened, signals.spider_opened)
        return extension

    def spider_opened(self, spider: Spider) -> None:
        crawl = crawl_of(self.crawler)
        if crawl is not None and crawl.folder.archive is not None:
            self.crawler.signals.connect(self.response_downloaded, signals.response_downloaded)

    def response_downloaded(self, response: Response, request: Request, spider: Spider) -> None:
        crawl = crawl_of(self.crawler)
        if crawl is None or crawl.folder.archive is None or stopped(self.crawler):
            return
        if RESOURCE in request.meta:
            request.meta[EXCHANGE] = exchange_of(request, response)  # archived with its page
            return
        lease = crawl.frontier.leased(request.meta[LEASE]) if LEASE in request.meta else None
        if LEASE in request.meta and (lease is None or lease.kind not in (REVISIT, QUERY)):
            return  # a fetch that does not enter the history
        if TAKEN_AT in request.meta:
            url = lease.url if lease else crawl.canonicalize(request.url)
            crawl.folder.archive.received(url, exchange_of(request, response))
        elif ROBOTS in request.meta:
            with stopping(self.crawler):
                crawl.folder.archive.add(exchange_of(request, response))


def exchange_of(request: Request, response: Response) -> Exchange:
    """What went over the network, as far as Scrapy reports it, without secrets of the operator."""
    secrets = {name.title() for name in request.meta.get(SECRETS, ())}
    return Exchange(
        url=request.url,
        status=response.status,
        headers=_pairs(response.headers),
        body=response.body,
        at=request.meta.get(ENDED_AT) or time(),
        method=request.method,
        request=tuple(pair for pair in _pairs(request.headers) if pair[0].decode() not in secrets),
        ip=str(response.ip_address or ""),
        truncated="download_stopped" in response.flags or "partial" in response.flags,
        sent=request.body,
    )


def _pairs(headers: Headers) -> tuple[Header, ...]:
    return tuple((name, value) for name in headers for value in headers.getlist(name))
