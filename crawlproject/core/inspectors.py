"""Everything that inspects the pages, hosts and sites of one crawl, and in which order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from crawlproject.core.examiner import Examiner, Inspector
from crawlproject.core.holds import Holds
from crawlproject.core.learner import Learner
from crawlproject.core.normalization import UrlNormalizer
from crawlproject.frontier.base import Frontier
from crawlproject.frontier.shared import SharedFrontier
from crawlproject.options import Options
from crawlproject.pages.page_types import PageTypeInspector
from crawlproject.pages.text.relevance import TopicJudge
from crawlproject.parts.duplicates.deduplication import Deduplication, make_deduplication
from crawlproject.parts.probes.probe_log import NAME as PROBES
from crawlproject.parts.probes.probe_log import ProbeLog
from crawlproject.parts.probes.probes import Probes
from crawlproject.parts.probes.site_trust import SiteTrust
from crawlproject.parts.probes.soft_404 import Soft404Detector
from crawlproject.parts.sites.host_health import HostHealth
from crawlproject.parts.sites.site_budgets import SiteBudgets
from crawlproject.parts.sites.tracker import SiteTracker
from crawlproject.parts.spam.inspector import SpamInspector
from crawlproject.parts.spam.model import SpamModel
from crawlproject.parts.verticals.site_template import SiteTemplates, load_templates
from crawlproject.records import Topic
from crawlproject.storage.crawl_folder import CrawlFolder

if TYPE_CHECKING:
    from crawlproject.parts.verticals.redundancy.redundant_urls import RedundantUrls


class Inspection:
    """The inspectors, learners and holds of one crawl. Raises ``BadSetting``, ``BadCrawlDir`` and ``StorageFailed``."""

    def __init__(
        self, topic: Topic, options: Options, judge: TopicJudge, folder: CrawlFolder, frontier: Frontier
    ) -> None:
        shared = isinstance(frontier, SharedFrontier)
        sharing = isinstance(frontier, SharedFrontier) and frontier.shares
        self.tracker = make_tracker(topic.seeds, options, alone=sharing or not shared)
        self.deduplication: Deduplication = make_deduplication(
            options, folder, frontier.__contains__, alone=not sharing
        )
        self.probes = _make_probes(options, self.tracker, folder, frontier)
        self.templates = load_templates(options.crawl_site_templates)
        self.redundant = _make_redundant(options, self.templates, frontier)
        self._comparing: tuple[Inspector, ...] = ()
        if self.redundant is not None and options.learns_redundant:
            from crawlproject.parts.verticals.redundancy.shown_content import ShownContent

            self._comparing = (ShownContent(self.redundant.leads_on, frontier.__contains__),)
        # Wanted now, or before the crawl was interrupted: what was found then still holds.
        wanted = options.crawl_cloaking_probe or options.crawl_soft_404_probe or (folder.path / PROBES).exists()
        self._probing = (self.probes,) if wanted else ()
        self.plain_inspectors: tuple[Inspector, ...] = (PageTypeInspector(), _make_spam_inspector(options, judge))
        self.examiner = Examiner(tuple(self._inspectors()))
        self.learners: tuple[Learner, ...] = (*self._probing, *self.deduplication.learners)
        if self.redundant is not None:
            self.learners = (*self.learners, self.redundant)
        self.normalizers: tuple[UrlNormalizer, ...] = self.deduplication.normalizers
        self.holds = Holds(
            (self.tracker.hosts, self.tracker.holds),
            (*[probes.trust for probes in self._probing], *self.deduplication.holds),
        )
        folder.beside += [self.deduplication, self.probes]

    def _inspectors(self) -> Iterator[Inspector]:
        """Each sees what those before it found; the first that finds a page without content is the last that is asked."""
        yield from self.plain_inspectors  # look at the page alone
        yield self.tracker.farms  # adds to the spam score
        yield from self._probing  # so does distrust of the site
        yield from self.deduplication.inspectors  # a duplicate of a page that has content
        yield from self._comparing


def _make_redundant(options: Options, templates: SiteTemplates, frontier: Frontier) -> RedundantUrls | None:
    """What refuses redundant URLs, where they are learned or a template names some; else nothing of it is imported."""
    if not options.learns_redundant and not templates:
        return None
    from crawlproject.parts.verticals.redundancy.redundant_urls import RedundantUrls

    return RedundantUrls(templates, frontier.__contains__, learns=options.learns_redundant)


def _make_spam_inspector(options: Options, judge: TopicJudge) -> SpamInspector:
    name = options.crawl_spam_model
    return SpamInspector(judge.query, SpamModel.read(Path(name), "setting CRAWL_SPAM_MODEL") if name else None)


def make_tracker(seeds: Iterable[str], options: Options, *, alone: bool) -> SiteTracker:
    """What is remembered of hosts and sites; before anything else that a person names the seeds and the allowed domains."""
    tracker = SiteTracker(
        HostHealth(first_rest=options.crawl_blocked_rest, patience=options.crawl_blocks_until_given_up),
        SiteBudgets(share=options.crawl_site_budget, alone=alone),
    )
    domains = [f"http://{domain.lower().lstrip('.')}/" for domain in options.crawl_allowed_domains]
    for url in (*seeds, *domains):
        tracker.sites.add_named(url)
    return tracker


def _make_probes(options: Options, tracker: SiteTracker, folder: CrawlFolder, frontier: Frontier) -> Probes:
    return Probes(
        share=options.crawl_cloaking_probe,
        seed=options.crawl_seed,
        missing=Soft404Detector(after=options.crawl_soft_404_probe, seed=options.crawl_seed),
        trust=SiteTrust(tracker.sites.set_distrust),
        log=ProbeLog(folder.path),
        best=frontier.best,
    )
