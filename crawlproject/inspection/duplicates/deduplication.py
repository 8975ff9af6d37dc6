"""What a crawl knows of redundant content: duplicate pages, URL rules, URL templates whose pages say nothing new.

All of it is learned from the history; only the sketches of texts are stored, since making them means reading the pages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from crawlproject.errors import BadSetting
from crawlproject.inspection.duplicates.index import DuplicateIndex
from crawlproject.inspection.duplicates.inspector import DuplicateInspector
from crawlproject.inspection.duplicates.sketch_store import NAME as SKETCHES
from crawlproject.inspection.duplicates.sketch_store import DiskSketchStore, MemorySketchStore
from crawlproject.inspection.duplicates.url_rule_learner import RuleEvidence, UrlRuleLearner
from crawlproject.inspection.duplicates.url_rule_store import (
    CONFIRMED,
    GIVEN,
    WITHDRAWN,
    StoredRule,
    UrlRuleStore,
    read_rules,
)
from crawlproject.inspection.duplicates.url_templates import UrlTemplates
from crawlproject.inspection.examiner import Inspector
from crawlproject.inspection.learner import Learner
from crawlproject.options import Options
from crawlproject.storage.crawl_folder import CrawlFolder


class Deduplication:
    """The parts that are switched on; None for those that are not."""

    def __init__(
        self,
        *,
        copies: DuplicateInspector | None = None,
        dust: UrlRuleLearner | None = None,
        templates: UrlTemplates | None = None,
        rules: UrlRuleStore | None = None,
    ) -> None:
        self.copies = copies
        self.dust = dust
        self.templates = templates
        self.rules = rules
        self.inspectors: tuple[Inspector, ...] = (copies,) if copies else ()
        self.learners: tuple[Learner, ...] = tuple(part for part in (copies, dust, templates) if part is not None)
        self.normalizers = (dust,) if dust else ()
        self.holds = (templates,) if templates else ()

    def store_rules(self) -> None:
        """Write down which rules hold now, and every change from now on: to be called once the history was replayed."""
        if self.rules and self.dust:
            for testimony in self.dust.testimonies():
                self._note(testimony)
            self.dust.changed = self._note

    def close(self) -> None:
        """Close the files."""
        if self.copies:
            self.copies.index.close()
        if self.rules:
            self.rules.close()

    def _note(self, testimony: RuleEvidence) -> None:
        assert self.rules is not None
        if testimony.believed or testimony.rule in self.rules.entries:
            event = CONFIRMED if testimony.believed else WITHDRAWN
            self.rules.note(testimony.rule, event, testimony.pairs, testimony.examples)


def make_deduplication(options: Options, folder: CrawlFolder, known: Callable[[str], bool]) -> Deduplication:
    """The parts that the settings ask for. ``known`` says whether a URL waits or was fetched.

    Raises ``BadSetting``, ``BadCrawlDir`` and ``StorageFailed``.
    """
    rules = UrlRuleStore(folder.path) if options.crawl_learn_rules and folder.bodies else None
    return Deduplication(
        copies=_copies(folder, options.page_duplicates_known) if options.page_duplicates else None,
        dust=_dust(options.crawl_rules, known, rules) if options.crawl_learn_rules else None,
        templates=UrlTemplates() if options.trap_templates else None,
        rules=rules,
    )


def _copies(folder: CrawlFolder, most: int) -> DuplicateInspector:
    known = folder.history.__contains__
    originals = DiskSketchStore(folder.path / SKETCHES, known) if folder.bodies else MemorySketchStore()
    return DuplicateInspector(DuplicateIndex(originals, most=most))


def _dust(places: Iterable[str], known: Callable[[str], bool], rules: UrlRuleStore | None) -> UrlRuleLearner:
    """The learner with the rules that it begins with: those of earlier crawls, and what a person said about ours."""
    dust = UrlRuleLearner(known)
    for entry in _given(places):
        if rules is None:
            dust.give(entry.rule, entry.pairs)
        elif entry.rule not in rules.entries:
            rules.note(entry.rule, GIVEN, entry.pairs, entry.examples)
    for entry in rules.entries.values() if rules else ():
        if entry.given is not None:
            dust.give(entry.rule, entry.given)
        if entry.off:
            dust.switch(entry.rule, off=True)
    return dust


def _given(places: Iterable[str]) -> Iterator[StoredRule]:
    for place in places:
        if not Path(place).exists():
            raise BadSetting("setting CRAWL_RULES", f"expected crawl folders or files of rules; there is no {place}")
        yield from (entry for entry in read_rules(Path(place)).values() if entry.holds and not entry.off)
