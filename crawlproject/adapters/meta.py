"""Keys of ``request.meta`` that this project writes, and what is read from them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlproject.core.robots import MAX_BYTES as ROBOTS_MAX_BYTES
from crawlproject.records import Fetch

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.http import Response
    from scrapy.settings import BaseSettings

TAKEN_AT = "frontier_taken_at"  # when the request left the frontier, seconds since the epoch
ENDED_AT = "frontier_ended_at"  # when the last byte of the response had come, seconds since the epoch
ASKED_REST = "frontier_asked_rest"  # seconds for which the server asked to be left alone (Retry-After)
LEASE = "frontier_lease"  # the key of the lease inside which the request is fetched
AS_SPELLED = "as_spelled"  # do not canonicalize, the server insists on this spelling
ANY_TYPE = "any_content_type"  # a content type that is no page's is wanted, too
RESOURCE = "page_resource"  # the request is of a page in the browser
EXCHANGE = "exchange"  # of a request of a page in the browser, as it went over the network, when the crawl is archived
ROBOTS = "robots"  # the request is for a robots.txt
AWAITED_ADDRESS = "awaited_address"  # nothing was fetched: another host of its address is being visited
AWAITED_ROBOTS = "awaited_robots"  # the fetch was robots.txt; the page itself is still to come

MOST_COOKIES, LONGEST_COOKIE = 50, 4096
LONGEST_RESOURCE = 2**22  # bytes of a script, or of its data


def fetch_of(request: Request, status: int, now: float) -> Fetch:
    """How the fetch of a request that was taken from the frontier went; it ended ``now``, unless its end was noted."""
    at = request.meta.get(ENDED_AT, now)
    return Fetch(status, at, max(0.0, at - request.meta.get(TAKEN_AT, at)), request.meta.get(ASKED_REST, 0.0))


def cookies_of(response: Response) -> tuple[str, ...]:
    """The values of ``Set-Cookie``, as many and as long as a browser takes (RFC 6265 section 6.1)."""
    values = response.headers.getlist(b"Set-Cookie")[:MOST_COOKIES]
    return tuple(value.decode("latin-1") for value in values if len(value) <= LONGEST_COOKIE)


def robots_agent(settings: BaseSettings) -> str:
    """What robots.txt and robots tags are read for: Scrapy's ``ROBOTSTXT_USER_AGENT``, else ``USER_AGENT``."""
    agent: str = settings.get("ROBOTSTXT_USER_AGENT") or settings["USER_AGENT"]
    return agent


def longest_body(request: Request, page_max_bytes: int) -> int:
    """How many bytes of the body are read, unpacked or not: of a robots.txt as many as RFC 9309 allows to stop at."""
    meta = request.meta
    return ROBOTS_MAX_BYTES if ROBOTS in meta else LONGEST_RESOURCE if RESOURCE in meta else page_max_bytes
