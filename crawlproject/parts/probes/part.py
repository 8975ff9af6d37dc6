"""Probes: second looks at a page or a host, for cloaking and for soft 404s, which no history knows of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from crawlproject.core.part import Part, Setup
from crawlproject.core.services import UNREACHABLE, FetchPlan, Handler, Services, why_no_page
from crawlproject.pages.page_types import SOFT_404
from crawlproject.parts.probes.options import ProbeOptions
from crawlproject.parts.probes.probe_log import DISGUISED, NAME, Finding, ProbeLog, ProbeResponse, read_findings
from crawlproject.parts.probes.probes import Probes, SiteTrust
from crawlproject.parts.probes.soft_404 import Soft404Detector
from crawlproject.records import PROBE, CrawlUrl, Fetch, FetchEvent, Page, Reply
from crawlproject.urls.canonical import canonical_or_none
from crawlproject.webs.page_cache import location


class ProbePart(Part):
    """There where ``CRAWL_CLOAKING_PROBE`` or ``CRAWL_SOFT_404_PROBE`` asks for it, or did before: what was found still holds."""

    name = "probes"
    _services: Services

    def __init__(self, setup: Setup) -> None:
        options = setup.options.of(ProbeOptions)
        self._setup = setup
        self.probes = Probes(
            share=options.crawl_cloaking_probe,
            seed=options.crawl_seed,
            missing=Soft404Detector(after=options.crawl_soft_404_probe, seed=options.crawl_seed),
            trust=SiteTrust(self._distrust),
            log=ProbeLog(setup.folder.path),
            publish=self._publish,
        )
        setup.folder.beside.append(self.probes)

    @classmethod
    def make(cls, setup: Setup) -> ProbePart | None:
        options = setup.options.of(ProbeOptions)
        wanted = options.crawl_cloaking_probe or options.crawl_soft_404_probe or (setup.folder.path / NAME).exists()
        return cls(setup) if wanted else None

    def kinds(self, services: Services) -> Mapping[str, Handler]:
        self._services = services
        return {PROBE: ProbeHandler(services, self.probes)}

    def restore(self, now: float) -> None:
        for finding in read_findings(self._setup.folder.path):
            self.probes.apply_finding(finding)

    def lowered(self, url: str, score: float) -> float:
        return self.probes.trust.adjusted_score(url, score)

    def examine(self, page: Page, fetch: Fetch) -> Page:
        return self.probes.inspect(page, fetch)

    def redirected(self, url: CrawlUrl, target: str) -> str:
        return SOFT_404 if self.probes.is_soft_404(url, target) else ""

    def learn(self, event: FetchEvent) -> None:
        if event.visit.number == 1:
            self.probes.learn(event)

    def kept(self, page: Page, fetch: Fetch) -> Iterable[CrawlUrl]:
        return self.probes.wanted(page)

    def counters(self) -> Mapping[str, int]:
        return self.probes.stats()

    def hear(self, message: Any) -> None:
        self.probes.apply_finding_of_another(Finding(**message))

    def _publish(self, finding: Finding) -> None:
        self._setup.peers.publish(self.name, finding.url, asdict(finding))

    def _distrust(self, site: str, degree: float) -> None:
        for part in self._services.parts:
            part.distrusted(site, degree)


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
