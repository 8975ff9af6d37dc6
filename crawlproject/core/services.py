"""The services of one crawl, through which handlers, parts and replays reach it; and the contract of a handler, which treats
the URLs of one kind (``CrawlUrl.kind``), with the handler of pages.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar

from crawlproject.core.admission import Admission
from crawlproject.core.checkpoint import Checkpoints
from crawlproject.core.connections import Connections
from crawlproject.core.history_writer import HistoryWriter
from crawlproject.core.ordering_feed import OrderingFeed
from crawlproject.core.page_steps import PageSteps
from crawlproject.core.parts import Parts
from crawlproject.core.peers import Peers
from crawlproject.core.stopping import Stopping
from crawlproject.frontier.base import Frontier
from crawlproject.options import Options
from crawlproject.orderings.base import BaseOrdering
from crawlproject.pages.html.encoding import is_page, media_type
from crawlproject.pages.text.printable import printable
from crawlproject.pages.text.relevance import TopicJudge
from crawlproject.records import CrawlUrl, Fetch, Page, Reply, Topic, Visit
from crawlproject.storage.crawl_folder import CrawlFolder
from crawlproject.urls.post import Post

TOO_MANY_REDIRECTS = "too_many_redirects"  # error in the history of a page at the end of too many redirects
MAX_REDIRECTS = 20  # redirects in a row after which a page that redirects is not followed; the limit of Scrapy
UNREACHABLE = "robots/unreachable"  # a robots.txt did not come, is an error, or cannot be asked for now
NO_PART_REST = 3_600.0  # seconds until a URL whose part is not installed is looked at again
_REMEMBERED = 10_000  # targets of redirects


@dataclass(frozen=True, slots=True)
class FetchPlan:
    """How to fetch a URL. By default, it is fetched as a page of ``PAGE_CONTENT_TYPES``, under the name of this crawler.

    ``user_agent`` is the User-Agent, empty for the crawler's own. ``one_try``: the first reply counts, even a redirect or an
    error. ``any_type``: accept any content type and file extension. ``headers`` are sent in addition to the usual ones. ``post``
    is sent in place of a GET. ``proxy`` is the URL of the proxy to use; empty: the proxy of all other requests, if any.
    ``without_login``: do not use the login of the host.
    """

    user_agent: str = ""
    proxy: str = ""
    one_try: bool = False
    any_type: bool = False
    without_login: bool = False
    headers: Mapping[str, str] = field(default_factory=dict)
    post: Post | None = None


class Handler:
    """Treats one kind of URL, from the offer to the end of its lease. Methods that write raise ``StorageFailed``.

    ``is_guarded``: the parts may give such a URL, or its host, a later class when its turn has come (``Part.precedence``,
    ``Part.turn``). ``steps`` are the steps for a page that is fetched for such a URL.
    """

    is_guarded: ClassVar[bool] = False
    steps: PageSteps

    def offer(self, url: CrawlUrl) -> bool:
        """Put a URL into the frontier if the rules of its kind admit it. Return whether it may be fetched now."""
        raise NotImplementedError

    def late_refusal(self, url: CrawlUrl) -> str:
        """Why a URL whose turn has come must not be fetched, as ``component/rule``; empty: it may be."""
        return ""

    def hold_until(self, url: CrawlUrl, now: float) -> float:
        """The time until which such a URL has to wait; ``now`` or earlier: it may be fetched."""
        return now

    def plan(self, url: CrawlUrl) -> FetchPlan:
        """How to fetch the URL."""
        return FetchPlan()

    def receive(self, url: CrawlUrl, reply: Reply, fetch: Fetch, page: Page | None = None) -> Page | None:
        """Handle a reply. Return the page if it has to go through ``steps``, or None when the lease has ended.

        ``page`` is the page in the reply, if it was read before.
        """
        raise NotImplementedError

    def fail(self, url: CrawlUrl, error: str, fetch: Fetch) -> None:
        """End a lease whose fetch returned nothing useful, such as an HTTP error or no reply."""
        raise NotImplementedError

    def refuse(self, url: CrawlUrl, reason: str) -> None:
        """End a lease without a fetch. ``reason`` reads ``component/rule``.

        An unreachable host was tried, so the lease counts under the k rule.
        """
        raise NotImplementedError

    def redirect(self, url: CrawlUrl, target: str, fetch: Fetch) -> bool:
        """End a lease whose reply was a redirect to a canonical ``target``. Return whether the target may be fetched now."""
        raise NotImplementedError

    def stored(self, visit: Visit, inherited: tuple[float, ...], steps: PageSteps) -> Page | None:
        """The page, or the listing, that a fetch in the history returned; None if its file is gone.

        ``inherited`` holds the values inherited from its parent; ``steps`` read the page. Called in the order of the history,
        if at all.
        """
        return None


def why_no_page(reply: Reply, content_types: Collection[str]) -> str:
    """Why a reply contains no page to keep, in the words of the history; empty when it contains one."""
    if not 200 <= reply.status < 300:
        return f"http {reply.status}"
    if reply.unread:
        return reply.unread
    if is_page(reply, content_types):
        return ""
    return f"content type {printable(media_type(reply.headers.get('content-type', ''))[:60])}"


def read_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """The headers that affect how a page is read, as arguments of ``PageSteps.read``."""
    names = {"content_type": "content-type", "robots_tag": "x-robots-tag", "tdm_reservation": "tdm-reservation"}
    return {argument: headers.get(name, "") for argument, name in names.items()}


class PageHandler(Handler):
    """Admits and fetches pages, and ends their leases. A page that passes continues with the ``PageSteps``."""

    is_guarded = True

    def __init__(self, services: Services) -> None:
        self._services = services
        self._admission = services.admission
        self._frontier = services.frontier
        self._history = services.history
        self._ordering = services.ordering
        self.steps = services.steps
        self._parts = services.parts
        self._redirects: OrderedDict[str, int] = OrderedDict()  # URLs, with the number of redirects that led there

    def offer(self, url: CrawlUrl) -> bool:
        return self._admission.offer(url)

    def late_refusal(self, url: CrawlUrl) -> str:
        is_own = url.request is not None
        if reason := self._admission.rules.late_refusal(url.url, url.depth, any_domain=is_own):
            return reason
        is_copy = self._admission.respell(url) or self._admission.is_replaced(url.url)
        return "dust/copy" if is_copy else ""

    def receive(self, url: CrawlUrl, reply: Reply, fetch: Fetch, page: Page | None = None) -> Page | None:
        if page is None:
            if error := why_no_page(reply, self.steps.content_types):
                self.fail(url, error, fetch)
                return None
            headers = reply.headers
            page = self.steps.read(url, reply.body, **read_headers(headers), now=fetch.at)
        if not page.language and "," not in (said := reply.headers.get("content-language", "")[:40]):
            page = replace(page, language=said[:2].lower()) if said[:2].isascii() and said[:2].isalpha() else page
        if page.redirect:  # a browser would follow it: a refresh, or a script that only redirects
            if self._redirects.get(url.url, 0) >= MAX_REDIRECTS:
                self.fail(url, TOO_MANY_REDIRECTS, fetch)
            else:
                self.redirect(url, page.redirect, fetch)
            return None
        return page

    def fail(self, url: CrawlUrl, error: str, fetch: Fetch) -> None:
        self._history.end(url, fetch, error=error)
        self._frontier.done(url.key, fetch.rests_from, fetch.seconds)

    def refuse(self, url: CrawlUrl, reason: str) -> None:
        self._history.refused(url, reason)
        for part in self._parts:
            part.left(url)
        if reason == UNREACHABLE:
            self._ordering.failed(url.url)
        else:
            self._ordering.refused(url.url)
        self._frontier.drop(url.key, picked=reason == UNREACHABLE)

    def redirect(self, url: CrawlUrl, target: str, fetch: Fetch) -> bool:
        """The target inherits score, class, depth and parent."""
        if target in self._frontier:
            for part in self._parts:
                if error := part.redirected(url, target):
                    self.fail(url, error, fetch)
                    return False
        self._history.end(url, fetch, redirect=target)
        self._redirects[target] = self._redirects.pop(url.url, 0) + 1
        if len(self._redirects) > _REMEMBERED:
            self._redirects.popitem(last=False)
        with self._frontier.batch():
            offered = self.offer(replace(url, url=target, request=None))
            self._frontier.done(url.key, fetch.rests_from, fetch.seconds)
        return offered

    def stored(self, visit: Visit, inherited: tuple[float, ...], steps: PageSteps) -> Page | None:
        return steps.stored(visit, inherited, self._services.folder.pages.load)


class UnknownHandler(PageHandler):
    """Treats URLs of a kind whose part is not installed or not in use: they wait until it is."""

    def hold_until(self, url: CrawlUrl, now: float) -> float:
        return now + NO_PART_REST


class Handlers(dict[str, Handler]):
    """The handlers by kind of URL. A kind whose part is missing gets the handler of "" (``UnknownHandler``)."""

    def __missing__(self, kind: str) -> Handler:
        return self[""]

    def offer(self, url: CrawlUrl) -> bool:
        """Offer a URL by the rules of its kind. Return whether it may be fetched now."""
        return self[url.kind].offer(url)


@dataclass(slots=True)
class Services:
    """One object per crawl. ``steps`` and ``kinds`` are made from it, and complete once the crawl is put together.

    ``now`` is the time of the latest take, in seconds since the epoch.
    """

    topic: Topic
    options: Options
    canonicalize: Callable[..., str]
    judge: TopicJudge
    ordering: BaseOrdering
    folder: CrawlFolder
    frontier: Frontier
    peers: Peers
    parts: Parts
    admission: Admission
    connections: Connections
    feed: OrderingFeed
    history: HistoryWriter
    stopping: Stopping
    checkpoints: Checkpoints
    steps: PageSteps = field(init=False)
    kinds: Handlers = field(default_factory=Handlers)
    now: float = 0.0
