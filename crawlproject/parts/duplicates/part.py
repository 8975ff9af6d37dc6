"""Redundant content: copies are recognised, URL rules and templates are learned from them.

All of it is learned from the history; only the sketches of texts are stored, since making them means reading the pages.

A page is compared with those seen before, under whatever URL, and with what its host has said before. A calendar has
another date on each page and nothing else; a shop shows the same goods in each order. No two of their pages need be
copies, and yet the hundredth says nothing new.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from xxhash import xxh3_64_intdigest

from crawlproject.core.part import Part, Setup
from crawlproject.errors import BadSetting
from crawlproject.pages.text.minhash import Hashes, sketch
from crawlproject.parts.duplicates.index import DuplicateIndex, leads_elsewhere, links_of, original_of
from crawlproject.parts.duplicates.options import DuplicateOptions
from crawlproject.parts.duplicates.preference import LinkCounts, code_of, language_fit
from crawlproject.parts.duplicates.sketch_store import NAME as SKETCHES
from crawlproject.parts.duplicates.sketch_store import (
    DiskSketchStore,
    MemorySketchStore,
    OriginalPage,
    SketchStore,
    read_original,
    written_original,
)
from crawlproject.parts.duplicates.template_text import TemplateText
from crawlproject.parts.duplicates.url_rule_learner import RuleEvidence, UrlRuleLearner
from crawlproject.parts.duplicates.url_rule_store import (
    CONFIRMED,
    GIVEN,
    WITHDRAWN,
    StoredRule,
    UrlRuleStore,
    read_rules,
)
from crawlproject.parts.duplicates.url_templates import STALE, UrlTemplates
from crawlproject.parts.duplicates.url_versions import UrlVersions
from crawlproject.records import (
    ACTIVE,
    NEW_TEXT,
    NOT_KEPT,
    NOVELTY,
    OWN_LINKS,
    PREFERRED,
    REDUNDANT,
    UNINFORMATIVE,
    CrawlUrl,
    Fetch,
    FetchEvent,
    Page,
    Visit,
)
from crawlproject.storage.crawl_folder import CrawlFolder
from crawlproject.urls.hosts import host_of
from crawlproject.urls.post import is_post

try:
    from crawlproject.pages.text import text_hashes
except Exception:  # not built, or in a zip file
    text_hashes = None  # type: ignore[assignment]

OTHERS = "sketches.others.jsonl"
LONG = 80  # shingles from which on that is said of a page alone; of shorter ones it takes several
MOSTLY_NEW = 0.5  # from here on it is not told

_IN_FLIGHT = 1000  # pages that are examined and not learned yet
_LATER = 200  # URLs of a host behind others that are remembered
_HOSTS = 1_000  # with such URLs
_SAMPLED = np.uint64(1)  # of two shingles one is remembered
_PLACES = 1 << 23


class Duplicates(Part):
    """``PAGE_DUPLICATES``, ``CRAWL_LEARN_RULES`` and ``TRAP_TEMPLATES`` say what is switched on; None of what is not."""

    name = "duplicates"

    def __init__(
        self,
        *,
        copies: DuplicateInspector | None = None,
        rules: UrlRuleLearner | None = None,
        templates: UrlTemplates | None = None,
        versions: UrlVersions | None = None,
        rule_store: UrlRuleStore | None = None,
        reclass: Callable[[str, int], object] = lambda key, precedence: None,
    ) -> None:
        self._reclass = reclass
        self._later: OrderedDict[str, dict[str, str]] = OrderedDict()  # by host the URLs, and their keys, behind others
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
        store = UrlRuleStore(folder.path) if options.crawl_learn_rules and folder.bodies else None
        part = cls(
            copies=_copies(folder, options.page_duplicates_known, setup.topic.language, shares=setup.peers.publishes)
            if options.page_duplicates
            else None,
            rules=_rules(options.crawl_rules, setup.frontier.__contains__, store)
            if options.crawl_learn_rules
            else None,
            templates=UrlTemplates() if options.trap_templates else None,
            versions=UrlVersions(setup.frontier.__contains__) if options.trap_templates else None,
            rule_store=store,
            reclass=setup.frontier.set_precedence,
        )
        folder.beside += [each for each in (part.copies, part.rule_store) if each is not None]
        return part

    def precedence(self, url: CrawlUrl, now: float) -> int:
        """A later class for what is known to be a copy or an old version, and under a demoted template."""
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

    def learn(self, event: FetchEvent) -> None:
        if event.visit.number > 1:
            return
        before = self._acquittals() if self._later else 0
        for learn in self._learning:
            learn(event)
        if self._later and self._acquittals() != before:
            self._bring_forward(host_of(event.visit.url))

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
        if self.copies is not None:
            self.copies.note(event.visit)
        for learner in (self.rules, self.templates, self.versions):
            if learner is not None and event.visit.number == 1:
                learner.learn(event)

    # ------------------------------------------------------------ inside

    def _is_copy(self, url: str) -> bool:
        return self._is_old(url) or self._is_variant(url)

    def _is_old(self, url: str) -> bool:
        """Pages of its template that brought something new refute it."""
        if self.versions is None or not self.versions.parameters or not self.versions.is_old(url):
            return False
        return self.templates is None or not self.templates.informative(url)

    def _is_variant(self, url: str) -> bool:
        return self.rules is not None and not is_post(url) and self.rules.variants.normalized(url) != url

    def _acquittals(self) -> int:
        """How often a rule was withdrawn, or a template has recovered."""
        return (self.rules.withdrawn if self.rules else 0) + (self.templates.recovered if self.templates else 0)

    def _bring_forward(self, host: str) -> None:
        """What waits behind others without a reason by now waits as others again."""
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


def _copies(folder: CrawlFolder, most: int, language: str, *, shares: bool) -> DuplicateInspector:
    known, template = folder.history.__contains__, TemplateText()
    originals = DiskSketchStore(folder.path / SKETCHES, known) if folder.bodies else MemorySketchStore()
    others = DuplicateIndex(_store_of_others(folder), most=most, template=template) if shares else None
    return DuplicateInspector(DuplicateIndex(originals, most=most, template=template), others, language=language)


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


class DuplicateInspector:
    """Fills in ``duplicate_of``, ``replaces``, and the signs ``own_links`` and ``preferred`` of duplicates, ``novelty`` of pages
    that say nothing new, ``new_text`` of others with less than half new and of short ones.

    A learner, too: remembers the originals; ``others`` has those of other workers. ``language`` is that of the topic.
    Which texts a host has shown of late, and how many pages link to a URL, is not learned again after a resume.
    """

    def __init__(self, index: DuplicateIndex, others: DuplicateIndex | None = None, *, language: str = "") -> None:
        self.index = index
        self.latest: OriginalPage | None = None  # that was added last
        self._others = others
        self._stored_until = index.last_url  # the index begins with the events of an earlier run up to this URL
        self._seen = SeenShingles()
        self._language = {code_of(language)}
        self._link_counts = LinkCounts()
        self._kept: dict[str, tuple[str, float]] = {}  # by original: the page that is kept, its language fit
        self._examined: dict[str, OriginalPage] = {}  # between ``inspect`` and ``apply``

    def inspect(self, page: Page, fetch: Fetch) -> Page:
        sketched, links = sketch(page), links_of(page)
        original = original_of(page, sketched, links)
        self._link_counts.add(links)
        first = self.index.first_with(original)
        if first is None and self._others is not None:
            first = self._others.first_with(original)
        novelty = self._seen.new_share(host_of(page.url), sketched.folded)
        if first is not None:
            return self._duplicate(page, original, first)
        self._examined[page.url] = original
        if len(self._examined) > _IN_FLIGHT:  # pages that some later step turned away
            del self._examined[next(iter(self._examined))]
        if novelty >= MOSTLY_NEW:
            return page
        says_nothing = novelty < STALE and len(sketched.folded) >= LONG
        return replace(page, signs={**page.signs, NOVELTY if says_nothing else NEW_TEXT: round(novelty, 3)})

    def learn(self, event: FetchEvent) -> None:
        """Add a page that is no duplicate to the index, unless its sketch is there already.

        After ``kill -9`` the sketch of the last page may be missing on disk; when the file of sketches was removed, all are.
        """
        visit = event.visit
        original = self._examined.pop(visit.url, None)
        self.note(visit)
        if not visit.is_page or visit.duplicate_of:
            return
        if original is not None:
            self.index.add(original)
            self.latest = original
        elif self._stored_until:
            if self._stored_until == visit.url:
                self._stored_until = ""
        elif (page := event.page()) is not None:
            self.index.add(original_of(page, sketch(page)))

    def note(self, visit: Visit) -> None:
        """A page may have taken the place of an original."""
        if visit.replaces and visit.is_page:
            self._kept[visit.duplicate_of] = visit.url, visit.signs.get(PREFERRED, 1.0)
        elif visit.error == NOT_KEPT and not visit.duplicate_of:
            self._kept[visit.url] = visit.url, 0.0  # any copy that may be kept is better

    def _duplicate(self, page: Page, original: OriginalPage, first: OriginalPage) -> Page:
        """A page in the language that is asked for leads on as an original does, whatever its copies linked to."""
        kept, fit = self._kept.get(first.url) or (first.url, language_fit(first.url, first.language, self._language))
        ours = language_fit(page.url, page.language, self._language)
        signs = dict(page.signs)
        if ours > fit > 0 or leads_elsewhere(original, first):
            signs[OWN_LINKS] = 1.0
        is_better = page.is_kept and self._order(ours, page.url) > self._order(fit, kept)
        if is_better:
            signs[PREFERRED] = float(ours)
        return replace(page, duplicate_of=first.url, replaces=kept if is_better else "", signs=signs)

    def _order(self, fit: float, url: str) -> tuple[float, int, int]:
        return fit, self._link_counts.magnitude(url), -len(url)

    def add_of_another(self, original: OriginalPage) -> None:
        """Another worker has kept a page that is no duplicate."""
        if self._others is not None:
            self._others.add(original)

    def close(self) -> None:
        """Close the files."""
        self.index.close()
        if self._others is not None:
            self._others.close()


class SeenShingles:
    """The shingles of each host seen lately, numbers made one: one of two is remembered, by 32 bits, in 32 MB for all.

    A place is overwritten by the next shingle that falls on it, so what is remembered is that of the last 30,000 pages or so;
    views of a page, and pages of a trap, are fetched near each other.
    """

    def __init__(self) -> None:
        self._seen = np.zeros(_PLACES, dtype=np.uint32)

    def new_share(self, host: str, shingles: Hashes) -> float:
        """Which share of the shingles (shape (n,)) is new on this host, 0 to 1; they are seen from now on.

        1 for a text of which none was looked at.
        """
        digest = xxh3_64_intdigest(host.encode())
        if text_hashes is not None:
            room = np.empty(len(shingles), dtype=np.uint64)
            return text_hashes.new_share(shingles, _SAMPLED, digest, room, self._seen)
        sampled = shingles[(shingles >> np.uint64(40)) & _SAMPLED == 0]
        sampled = sampled ^ np.uint64(digest)
        places = sampled & np.uint64(_PLACES - 1)
        marks = (sampled >> np.uint64(32)).astype(np.uint32)
        new = np.count_nonzero(self._seen[places] != marks)
        self._seen[places] = marks
        return new / len(marks) if len(marks) else 1.0
