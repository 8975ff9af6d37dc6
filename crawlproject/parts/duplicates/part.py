"""Redundant content: copies are recognised, URL rules and templates are learned from them.

All of it is learned from the history; only the sketches of texts are stored, since making them means reading the pages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from crawlproject.core.part import Part, Setup
from crawlproject.errors import BadSetting
from crawlproject.parts.duplicates.index import DuplicateIndex
from crawlproject.parts.duplicates.inspector import DuplicateInspector
from crawlproject.parts.duplicates.options import DuplicateOptions
from crawlproject.parts.duplicates.sketch_store import NAME as SKETCHES
from crawlproject.parts.duplicates.sketch_store import (
    DiskSketchStore,
    MemorySketchStore,
    SketchStore,
    read_original,
    written_original,
)
from crawlproject.parts.duplicates.template_turns import TemplateTurns
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
from crawlproject.records import CrawlUrl, Fetch, FetchEvent, Page
from crawlproject.storage.crawl_folder import CrawlFolder

OTHERS = "sketches.others.jsonl"


class Duplicates(Part):
    """``PAGE_DUPLICATES``, ``CRAWL_LEARN_RULES`` and ``TRAP_TEMPLATES`` say what is switched on; None of what is not."""

    name = "duplicates"

    def __init__(
        self,
        *,
        copies: DuplicateInspector | None = None,
        rules: UrlRuleLearner | None = None,
        templates: UrlTemplates | None = None,
        rule_store: UrlRuleStore | None = None,
    ) -> None:
        self.copies = copies
        self.rules = rules
        self.templates = templates
        self.rule_store = rule_store
        learners = (each for each in (copies, rules, templates) if each is not None)
        self._learning = [each.learn for each in learners]
        self._turns = TemplateTurns(templates) if templates is not None else None
        off = {"examine": copies is None, "respelled": rules is None}
        off |= dict.fromkeys(("lowered", "precedence"), templates is None)
        self.idle = [hook for hook, is_off in off.items() if is_off]

    @classmethod
    def make(cls, setup: Setup) -> Duplicates | None:
        options, folder = setup.options.of(DuplicateOptions), setup.folder
        store = UrlRuleStore(folder.path) if options.crawl_learn_rules and folder.bodies else None
        part = cls(
            copies=_copies(folder, options.page_duplicates_known, shares=setup.peers.publishes)
            if options.page_duplicates
            else None,
            rules=_rules(options.crawl_rules, setup.frontier.__contains__, store)
            if options.crawl_learn_rules
            else None,
            templates=UrlTemplates() if options.trap_templates else None,
            rule_store=store,
        )
        folder.beside += [each for each in (part.copies, part.rule_store) if each is not None]
        return part

    def examine(self, page: Page, fetch: Fetch) -> Page:
        return self.copies.inspect(page, fetch) if self.copies is not None else page

    def respelled(self, url: str) -> str:
        return self.rules.variants.normalized(url) if self.rules is not None else url

    def lowered(self, url: str, score: float) -> float:
        return self._turns.lowered(url, score) if self._turns is not None else score

    def precedence(self, url: CrawlUrl, now: float) -> int:
        return self._turns.precedence(url, now) if self._turns is not None else url.precedence

    def learn(self, event: FetchEvent) -> None:
        if event.visit.number == 1:
            for learn in self._learning:
                learn(event)

    def begin(self, now: float) -> None:
        """Write down which rules hold now, and every change from now on."""
        if self.rule_store and self.rules:
            for evidence in self.rules.evidence():
                self._note(evidence)
            self.rules.changed = self._note

    # ------------------------------------------------------------ other workers

    def publish(self, event: FetchEvent) -> Any:
        """The sketch of a page that is no copy."""
        sketch = self.copies.latest if self.copies is not None else None
        return written_original(sketch) if sketch is not None and sketch.url == event.visit.url else None

    def receive(self, event: FetchEvent, published: Any) -> None:
        if self.copies is not None and published:
            self.copies.add_of_another(read_original(published))
        for learner in (self.rules, self.templates):
            if learner is not None and event.visit.number == 1:
                learner.learn(event)

    # ------------------------------------------------------------ inside

    def _note(self, evidence: RuleEvidence) -> None:
        assert self.rule_store is not None
        if evidence.confirmed or evidence.rule in self.rule_store.entries:
            event = CONFIRMED if evidence.confirmed else WITHDRAWN
            self.rule_store.note(evidence.rule, event, evidence.pairs, evidence.examples)


def _copies(folder: CrawlFolder, most: int, *, shares: bool) -> DuplicateInspector:
    known = folder.history.__contains__
    originals = DiskSketchStore(folder.path / SKETCHES, known) if folder.bodies else MemorySketchStore()
    others = DuplicateIndex(_store_of_others(folder), most=most) if shares else None
    return DuplicateInspector(DuplicateIndex(originals, most=most), others)


def _store_of_others(folder: CrawlFolder) -> SketchStore:
    """What other workers have is published again after a restart: the file begins anew with each process."""
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
