"""What a crawl knows of redundant content: duplicate pages, URL rules, URL templates whose pages say nothing new.

All of it is learned from the history; only the sketches of texts are stored, since making them means reading the pages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from crawlproject.core.examiner import Inspector
from crawlproject.core.learner import Learner
from crawlproject.errors import BadSetting
from crawlproject.options import Options
from crawlproject.parts.duplicates.index import DuplicateIndex
from crawlproject.parts.duplicates.inspector import DuplicateInspector
from crawlproject.parts.duplicates.sketch_store import NAME as SKETCHES
from crawlproject.parts.duplicates.sketch_store import DiskSketchStore, MemorySketchStore, SketchStore
from crawlproject.parts.duplicates.template_holds import TemplateHolds
from crawlproject.parts.duplicates.url_rule_learner import RuleEvidence, UrlRuleLearner
from crawlproject.parts.duplicates.url_rule_store import (
    CONFIRMED,
    GIVEN,
    WITHDRAWN,
    StoredRule,
    UrlRuleStore,
    read_rules,
)
from crawlproject.parts.duplicates.url_templates import UrlTemplates
from crawlproject.storage.crawl_folder import CrawlFolder

OTHERS = "sketches.others.jsonl"


class Deduplication:
    """The parts that are switched on; None for those that are not."""

    def __init__(
        self,
        *,
        duplicates: DuplicateInspector | None = None,
        rules: UrlRuleLearner | None = None,
        templates: UrlTemplates | None = None,
        rule_store: UrlRuleStore | None = None,
    ) -> None:
        self.duplicates = duplicates
        self.rules = rules
        self.templates = templates
        self.rule_store = rule_store
        self.inspectors: tuple[Inspector, ...] = (duplicates,) if duplicates else ()
        self.learners: tuple[Learner, ...] = tuple(part for part in (duplicates, rules, templates) if part is not None)
        self.normalizers = (rules.variants,) if rules else ()
        self.holds = (TemplateHolds(templates),) if templates else ()

    def store_rules(self) -> None:
        """Write down which rules hold now, and every change from now on: to be called once the history was replayed."""
        if self.rule_store and self.rules:
            for evidence in self.rules.evidence():
                self._note(evidence)
            self.rules.changed = self._note

    def close(self) -> None:
        """Close the files."""
        if self.duplicates:
            self.duplicates.close()
        if self.rule_store:
            self.rule_store.close()

    def _note(self, evidence: RuleEvidence) -> None:
        assert self.rule_store is not None
        if evidence.confirmed or evidence.rule in self.rule_store.entries:
            event = CONFIRMED if evidence.confirmed else WITHDRAWN
            self.rule_store.note(evidence.rule, event, evidence.pairs, evidence.examples)


def make_deduplication(
    options: Options, folder: CrawlFolder, known: Callable[[str], bool], *, alone: bool = True
) -> Deduplication:
    """The parts that the settings ask for. ``known`` says whether a URL waits or was fetched; ``alone``: no other worker does.

    Raises ``BadSetting``, ``BadCrawlDir`` and ``StorageFailed``.
    """
    store = UrlRuleStore(folder.path) if options.crawl_learn_rules and folder.bodies else None
    return Deduplication(
        duplicates=_duplicates(folder, options.page_duplicates_known, alone) if options.page_duplicates else None,
        rules=_rules(options.crawl_rules, known, store) if options.crawl_learn_rules else None,
        templates=UrlTemplates() if options.trap_templates else None,
        rule_store=store,
    )


def _duplicates(folder: CrawlFolder, most: int, alone: bool) -> DuplicateInspector:
    known = folder.history.__contains__
    originals = DiskSketchStore(folder.path / SKETCHES, known) if folder.bodies else MemorySketchStore()
    others = None if alone else DuplicateIndex(_store_of_others(folder), most=most)
    return DuplicateInspector(DuplicateIndex(originals, most=most), others)


def _store_of_others(folder: CrawlFolder) -> SketchStore:
    """What other workers have is told again after a restart: the file begins anew with each process."""
    if not folder.bodies:
        return MemorySketchStore()
    path = folder.path / OTHERS
    path.unlink(missing_ok=True)
    return DiskSketchStore(path, lambda url: True)


def _rules(places: Iterable[str], known: Callable[[str], bool], store: UrlRuleStore | None) -> UrlRuleLearner:
    """The learner with the rules that it begins with: those of earlier crawls, and what a person said about ours."""
    rules = UrlRuleLearner(known)
    for entry in _given(places):
        if store is None:
            rules.add_confirmed(entry.rule, entry.pairs)
        elif entry.rule not in store.entries:
            store.note(entry.rule, GIVEN, entry.pairs, entry.examples)
    for entry in store.entries.values() if store else ():
        if entry.given is not None:
            rules.add_confirmed(entry.rule, entry.given)
        if entry.off:
            rules.switch(entry.rule, off=True)
    return rules


def _given(places: Iterable[str]) -> Iterator[StoredRule]:
    for place in places:
        if not Path(place).exists():
            raise BadSetting("setting CRAWL_RULES", f"expected crawl folders or files of rules; there is no {place}")
        yield from (entry for entry in read_rules(Path(place)).values() if entry.holds and not entry.off)
