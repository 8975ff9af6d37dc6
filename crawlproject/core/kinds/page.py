"""Pages: what most URLs are fetched for."""

from __future__ import annotations

from dataclasses import replace

from crawlproject.core.kinds.handler import UNREACHABLE, FetchPlan, Handler, why_no_page
from crawlproject.core.page_steps import PageSteps
from crawlproject.core.services import Services
from crawlproject.records import FIRST, CrawlUrl, Fetch, Page, Reply, Visit

NO_PART = "kind/unknown"  # why a URL is refused whose part is not here any more


class PageHandler(Handler):
    """Admits, fetches and ends pages. A page that comes through goes on to ``PageSteps``."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._admission = services.admission
        self._frontier = services.frontier
        self._history = services.history
        self._ordering = services.ordering
        self._steps = services.steps
        self._parts = services.parts

    def offer(self, url: CrawlUrl) -> bool:
        return self._admission.offer(url)

    def late_refusal(self, url: CrawlUrl) -> str:
        if reason := self._admission.rules.late_refusal(url.url, url.depth):
            return reason
        return "dust/copy" if self._admission.is_replaced(url.url) else ""

    def precedence(self, url: CrawlUrl, now: float) -> int:
        if url.precedence <= FIRST or not url.depth:
            return url.precedence
        return max([precedence(url, now) for precedence in self._parts.precedences], default=url.precedence)

    def turn(self, url: CrawlUrl, now: float) -> bool:
        return url.precedence <= FIRST or not url.depth or all(turn(url, now) for turn in self._parts.turns)

    def plan(self, url: CrawlUrl) -> FetchPlan:
        return FetchPlan()

    def steps(self, url: CrawlUrl) -> PageSteps:
        return self._steps

    def receive(self, url: CrawlUrl, reply: Reply, fetch: Fetch, page: Page | None = None) -> Page | None:
        if page is None:
            if error := why_no_page(reply, self._steps.content_types):
                self.fail(url, error, fetch)
                return None
            headers = reply.headers
            content_type, robots_tag = headers.get("content-type", ""), headers.get("x-robots-tag", "")
            page = self._steps.read(url, reply.body, content_type=content_type, robots_tag=robots_tag, now=fetch.at)
        if not page.language and "," not in (said := reply.headers.get("content-language", "")[:40]):
            page = replace(page, language=said[:2].lower()) if said[:2].isascii() and said[:2].isalpha() else page
        if page.redirect:  # as a browser would do: a refresh, or a script that does nothing else
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
        with self._frontier.batch():
            offered = self.offer(replace(url, url=target, request=None))
            self._frontier.done(url.key, fetch.rests_from, fetch.seconds)
        return offered

    def stored(self, visit: Visit, inherited: tuple[float, ...], steps: PageSteps) -> Page | None:
        return steps.stored(visit, inherited, self._services.folder.pages.load)


class UnknownHandler(PageHandler):
    """URLs of a kind whose part is not here any more, or was not asked for: they are refused when their turn comes."""

    def late_refusal(self, url: CrawlUrl) -> str:
        return NO_PART
