"""Pages about the topic that earlier crawls have found: they are fetched right after the seeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from crawlproject.core.earlier_pages import crawls_in, find_earlier_pages
from crawlproject.core.part import Part, Setup
from crawlproject.core.services import Handler, Services
from crawlproject.errors import BadSetting
from crawlproject.pages.text.printable import counted
from crawlproject.parts.earlier.options import EarlierOptions
from crawlproject.parts.earlier.proposals import Proposal, read_proposals, write_proposals
from crawlproject.topic.found_seeds import SEEDS, choose_seeds
from crawlproject.urls.canonical import canonical_or_none


class EarlierCrawls(Part):
    """The part that ``CRAWL_EARLIER`` asks for. Proposed pages are not seeds: scope, traps and addresses apply as for links."""

    name = "earlier"

    def __init__(self, setup: Setup, crawls: Sequence[Path]) -> None:
        self._setup = setup
        self._crawls = crawls
        self._services: Services | None = None
        self._proposed: Sequence[Proposal] = read_proposals(setup.folder.path)

    @classmethod
    def make(cls, setup: Setup) -> EarlierCrawls | None:
        folders = [Path(name).expanduser() for name in setup.options.of(EarlierOptions).crawl_earlier]
        if not folders:
            return None
        if setup.topic.members:
            raise BadSetting("setting CRAWL_EARLIER", "works for a crawl of one topic only")
        for folder in folders:
            if not folder.is_dir():
                raise BadSetting("setting CRAWL_EARLIER", f"expected a folder, which {folder} is not")
        return cls(setup, [*crawls_in(folders)])

    def kinds(self, services: Services) -> Mapping[str, Handler]:
        self._services = services
        return {}

    def begin(self, now: float) -> None:
        """Offer the proposed pages, at each start until the first fetch has ended: offering a waiting URL changes nothing."""
        services = self._services
        if services is None or len(self._setup.folder.history):
            return
        if not self._proposed:
            self._proposed = self._found()
            if not self._setup.rehearsal:
                write_proposals(self._setup.folder.path, self._proposed)
        for one in self._proposed:
            record = services.admission.seed_record(one.url)
            services.kinds.offer(replace(record, depth=1, anchor=one.title))

    def _found(self) -> list[Proposal]:
        setup, seeds = self._setup, {*self._setup.topic.seeds}
        found = find_earlier_pages(self._crawls, setup.judge, setup.options.page_relevant)
        setup.folder.warnings += [f"CRAWL_EARLIER: {damage}" for damage in found.damage]
        proposed = []
        for page in choose_seeds([found.about_it], SEEDS + len(seeds)):
            url = canonical_or_none(setup.canonicalize, page.url)
            if url and url not in seeds:
                proposed.append(Proposal(url, page.title, page.source, page.similarity or 0.0))
        return proposed[:SEEDS]

    def counters(self) -> Mapping[str, int]:
        return {"earlier/proposed": len(self._proposed)}

    def progress(self) -> Sequence[str]:
        crawls = {one.crawl for one in self._proposed}
        found = f"{counted(len(self._proposed), 'page')} of {counted(len(crawls), 'earlier crawl')}"
        return [f"{found} came right after the seeds." if crawls else "Earlier crawls know no page about this topic."]
