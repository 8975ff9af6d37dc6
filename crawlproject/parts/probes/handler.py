"""Probes: second looks at a page or a host, which no history knows of."""

from __future__ import annotations

from crawlproject.core.kinds.handler import UNREACHABLE, FetchPlan, Handler, why_no_page
from crawlproject.core.services import Services
from crawlproject.parts.probes.options import ProbeOptions
from crawlproject.parts.probes.probe_response import ProbeResponse
from crawlproject.parts.probes.probe_steps import DISGUISED
from crawlproject.parts.probes.probes import Probes
from crawlproject.records import CrawlUrl, Fetch, Page, Reply
from crawlproject.urls.canonical import canonical_or_none
from crawlproject.webs.page_cache import location


class ProbeHandler(Handler):
    """Fetches and ends probes. What a probe finds goes into a log of its own, and what has to follow waits."""

    def __init__(self, services: Services, probes: Probes) -> None:
        self._canonicalize = services.canonicalize
        self._frontier = services.frontier
        self._options = services.options.of(ProbeOptions)
        self._probes = probes
        self._rules = services.admission.rules
        self._steps = services.steps

    def offer(self, url: CrawlUrl) -> bool:
        return self._frontier.put(url)

    def late_refusal(self, url: CrawlUrl) -> str:
        return self._rules.late_refusal(url.url)

    def plan(self, url: CrawlUrl) -> FetchPlan:
        agent = self._options.crawl_cloaking_agent if url.variant in DISGUISED else ""
        return FetchPlan(user_agent=agent, one_try=True)

    def receive(self, url: CrawlUrl, reply: Reply, fetch: Fetch, page: Page | None = None) -> None:
        if href := location(reply):
            self.redirect(url, canonical_or_none(self._canonicalize, href, url.url) or "", fetch)
        elif error := why_no_page(reply, self._steps.content_types):
            self.fail(url, error, fetch)
        else:
            content_type = reply.headers.get("content-type", "")
            page = page or self._steps.read(url, reply.body, content_type=content_type)
            self._end(url, ProbeResponse(fetch, page, page.redirect))

    def fail(self, url: CrawlUrl, error: str, fetch: Fetch) -> None:
        self._end(url, ProbeResponse(fetch, error=error))

    def refuse(self, url: CrawlUrl, reason: str) -> None:
        self._probes.refused(url, reason)
        self._frontier.drop(url.key, picked=reason == UNREACHABLE)

    def redirect(self, url: CrawlUrl, target: str, fetch: Fetch) -> bool:
        """The redirect is the answer: it is not followed."""
        self._end(url, ProbeResponse(fetch, redirect=target, error="" if target else "redirect to no URL"))
        return False

    def _end(self, url: CrawlUrl, answer: ProbeResponse) -> None:
        following = self._probes.answered(url, answer)
        rests_from = answer.fetch.rests_from + (self._options.crawl_blocked_rest if answer.blocks else 0.0)
        with self._frontier.batch():
            self._frontier.put_many(following)
            self._frontier.done(url.key, rests_from, answer.fetch.seconds)
