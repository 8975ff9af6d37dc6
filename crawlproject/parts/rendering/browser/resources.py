"""What the pages in the browser request, fetched by the crawler itself.

Each request is treated like a page: the crawl's rules for addresses and ports, robots.txt, limits of a response, proxy and
User-Agent apply. So only the crawler resolves names and opens connections, and the browser cannot have what it refuses.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from typing import TYPE_CHECKING

from scrapy import Request
from scrapy.http.request import NO_CALLBACK

from crawlproject.adapters.host_turns import HostTurns
from crawlproject.adapters.refused import Refused
from crawlproject.adapters.running import (
    ANY_TYPE,
    AS_SPELLED,
    ASKED_REST,
    EXCHANGE,
    LEASE,
    RESOURCE,
    count,
    memory_error,
    robots_agent,
    stop,
    time,
)
from crawlproject.core.robots import product_token
from crawlproject.http.connection_failures import ExchangeLost
from crawlproject.pages.html.encoding import media_type
from crawlproject.pages.html.head import robots_rules
from crawlproject.pages.html.parse import parse_document
from crawlproject.parts.rendering.browser.paused_requests import PageAnswer
from crawlproject.parts.rendering.browser_requests import DOCUMENT, SCRIPT, PageRequest, RequestRules, preflight
from crawlproject.urls.hosts import host_of

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from crawlproject.parts.rendering.options import RenderOptions
    from crawlproject.storage.warc.record import Exchange

logger = logging.getLogger(__name__)

AT_ONCE = 4  # requests of a page to its own host
MOST_WAIT = 20.0  # seconds by which a page's time grows for requests to other hosts, which rest between two requests
CACHED = 2**25  # bytes of scripts that are kept for later pages

# Headers that are the crawler's own business, or no longer true of what the browser gets.
_NOT_PASSED = frozenset((
    "alt-svc", "connection", "content-encoding", "content-length", "keep-alive", "link", "nel", "origin-agent-cluster",
    "refresh", "report-to", "strict-transport-security", "trailer", "transfer-encoding", "upgrade",
))  # fmt: skip
_POLICY, _SET_COOKIE = "content-security-policy", "set-cookie"
_HTML = ("text/html", "application/xhtml+xml")
_FOUND, _REDIRECTS = 200, (301, 302, 303, 307, 308)
_STYLE = PageAnswer(200, (("Content-Type", "text/css"), ("Access-Control-Allow-Origin", "*")))


class Resources:
    """Answers the requests of pages: fetches what ``browser_requests.py`` allows.

    Style sheets are empty: scripts wait for them, but nothing is displayed. Everything else, such as images, is a network error.
    """

    def __init__(self, crawler: Crawler, options: RenderOptions) -> None:
        self._crawler = crawler
        self._options = options
        self._agent = product_token(robots_agent(crawler.settings))
        self._scripts: OrderedDict[str, PageAnswer] = OrderedDict()
        self._cached = 0  # bytes
        self._hinted = False
        self.turns = HostTurns(crawler)

    def answers_for(self, page: str) -> PageAnswers:
        """The answers to the requests of the page at a URL; they count what the requests cost."""
        return PageAnswers(self, RequestRules(page, posts=self._options.crawl_render_posts))

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

    async def fetch(
        self, asked: PageRequest, headers: dict[str, str], rests: dict[str, float], *, again: bool = False
    ) -> tuple[PageAnswer, Exchange | None] | None:
        """The response, and its exchange if it is archived; None when there is none, or when it is longer than is read.

        Notes in ``rests`` for how many seconds the host asks to be left alone.
        """
        meta = {
            ANY_TYPE: True,
            AS_SPELLED: True,
            LEASE: "",  # the request belongs to no lease, whatever its URL
            RESOURCE: True,
            "dont_merge_cookies": True,  # a browser has its own
            "dont_obey_traps": True,
            "dont_redirect": True,  # the browser follows redirects, by the rules for scripts of another origin
            "dont_retry": True,
            "download_timeout": self._options.crawl_render_seconds,
        }
        try:
            request = Request(
                asked.url, NO_CALLBACK, method=asked.method, headers=headers, body=asked.body or b"", meta=meta
            )
            assert self._crawler.engine is not None, "pages are rendered while the engine runs"
            try:
                response: Response = await self._crawler.engine.download_async(request)
            finally:
                host = host_of(asked.url)
                rests[host] = max(rests.get(host, 0.0), request.meta.get(ASKED_REST, 0.0))
        except Refused as refused:
            self.count(f"refused/{refused.reason}")
            return None
        except ExchangeLost as lost:
            if not again:
                await self.turns.rest(0.0)
                return await self.fetch(asked, headers, rests, again=True)
            self.count(f"failed/{lost.reason}")
            return None
        except Exception as failure:  # to a browser, any other failure is a network error
            if lacking := memory_error(failure):
                stop(self._crawler, lacking)
            self.count(f"failed/{type(failure).__name__}")
            logger.debug("%s, which a page requested, cannot be fetched: %r", asked.url, failure)
            return None
        if "download_stopped" in response.flags:
            self.count("cut")
            return None
        if asked.kind == DOCUMENT and not self._may_show(response):
            self.count("no_document")
            return None
        self.count("fetched")
        passed = [
            (name.decode("latin-1"), value.decode("latin-1"))
            for name, values in response.headers.items()
            if (name.lower() != _POLICY.encode() or asked.kind == DOCUMENT)
            and name.decode("latin-1").lower() not in _NOT_PASSED
            for value in values
        ]
        exchange: Exchange | None = request.meta.get(EXCHANGE)
        if exchange is not None and not exchange.can_be_undone():
            exchange = exchange.decoded(response.body)
        return PageAnswer(response.status, tuple(passed), response.body), exchange

    def _may_show(self, response: Response) -> bool:
        """Whether the document of a frame may be part of the page: HTML that no robots rule forbids to keep or to follow."""
        content_type = (response.headers.get(b"Content-Type") or b"").decode("latin-1")
        if response.status in _REDIRECTS:
            return True
        if response.status != _FOUND or media_type(content_type) not in _HTML:
            return False
        if not self._options.page_obey_meta_robots:
            return True
        tag = b"\n".join(response.headers.getlist(b"X-Robots-Tag")).decode("latin-1")
        said = parse_document(response.body, content_type=content_type, max_links=1, agent=self._agent).robots
        rules = said | robots_rules(tag, self._agent)
        return not rules.bars(time()) and not rules.nofollow

    def hint_at(self, url: str) -> None:
        """Log, once a crawl, which setting allows what a page requested."""
        if not self._options.crawl_render_posts and not self._hinted:
            self._hinted = True
            logger.warning("A page asks for %s by POST, which the setting CRAWL_RENDER_POSTS allows.", url)

    def count(self, event: str) -> None:
        count(self._crawler, f"render/requests/{event}")


class PageAnswers:
    """The answers to one page. ``exchanges`` are archived with it."""

    def __init__(self, resources: Resources, rules: RequestRules) -> None:
        self.exchanges: list[Exchange] = []
        self._rests: dict[str, float] = {}  # host -> seconds for which it asks to be left alone
        self._resources = resources
        self._rules = rules
        self._turn = asyncio.Semaphore(AT_ONCE)
        self._elsewhere = 0  # requests to other hosts that are under way
        self._since = self._before = 0.0
        self._closed = False

    async def answer(self, asked: PageRequest) -> PageAnswer | None:
        if asked.kind == "Stylesheet":
            return _STYLE
        if asked.kind == "Preflight" or asked.method == "OPTIONS":
            return PageAnswer(204, preflight(asked))
        if reason := self._rules.refusal(asked):
            self._resources.count(f"blocked/{reason}")
            if self._rules.is_question(asked):
                self._resources.hint_at(asked.url)
            return None
        if asked.kind == SCRIPT and (known := self._resources.script(asked.url)) is not None:
            return known
        if self._rules.is_here(asked.url):
            async with self._turn:
                found = None if self._closed else await self._fetch(asked)
        else:
            found = await self._from_elsewhere(asked)
        if found is None:
            return None
        answer, exchange = found
        self._rules.fetched(len(answer.body))
        if exchange is not None:
            self.exchanges.append(exchange)
        shared = answer.without(_SET_COOKIE)
        if asked.kind == SCRIPT and answer.status == _FOUND:
            self._resources.keep_script(asked.url, shared)
        return answer if self._rules.is_own(asked.url) else shared

    @property
    def asked_rest(self) -> float:
        """Seconds for which the host of the page asks to be left alone."""
        return self._rests.get(self._rules.host, 0.0)

    def close(self) -> None:
        """The page is done: requests that still wait are not sent."""
        self._closed = True

    def waited(self) -> float:
        """Seconds for which the page has waited for other hosts, at most ``MOST_WAIT``."""
        now = time() - self._since if self._elsewhere else 0.0
        return min(self._before + now, MOST_WAIT)

    async def _from_elsewhere(self, asked: PageRequest) -> tuple[PageAnswer, Exchange | None] | None:
        """Fetch from a host that is not being visited: one request at a time, after the host has rested, up to a limit."""
        if not self._rules.goes_elsewhere():
            self._resources.count("blocked/elsewhere")
            return None
        if not self._elsewhere:
            self._since = time()
        self._elsewhere += 1
        try:
            return await self._in_turn(asked, host_of(asked.url))
        finally:
            self._elsewhere -= 1
            if not self._elsewhere:
                self._before += time() - self._since

    async def _in_turn(self, asked: PageRequest, host: str) -> tuple[PageAnswer, Exchange | None] | None:
        turns = self._resources.turns
        if not await turns.begin(asked.url, MOST_WAIT - self.waited(), beside=self._rules.host):
            self._resources.count("blocked/host_busy")
            return None
        began = time()
        try:
            if self._closed:
                return None
            if asked.kind == SCRIPT and (known := self._resources.script(asked.url)) is not None:
                return known, None
            return await self._fetch(asked)
        finally:
            turns.end(host, time() - began, self._rests.pop(host, 0.0))

    async def _fetch(self, asked: PageRequest) -> tuple[PageAnswer, Exchange | None] | None:
        return await self._resources.fetch(asked, self._rules.headers(asked), self._rests)
