"""Requests to the hubs of feeds: to say when a feed changes (WebSub)."""

from __future__ import annotations

from crawlproject.core.kinds.handler import UNREACHABLE, FetchPlan
from crawlproject.parts.revisits.refetch_handler import RefetchHandler
from crawlproject.records import CrawlUrl, Fetch, Page, Reply
from crawlproject.urls.post import Post

_REPEATED = (307, 308)  # redirects that keep method and body (RFC 9110 section 15.4)


class SubscribeHandler(RefetchHandler):
    """A hub is a stranger's URL: scope, traps, robots.txt and the pauses of its host count as for a page.

    Nothing of it stands in the history. Requests of a run with subscriptions end in one without.
    """

    def late_refusal(self, url: CrawlUrl) -> str:
        known = self._revisits.subscriptions
        if known is None or not known.wants(url):
            return "websub/not_wanted"
        return self._admission.rules.refusal(url.url, 0, any_extension=True) or ""

    def hold_until(self, url: CrawlUrl, now: float) -> float:
        known = self._revisits.subscriptions
        return known.turn(url, now) if known is not None else now

    def plan(self, url: CrawlUrl) -> FetchPlan:
        known = self._revisits.subscriptions
        body = known.form(url) if known is not None else ""
        return FetchPlan(one_try=True, any_type=True, post=Post(url.url, body))

    def receive(self, url: CrawlUrl, reply: Reply, fetch: Fetch, page: Page | None = None) -> None:
        target = reply.headers.get("location", "") if reply.status in _REPEATED else ""
        self._end(url, fetch, accepted=200 <= reply.status < 300, target=target)

    def fail(self, url: CrawlUrl, error: str, fetch: Fetch) -> None:
        self._end(url, fetch)

    def refuse(self, url: CrawlUrl, reason: str) -> None:
        known = self._revisits.subscriptions
        if known is None:
            self._frontier.drop(url.key)
        else:
            known.refused(url, self._services.now, unreachable=reason == UNREACHABLE)

    def redirect(self, url: CrawlUrl, target: str, fetch: Fetch) -> bool:
        self._end(url, fetch, target=target if fetch.status in _REPEATED else "")
        return False

    def _end(self, url: CrawlUrl, fetch: Fetch, *, accepted: bool = False, target: str = "") -> None:
        known = self._revisits.subscriptions
        with self._frontier.batch():
            if known is None:
                self._frontier.done(url.key, fetch.rests_from, fetch.seconds)
            else:
                known.ended(url, fetch, accepted=accepted, target=target)
