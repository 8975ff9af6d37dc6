"""Probes: second looks at a page or a host, for cloaking and for soft 404s."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from crawlproject.core.kinds.handler import Handler
from crawlproject.core.part import Part, Setup
from crawlproject.core.services import Services
from crawlproject.pages.page_types import SOFT_404
from crawlproject.parts.probes.handler import ProbeHandler
from crawlproject.parts.probes.options import ProbeOptions
from crawlproject.parts.probes.probe_log import NAME, Finding, ProbeLog, read_findings
from crawlproject.parts.probes.probes import Probes
from crawlproject.parts.probes.site_trust import SiteTrust
from crawlproject.parts.probes.soft_404 import Soft404Detector
from crawlproject.records import PROBE, CrawlUrl, Fetch, FetchEvent, Page


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
