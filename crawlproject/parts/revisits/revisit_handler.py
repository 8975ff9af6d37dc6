"""Pages that were fetched before: what has become of them?"""

from __future__ import annotations

import hashlib

from crawlproject.core.kinds.handler import UNREACHABLE, FetchPlan, why_no_page
from crawlproject.core.page_steps import PageSteps
from crawlproject.core.services import Services
from crawlproject.pages.page_types import SOFT_404
from crawlproject.parts.revisits.refetch_handler import RefetchHandler
from crawlproject.parts.revisits.revisits import FORBIDDEN, RETRY, Revisits
from crawlproject.parts.revisits.steps import RevisitSteps
from crawlproject.records import GONE, MISSING, MOVED, NOT_KEPT, SAME, CrawlUrl, Fetch, Page, Reply
from crawlproject.urls.canonical import canonical_or_none
from crawlproject.webs.page_cache import location

_NOT_MODIFIED = 304
_AWAY = (404, 410)
_FOR_GOOD = (301, 308)


class RevisitHandler(RefetchHandler):
    """Fetches known pages again, with the validators of their last visit, and ends the visits that brought no new text."""

    def __init__(self, services: Services, revisits: Revisits) -> None:
        super().__init__(services, revisits)
        self._canonicalize = services.canonicalize
        self._steps = RevisitSteps(services, revisits)

    def steps(self, url: CrawlUrl) -> PageSteps:
        return self._steps

    def hold_until(self, url: CrawlUrl, now: float) -> float:
        return self._revisits.turn(url, now)

    def plan(self, url: CrawlUrl) -> FetchPlan:
        page = self._steps.known(url.url)
        asked = {"If-None-Match": page.etag, "If-Modified-Since": page.last_modified}
        return FetchPlan(one_try=True, headers={name: value for name, value in asked.items() if value})

    def receive(self, url: CrawlUrl, reply: Reply, fetch: Fetch, page: Page | None = None) -> Page | None:
        known = self._steps.known(url.url)
        if reply.status == _NOT_MODIFIED:
            self._steps.end(url, fetch, SAME)
        elif href := location(reply):
            target = canonical_or_none(self._canonicalize, href, url.url)
            if target == url.url or target is None:
                self.fail(url, "redirect to itself" if target else "redirect to no URL", fetch)
            else:
                self.redirect(url, target, fetch)
        elif error := why_no_page(reply, self._steps.content_types):
            self.fail(url, error, fetch)
        elif known.digest == self._digest(reply.body):
            self._steps.end(url, fetch, SAME)
        else:
            headers = reply.headers
            content_type, robots_tag = headers.get("content-type", ""), headers.get("x-robots-tag", "")
            page = page or self._steps.read(
                url, reply.body, content_type=content_type, robots_tag=robots_tag, now=fetch.at
            )
            if page.redirect:
                self.redirect(url, page.redirect, fetch)
            elif not page.indexable and not page.needs_browser:
                self.fail(url, NOT_KEPT, fetch)
            else:
                return page
        return None

    def fail(self, url: CrawlUrl, error: str, fetch: Fetch) -> None:
        """A page that is not there is looked at once more before it counts as gone; another error says nothing about it."""
        if fetch.status in _AWAY or error.startswith(SOFT_404):
            change = GONE if self._steps.known(url.url).state == MISSING else MISSING
        else:
            change = GONE if error == NOT_KEPT else ""
        self._steps.end(url, fetch, change, error=error)

    def refuse(self, url: CrawlUrl, reason: str) -> None:
        now = self._services.now
        if reason == UNREACHABLE:
            self._frontier.release(url.key, now, 0.0, not_before=now + RETRY)
        else:
            self._frontier.hold(url.key, now + FORBIDDEN)

    def redirect(self, url: CrawlUrl, target: str, fetch: Fetch) -> bool:
        """A page that has moved for good is replaced by the page at its new place, which is fetched as a new one."""
        for_good = fetch.status in _FOR_GOOD or 200 <= fetch.status < 300
        page = self._steps.known(url.url)
        self._steps.end(url, fetch, MOVED if for_good else "", redirect=target)
        return for_good and self._admission.offer(CrawlUrl(target, page.weight, max(page.depth, 1), url.url))

    def _digest(self, body: bytes) -> str:
        return hashlib.md5(body[: self._steps.max_bytes], usedforsecurity=False).hexdigest()
