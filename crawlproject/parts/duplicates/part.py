"""Redundant content: recognises copies, and learns URL rules and URL templates from them.

Everything is learned from the history; only the sketches of texts are stored, since computing them means reading the pages.

A page is compared with all pages seen before, under any URL, and with the earlier text of its host. The pages of a calendar
differ only in the date; a shop lists the same goods in several orders. No two of these pages need be copies, yet the
hundredth says nothing new.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from crawlproject.core.learned_state import fields_of, refuse_fields, set_fields
from crawlproject.core.part import Part, Setup
from crawlproject.errors import BadSetting
from crawlproject.pages.text.date_names import date_names
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
from crawlproject.parts.duplicates.template_text import TemplateText
from crawlproject.parts.duplicates.url_rule import UrlRule
from crawlproject.parts.duplicates.url_rule_learner import RuleEvidence, UrlRuleLearner
from crawlproject.parts.duplicates.url_rule_store import (
    CONFIRMED,
    GIVEN,
    WITHDRAWN,
    StoredRule,
    UrlRuleStore,
    read_rules,
)
from crawlproject.parts.duplicates.url_templates import UrlTemplate, UrlTemplates
from crawlproject.parts.duplicates.url_versions import UrlVersions, VersionParameter
from crawlproject.records import ACTIVE, REDUNDANT, UNINFORMATIVE, CrawlUrl, FetchEvent
from crawlproject.storage.crawl_folder import CrawlFolder
from crawlproject.urls.hosts import host_of
from crawlproject.urls.post import is_post

OTHERS = "sketches.others.jsonl"

_LATER = 200  # deferred URLs that are remembered for a host
_HOSTS = 1_000  # hosts with deferred URLs that are remembered
_GATHERED = 64  # sketches from other workers that are written together


class Duplicates(Part):
    """The part that ``PAGE_DUPLICATES``, ``CRAWL_LEARN_RULES`` and ``TRAP_TEMPLATES`` switch on.

    The argument of a feature that is switched off is None.
    """

    name = "duplicates"
    learned_classes = (RuleEvidence, UrlRule, UrlTemplate, VersionParameter)

    def __init__(
        self,
        *,
        copies: DuplicateInspector | None = None,
        rules: UrlRuleLearner | None = None,
        templates: UrlTemplates | None = None,
        versions: UrlVersions | None = None,
        rule_store: UrlRuleStore | None = None,
        reclass: Callable[[str, int], object] = lambda key, precedence: None,
        is_own: Callable[[str], bool] = lambda host: True,
    ) -> None:
        self._is_own = is_own
        self._reclass = reclass
        self._later: OrderedDict[str, dict[str, str]] = OrderedDict()  # by host: key -> URL, of deferred URLs
        self.copies = copies
        self.rules = rules
        self.templates = templates
        self.versions = versions
        self.rule_store = rule_store
        learners = (each for each in (copies, rules, templates, versions) if each is not None)
        self._learning = [each.learn for each in learners]
        if copies is not None:
            self.examine = copies.inspect  # type: ignore[method-assign]
        if rules is not None:
            self.respelled = rules.variants.replaced  # type: ignore[method-assign]
        if templates is not None:
            self.lowered = templates.lowered  # type: ignore[method-assign]
        if rules is None and templates is None and versions is None:
            self.idle = ("precedence",)

    @classmethod
    def make(cls, setup: Setup) -> Duplicates | None:
        options, folder = setup.options.of(DuplicateOptions), setup.folder
        store = UrlRuleStore(folder.path) if options.crawl_learn_rules else None
        part = cls(
            copies=_copies(setup, options.page_duplicates_known) if options.page_duplicates else None,
            rules=_rules(options.crawl_rules, setup.frontier.__contains__, store)
            if options.crawl_learn_rules
            else None,
            templates=UrlTemplates() if options.trap_templates else None,
            versions=UrlVersions(setup.frontier.__contains__) if options.trap_templates else None,
            rule_store=store,
            reclass=setup.frontier.set_precedence,
            is_own=setup.peers.is_own,
        )
        folder.beside += [each for each in (part.copies, part.rule_store) if each is not None]
        return part

    def precedence(self, url: CrawlUrl, now: float) -> int:
        """A later class for a known copy, an old version, or a URL of a demoted template."""
        precedence = url.precedence
        if url.depth and not url.variant and self._is_variant(url.url):
            precedence = REDUNDANT
        elif url.depth and not url.variant and self._is_old(url.url):
            precedence = max(precedence, self.templates.later(url.url) if self.templates else UNINFORMATIVE)
        elif self.templates is not None:
            precedence = self.templates.precedence(url, now)
        if precedence > url.precedence:
            of_host = self._later.setdefault(host_of(url.url), {})
            if len(of_host) < _LATER:
                of_host[url.key] = url.url
            if len(self._later) > _HOSTS:
                self._later.popitem(last=False)
        return precedence

    def is_doubted(self, url: str) -> bool:
        return self.templates is not None and self.templates.demoted(url) is not None

    def learn(self, event: FetchEvent) -> None:
        if event.visit.number > 1:
            return
        before = self._acquittals() if self._later else 0
        for learn in self._learning:
            learn(event)
        if self._later and self._acquittals() != before:
            self._bring_forward(host_of(event.visit.url))

    def learned(self) -> Any:
        copies, rules, fields = self.copies, self.rules, fields_of(*self._by_fields())
        return {
            "copies": copies.learned() if copies else None,
            "rules": rules.learned() if rules else None,
            "fields": fields,
        }

    def set_learned(self, learned: Any) -> None:
        refuse_fields(learned["fields"], *self._by_fields())
        if self.rules is not None:
            self.rules.refuse_unfit(learned["rules"])
        if self.copies is not None:
            self.copies.set_learned(learned["copies"])
        if self.rules is not None:
            self.rules.set_learned(learned["rules"])
        set_fields(learned["fields"], *self._by_fields())

    def restore(self, now: float) -> None:
        if self.copies is not None:
            self.copies.read_stored()

    def begin(self, now: float) -> None:
        """Record which rules hold now, and every change from now on."""
        if self.rule_store and self.rules:
            for evidence in self.rules.evidence():
                self._note(evidence)
            self.rules.changed = self._note

    # ------------------------------------------------------------ other workers

    def publish(self, event: FetchEvent) -> Any:
        """The sketch of a page that is not a copy; None for a copy."""
        sketch = self.copies.latest if self.copies is not None else None
        return written_original(sketch) if sketch is not None and sketch.url == event.visit.url else None

    def receive(self, event: FetchEvent, published: Any) -> None:
        if self.copies is not None and published:
            self.copies.add_of_another(read_original(published))
        if self.copies is not None:
            self.copies.note(event.visit)
        if event.visit.number > 1:
            return
        # A template or a version parameter belongs to one host: only the worker that crawls the host needs it.
        of_host = (self.templates, self.versions) if self._is_own(host_of(event.visit.url)) else ()
        for learner in (self.rules, *of_host):
            if learner is not None:
                learner.learn(event)

    # ------------------------------------------------------------ inside

    def _by_fields(self) -> list[UrlTemplates | UrlVersions]:
        return [each for each in (self.templates, self.versions) if each is not None]

    def _is_copy(self, url: str) -> bool:
        return self._is_old(url) or self._is_variant(url)

    def _is_old(self, url: str) -> bool:
        """Whether a URL shows an old version; not if pages of its template have been informative."""
        if self.versions is None or not self.versions.parameters or not self.versions.is_old(url):
            return False
        return self.templates is None or not self.templates.informative(url)

    def _is_variant(self, url: str) -> bool:
        return self.rules is not None and not is_post(url) and self.rules.variants.normalized(url) != url

    def _acquittals(self) -> int:
        """How many times a rule was withdrawn or a template recovered."""
        return (self.rules.withdrawn if self.rules else 0) + (self.templates.recovered if self.templates else 0)

    def _bring_forward(self, host: str) -> None:
        """Move the deferred URLs of a host back to the normal class if nothing holds them back."""
        of_host = self._later.get(host, {})
        for key, url in list(of_host.items()):
            if not self._is_copy(url) and (self.templates is None or self.templates.demoted(url) is None):
                del of_host[key]
                self._reclass(key, ACTIVE)

    def _note(self, evidence: RuleEvidence) -> None:
        assert self.rule_store is not None
        if evidence.confirmed or evidence.rule in self.rule_store.entries:
            event = CONFIRMED if evidence.confirmed else WITHDRAWN
            pairs = evidence.all_pairs if evidence.certain else evidence.pairs
            self.rule_store.note(evidence.rule, event, pairs, evidence.examples)


def _copies(setup: Setup, most: int) -> DuplicateInspector:
    folder, language = setup.folder, setup.topic.language
    known, template = folder.history.__contains__, TemplateText()
    originals: SketchStore = MemorySketchStore()
    if folder.bodies:
        originals = DiskSketchStore(folder.path / SKETCHES, known, folder.warnings.append)
    others = DuplicateIndex(_store_of_others(folder), most=most, template=template) if setup.peers.publishes else None
    index, dates = DuplicateIndex(originals, most=most, template=template), date_names(setup.judge.analyzer)
    return DuplicateInspector(index, others, language=language, dates=dates)


def _store_of_others(folder: CrawlFolder) -> SketchStore:
    """A new, empty store for each process: the other workers' sketches are published again after a restart."""
    if not folder.bodies:
        return MemorySketchStore()
    path = folder.path / OTHERS
    path.unlink(missing_ok=True)
    return DiskSketchStore(path, lambda url: True, folder.warnings.append, gathered=_GATHERED)


def _rules(places: Iterable[str], known: Callable[[str], bool], store: UrlRuleStore | None) -> UrlRuleLearner:
    """The learner with its initial rules: those of earlier crawls, and this crawl's rules that a person switched off."""
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
