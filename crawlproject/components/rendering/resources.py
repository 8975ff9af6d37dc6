"""What the pages in the browser ask for, fetched by the crawler itself.

Each request takes the way of a page: addresses and ports, robots.txt, limits of a response, proxy, User-Agent are those of the
crawl. So nothing is resolved or connected to but by the crawler, and what it refuses, the browser cannot have.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from typing import TYPE_CHECKING

from scrapy import Request
from scrapy.http.request import NO_CALLBACK

from crawlproject.components.meta import ANY_TYPE, AS_SPELLED, LEASE, RESOURCE
from crawlproject.components.refused import Refused
from crawlproject.components.rendering.page_session import Answer, PageAnswer, PageRequest
from crawlproject.components.running import count
from crawlproject.urls.domains import domain_of

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.http import Response

logger = logging.getLogger(__name__)

MOST_REQUESTS = 100  # of a page, those included that the cache answers
MOST_BYTES = 2**24  # that are fetched for a page
AT_ONCE = 4  # requests of a page
CACHED = 2**25  # bytes of scripts that are kept for the next pages

_FETCHED = frozenset(("Script", "XHR", "Fetch"))
# The crawler's own business, or not true any more of what the browser is handed.
_NOT_PASSED = frozenset((
    "alt-svc", "connection", "content-encoding", "content-length", "content-security-policy", "keep-alive", "link", "nel",
    "refresh", "report-to", "set-cookie", "strict-transport-security", "trailer", "transfer-encoding", "upgrade",
))  # fmt: skip
_OURS = frozenset(("accept-encoding", "connection", "content-type", "cookie", "host", "referer", "user-agent"))
_STYLE = PageAnswer(200, (("Content-Type", "text/css"), ("Access-Control-Allow-Origin", "*")))
_ALLOWED = PageAnswer(
    204,
    (
        ("Access-Control-Allow-Origin", "*"),
        ("Access-Control-Allow-Headers", "*"),
        ("Access-Control-Allow-Methods", "GET"),
    ),
)


class Resources:
    """Answers pages. Of what they ask for, only scripts and data are fetched, by GET.

    Style sheets are empty: scripts wait for them, and nobody looks. Everything else, such as images, fonts and frames, is a
    network error. A page may be silent for ``seconds`` at most.
    """

    def __init__(self, crawler: Crawler, seconds: float) -> None:
        self._crawler = crawler
        self._seconds = seconds
        self._scripts: OrderedDict[str, PageAnswer] = OrderedDict()
        self._cached = 0  # bytes

    def answers_for(self, page: str) -> Answer:
        """What answers the requests of the page at a URL, and counts what they cost."""
        return _PageBudget(self, page).answer

    def script(self, url: str) -> PageAnswer | None:
        """A script that another page has loaded."""
        found = self._scripts.get(url)
        if found is not None:
            self._scripts.move_to_end(url)
        return found

    def keep_script(self, url: str, answer: PageAnswer) -> None:
        self._cached += len(answer.body) - len(self._scripts.pop(url, _STYLE).body)
        self._scripts[url] = answer
        while self._cached > CACHED:
            self._cached -= len(self._scripts.popitem(last=False)[1].body)

    async def fetch(self, asked: PageRequest, headers: dict[str, str]) -> PageAnswer | None:
        """The response, as the browser may have it; None when there is none, or more of it than is read."""
        meta = {
            ANY_TYPE: True,
            AS_SPELLED: True,
            LEASE: "",  # of no URL that was leased, whatever its URL
            RESOURCE: True,
            "dont_obey_traps": True,
            "dont_redirect": True,  # the browser follows it, by the rules for scripts of another origin
            "dont_retry": True,
            "download_timeout": self._seconds,
        }
        try:
            request = Request(asked.url, callback=NO_CALLBACK, headers=headers, meta=meta)
            assert self._crawler.engine is not None, "pages are rendered while the engine runs"
            response: Response = await self._crawler.engine.download_async(request)
        except Refused as refused:
            self.count(f"refused/{refused.reason}")
            return None
        except Exception as failure:  # whatever else keeps a response from arriving is a network error to a browser
            self.count(f"failed/{type(failure).__name__}")
            logger.debug("%s, which a page asked for, did not come: %r", asked.url, failure)
            return None
        if "download_stopped" in response.flags:
            self.count("cut")
            return None
        self.count("fetched")
        passed = [
            (name.decode("latin-1"), value.decode("latin-1"))
            for name, values in response.headers.items()
            if name.decode("latin-1").lower() not in _NOT_PASSED
            for value in values
        ]
        return PageAnswer(response.status, tuple(passed), response.body)

    def count(self, event: str) -> None:
        count(self._crawler, f"render/requests/{event}")


class _PageBudget:
    """The requests of one page."""

    def __init__(self, resources: Resources, page: str) -> None:
        self._resources = resources
        self._site = domain_of(page)
        self._turn = asyncio.Semaphore(AT_ONCE)
        self._requests = self._bytes = 0

    async def answer(self, asked: PageRequest) -> PageAnswer | None:
        if asked.kind == "Stylesheet":
            return _STYLE
        if asked.kind == "Preflight" or asked.method == "OPTIONS":
            return _ALLOWED  # to send no more than what is sent without
        if asked.kind not in _FETCHED or asked.method != "GET" or not asked.url.startswith(("http://", "https://")):
            self._resources.count(f"blocked/{asked.kind if asked.method == 'GET' else asked.method}")
            return None
        self._requests += 1
        if self._requests > MOST_REQUESTS or self._bytes > MOST_BYTES:
            self._resources.count("blocked/over_budget")
            return None
        if asked.kind == "Script" and (known := self._resources.script(asked.url)) is not None:
            return known
        async with self._turn:
            found = await self._resources.fetch(asked, self._headers(asked))
        if found is not None:
            self._bytes += len(found.body)
            if asked.kind == "Script" and found.status == 200:
                self._resources.keep_script(asked.url, found)
        return found

    def _headers(self, asked: PageRequest) -> dict[str, str]:
        """What scripts want to be sent: to their own site anything that the crawler does not say itself, little elsewhere."""
        if domain_of(asked.url) == self._site:
            return {
                name: value
                for name, value in asked.headers.items()
                if name not in _OURS and not name.startswith("sec-")
            }
        return {name: asked.headers[name] for name in ("accept", "origin") if name in asked.headers}
