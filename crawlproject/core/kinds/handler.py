"""What every kind of URL has to say."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from crawlproject.pages.html.encoding import media_type
from crawlproject.pages.text.printable import printable
from crawlproject.records import CrawlUrl, Fetch, Page, Reply, Visit
from crawlproject.urls.post import Post
from crawlproject.webs.page_cache import wanted

if TYPE_CHECKING:
    from crawlproject.core.page_steps import PageSteps

TOO_MANY_REDIRECTS = "too_many_redirects"  # the error of a page that only led on, in the history
UNREACHABLE = "robots/unreachable"


@dataclass(frozen=True, slots=True)
class FetchPlan:
    """How a URL is to be fetched, besides as a page of ``PAGE_CONTENT_TYPES`` by this crawler.

    ``user_agent`` is the name to go by, empty for the crawler's own. ``one_try``: the first reply counts, even a redirect or an
    error. ``any_type``: whatever its content type and file extension. ``headers`` are sent besides the usual ones. ``post`` is
    sent in place of a GET.
    """

    user_agent: str = ""
    one_try: bool = False
    any_type: bool = False
    headers: Mapping[str, str] = field(default_factory=dict)
    post: Post | None = None


class Handler:
    """One kind of URL, from the offer to the end of its lease. Methods that write raise ``StorageFailed``."""

    def offer(self, url: CrawlUrl) -> bool:
        """Put a URL into the frontier if the rules of its kind admit it; whether it may be fetched now."""
        raise NotImplementedError

    def late_refusal(self, url: CrawlUrl) -> str:
        """Why a URL whose turn has come is not to be fetched, as ``component/rule``; empty: it may be."""
        return ""

    def hold_until(self, url: CrawlUrl, now: float) -> float:
        """Until when that URL has to wait; ``now`` or earlier: it may be fetched."""
        return now

    def precedence(self, url: CrawlUrl, now: float) -> int:
        """The class in which that URL has to wait; its own or a lower one: it may be fetched."""
        return url.precedence

    def turn(self, url: CrawlUrl, now: float) -> bool:
        """Whether that URL is fetched; False: its host has a later class now."""
        return True

    def plan(self, url: CrawlUrl) -> FetchPlan:
        """What request the URL becomes."""
        return FetchPlan()

    def steps(self, url: CrawlUrl) -> PageSteps:
        """The steps of a page that comes for it."""
        raise NotImplementedError

    def receive(self, url: CrawlUrl, reply: Reply, fetch: Fetch, page: Page | None = None) -> Page | None:
        """A reply has come. The page, if it has to go through ``steps``; None: the lease is ended.

        ``page`` is the page in the reply where it was read before.
        """
        raise NotImplementedError

    def fail(self, url: CrawlUrl, error: str, fetch: Fetch) -> None:
        """End a lease whose fetch brought nothing of use, such as an HTTP error, or no reply."""
        raise NotImplementedError

    def refuse(self, url: CrawlUrl, reason: str) -> None:
        """End a lease without a fetch. ``reason`` reads ``component/rule``.

        An unreachable host was tried: its pick counts under the k rule.
        """
        raise NotImplementedError

    def redirect(self, url: CrawlUrl, target: str, fetch: Fetch) -> bool:
        """End a lease that was answered with a redirect to a canonical ``target``; whether that may be fetched now."""
        raise NotImplementedError

    def stored(self, visit: Visit, inherited: tuple[float, ...], steps: PageSteps) -> Page | None:
        """The page that a fetch of the history has brought, or what links like one; None when its file is gone.

        ``inherited`` is what it has inherited; it is read by ``steps``. Asked in the order of the history, if at all.
        """
        return None


def why_no_page(reply: Reply, content_types: Collection[str]) -> str:
    """Why a reply has no page to keep, as the history says it; empty when it has one."""
    if not 200 <= reply.status < 300:
        return f"http {reply.status}"
    if wanted(reply, content_types):
        return ""
    return f"content type {printable(media_type(reply.headers.get('content-type', ''))[:60])}"
