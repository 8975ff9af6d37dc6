"""Asks hubs to report that feeds have changed (WebSub), in crawls that read feeds again.

``subscriptions.py`` keeps the subscriptions; ``extension.py`` listens for the hubs.
"""

from __future__ import annotations

from collections.abc import Mapping

from crawlproject.core.part import Part, Setup
from crawlproject.core.services import UNREACHABLE, FetchPlan, Handler, Services
from crawlproject.errors import BadSetting
from crawlproject.parts.listings.options import ListingOptions
from crawlproject.parts.revisits.options import RevisitOptions
from crawlproject.parts.revisits.part import RevisitPart
from crawlproject.parts.websub.options import WebsubOptions
from crawlproject.parts.websub.subscriptions import SUBSCRIBE, Subscriptions
from crawlproject.records import CrawlUrl, Fetch, Page, Reply
from crawlproject.urls.post import Post

_REPEATED = (307, 308)  # redirects that keep method and body (RFC 9110 section 15.4)


class WebsubPart(Part):
    """Present where ``CRAWL_WEBSUB_CALLBACK`` gives an address; not in a round, which is over before hubs deliver."""

    name = "websub"
    subscriptions: Subscriptions

    def __init__(self, setup: Setup) -> None:
        self._setup = setup

    @classmethod
    def make(cls, setup: Setup) -> WebsubPart | None:
        options = setup.options
        if setup.token is None or not options.of(WebsubOptions).crawl_websub_callback:
            return None
        wish = ""
        if not options.of(RevisitOptions).crawl_revisit:
            wish = "is for crawls that visit pages again: set CRAWL_REVISIT, too, or leave it empty"
        elif not options.of(ListingOptions).crawl_feeds:
            wish = "is for crawls that read feeds: set CRAWL_FEEDS to more than 0, too, or leave it empty"
        elif options.frontier == "redis":
            wish = 'cannot be used with FRONTIER = "redis", where a feed has no worker of its own: leave it empty'
        if wish:
            raise BadSetting("setting CRAWL_WEBSUB_CALLBACK", wish)
        return None if options.of(RevisitOptions).crawl_revisit_round else cls(setup)

    def kinds(self, services: Services) -> Mapping[str, Handler]:
        part = services.parts.find(RevisitPart)
        assert part is not None, "CRAWL_REVISIT is set"
        self.subscriptions = Subscriptions(self._setup, part.revisits.rereads)
        part.revisits.feeds = self.subscriptions
        return {SUBSCRIBE: SubscribeHandler(services, self.subscriptions)}

    def begin(self, now: float) -> None:
        self.subscriptions.begin(now)


class SubscribeHandler(Handler):
    """Sends requests to hubs. A hub is a stranger's URL: scope, traps, robots.txt and the pauses of its host apply as for a page.

    Its requests are not in the history, and count for no budget of its site.
    """

    def __init__(self, services: Services, known: Subscriptions) -> None:
        self._services = services
        self._frontier = services.frontier
        self._known = known

    def offer(self, url: CrawlUrl) -> bool:
        return self._frontier.put(url)

    def late_refusal(self, url: CrawlUrl) -> str:
        if not self._known.wants(url):
            return "websub/not_wanted"
        return self._services.admission.rules.refusal(url.url, 0, any_extension=True) or ""

    def hold_until(self, url: CrawlUrl, now: float) -> float:
        return self._known.turn(url, now)

    def plan(self, url: CrawlUrl) -> FetchPlan:
        # Any feed may name any address: with a login, a POST to it would act for a person.
        return FetchPlan(one_try=True, any_type=True, without_login=True, post=Post(url.url, self._known.form(url)))

    def receive(self, url: CrawlUrl, reply: Reply, fetch: Fetch, page: Page | None = None) -> None:
        target = reply.headers.get("location", "") if reply.status in _REPEATED else ""
        self._end(url, fetch, accepted=200 <= reply.status < 300, target=target)

    def fail(self, url: CrawlUrl, error: str, fetch: Fetch) -> None:
        self._end(url, fetch)

    def refuse(self, url: CrawlUrl, reason: str) -> None:
        self._known.refused(url, self._services.now, unreachable=reason == UNREACHABLE)

    def redirect(self, url: CrawlUrl, target: str, fetch: Fetch) -> bool:
        self._end(url, fetch, target=target if fetch.status in _REPEATED else "")
        return False

    def _end(self, url: CrawlUrl, fetch: Fetch, *, accepted: bool = False, target: str = "") -> None:
        with self._frontier.batch():
            self._known.ended(url, fetch, accepted=accepted, target=target)
