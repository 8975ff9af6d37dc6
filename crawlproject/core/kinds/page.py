"""Pages: what most URLs are fetched for."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from crawlproject.core.admission import Admission
from crawlproject.core.history_writer import HistoryWriter
from crawlproject.core.inspectors import Inspection
from crawlproject.core.kinds.handler import UNREACHABLE, FetchPlan, why_no_page
from crawlproject.core.page_steps import PageSteps
from crawlproject.frontier.base import Frontier
from crawlproject.frontier.shared import SharedFrontier
from crawlproject.orderings.base import BaseOrdering
from crawlproject.pages.page_types import SOFT_404
from crawlproject.records import CrawlUrl, Fetch, Page
from crawlproject.webs.base import Reply


class PageParts(NamedTuple):
    """The parts of a crawl that every URL in the history passes."""

    admission: Admission
    frontier: Frontier
    history: HistoryWriter
    inspection: Inspection
    ordering: BaseOrdering
    steps: PageSteps


class PageHandler:
    """Admits, fetches and ends pages. A page that comes through goes on to ``PageSteps``."""

    def __init__(self, parts: PageParts) -> None:
        self._admission, self._frontier, self._history, inspection, self._ordering, self._steps = parts
        self._shared = isinstance(parts.frontier, SharedFrontier)
        self._holds, self._probes, self._tracker = inspection.holds, inspection.probes, inspection.tracker

    def offer(self, url: CrawlUrl) -> bool:
        return self._admission.offer(url)

    def late_refusal(self, url: CrawlUrl) -> str:
        if reason := self._admission.rules.late_refusal(url.url, url.depth):
            return reason
        return "dust/copy" if self._admission.is_replaced(url.url) else ""

    def block_until(self, url: CrawlUrl, now: float) -> float:
        return now if url.depth == 0 else self._holds.block_until(url, now)

    def hold_until(self, url: CrawlUrl, now: float) -> float:
        return now if url.depth == 0 else self._holds.hold_until(url, now)

    def plan(self, url: CrawlUrl) -> FetchPlan:
        return FetchPlan()

    def receive(self, url: CrawlUrl, reply: Reply, fetch: Fetch, page: Page | None = None) -> Page | None:
        if page is None:
            if error := why_no_page(reply, self._steps.content_types):
                self.fail(url, error, fetch)
                return None
            headers = reply.headers
            content_type, robots_tag = headers.get("content-type", ""), headers.get("x-robots-tag", "")
            page = self._steps.read(url, reply.body, content_type=content_type, robots_tag=robots_tag, now=fetch.at)
        if page.redirect:  # as a browser would do: a refresh, or a script that does nothing else
            self.redirect(url, page.redirect, fetch)
            return None
        return page

    def fail(self, url: CrawlUrl, error: str, fetch: Fetch) -> None:
        self._history.end(url, fetch, error=error)
        rests_from = fetch.rests_from
        if self._shared:  # other workers ask the host's clock, not our admission
            rests_from = max(rests_from, self._tracker.hosts.host_blocked_until(url.url))
        self._frontier.done(url.key, rests_from, fetch.seconds)

    def refuse(self, url: CrawlUrl, reason: str) -> None:
        self._history.refused(url, reason)
        self._tracker.holds.ended(url.url)
        if reason == UNREACHABLE:
            self._ordering.failed(url.url)
        else:
            self._ordering.refused(url.url)
        self._frontier.drop(url.key, picked=reason == UNREACHABLE)

    def redirect(self, url: CrawlUrl, target: str, fetch: Fetch) -> bool:
        """The target inherits score, depth and parent."""
        if self._probes.is_soft_404(url, target) and target in self._frontier:
            self.fail(url, SOFT_404, fetch)
            return False
        self._history.end(url, fetch, redirect=target)
        with self._frontier.batch():
            offered = self.offer(replace(url, url=target, request=None))
            self._frontier.done(url.key, fetch.rests_from, fetch.seconds)
        return offered
