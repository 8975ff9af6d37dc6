"""Learns from the duplicates of a crawl which parts of URLs make no difference.

Two URLs with the same text that differ in one way propose a rule. Every page of the host that is fetched afterwards may be
evidence: two URLs that the rule unifies have the same text, or different texts. Pairs with the same text count for the rule
once per text, so an error page behind a hundred URLs counts once. A rule is confirmed when its share of such pairs is
``CONFIRMED_FROM`` or more with 95 % confidence (five pairs and none against); a parameter or a pattern also needs ``VALUES``
different values. A rule that no longer holds is withdrawn.

Of the URLs that a confirmed rule unifies, the first is crawled, and the others come last. The rule refuses them only if its
share of all pairs, each URL counted, is ``CERTAIN_FROM`` or more (268 and none against), or if a person has named the crawl
that it comes from. One of ``AUDITED`` variants is crawled anyway, so that a rule that no longer holds is detected.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from crawlproject.core.learned_state import Unfit, fields_of, set_fields
from crawlproject.core.stopping import wilson_lower_bound
from crawlproject.parts.duplicates.url_rule import UrlRule, digest_of, parts_of, proposals, spelled, value_of
from crawlproject.records import FetchEvent
from crawlproject.urls.post import is_post

CONFIRMED_FROM = 0.6
WITHDRAWN_BELOW = 0.4
CERTAIN_FROM = 0.99
VALUES = 3  # different values of a parameter or a pattern
AUDITED = 25

_PER_HOST = 16  # rules of a host that are considered
_HOSTS = 10_000
_PAIRS = 64  # texts, and values, of a rule that are counted
_URLS = 256  # recent URLs of a rule in which pairs are found
_FIRST = 200_000  # remembered URLs that are crawled in place of their variants


@dataclass(slots=True)
class RuleEvidence:
    """The evidence for a rule. ``before``: pairs for and against it in earlier crawls. ``examples``: pairs for it.

    ``given``: a person has named the crawl that confirmed it.
    """

    rule: UrlRule
    confirmed: bool = False
    certain: bool = False
    given: bool = False
    off: bool = False
    before: tuple[float, float] = (0.0, 0.0)
    against: int = 0
    copies: int = 0
    texts: set[int] = field(default_factory=set)
    values: set[str] = field(default_factory=set)
    examples: list[tuple[str, str]] = field(default_factory=list)
    urls: OrderedDict[int, tuple[int, str]] = field(default_factory=OrderedDict)

    @property
    def pairs(self) -> tuple[float, float]:
        """The numbers of pairs for and against the rule; each text counts once."""
        return self.before[0] + len(self.texts), self.before[1] + self.against

    @property
    def all_pairs(self) -> tuple[float, float]:
        """The same numbers with each URL counted, whatever its text."""
        return self.before[0] + self.copies, self.pairs[1]

    def add(self, url: str, text: int) -> None:
        """Add a fetched page; ``text`` identifies its text."""
        key = digest_of(spelled(self.rule.normal(parts_of(url))))
        text_before, url_before = self.urls.get(key, (text, url))
        self.urls[key] = text, url_before if text_before == text else url
        self.urls.move_to_end(key)
        if len(self.urls) > _URLS:
            self.urls.popitem(last=False)
        if url_before == url:
            return
        if text_before != text:
            self.against += 1
            return
        self.copies += 1
        if len(self.texts) < _PAIRS:
            self.texts.add(text)
        if len(self.values) < _PAIRS:
            self.values.update((value_of(self.rule, url), value_of(self.rule, url_before)))
        if len(self.examples) < 3:
            self.examples.append((url_before, url))

    def holds(self) -> bool:
        """Whether the evidence confirms the rule, or does not refute it if it is confirmed already."""
        share = wilson_lower_bound(*self.pairs)
        if self.confirmed:
            return share >= WITHDRAWN_BELOW
        enough = self.rule.kind not in ("param", "pattern") or len(self.values) >= VALUES
        return enough and share >= CONFIRMED_FROM

    def is_sure(self) -> bool:
        """Whether the rule refuses URLs while it holds."""
        return self.given or is_certain(self.all_pairs)


def is_certain(pairs: tuple[float, float]) -> bool:
    """Whether these numbers of pairs for and against a rule leave almost no doubt."""
    return wilson_lower_bound(*pairs) >= CERTAIN_FROM


class UrlRuleLearner:
    """Learns the rules of a crawl; ``variants`` applies them.

    ``known`` says whether a URL waits or was fetched. ``changed`` is called with every rule that is confirmed or withdrawn;
    the caller sets it once the history is learned.
    """

    def __init__(self, known: Callable[[str], bool]) -> None:
        self.variants = UrlVariants(known)
        self.changed: Callable[[RuleEvidence], None] = lambda evidence: None
        self.withdrawn = 0  # rules, so far
        self._hosts: OrderedDict[str, dict[UrlRule, RuleEvidence]] = OrderedDict()
        self._said: list[tuple[UrlRule, tuple[float, float], bool, bool]] = []  # by a person, before the crawl resumed

    LEARNED: ClassVar[tuple[str, ...]] = ("_hosts", "_said", "withdrawn")

    def learned(self) -> dict[str, Any]:
        """The state for a checkpoint."""
        return {"fields": fields_of(self), "fetched": self.variants.fetched}

    def refuse_unfit(self, learned: Mapping[str, Any]) -> None:
        """Raises ``Unfit`` if a person has given or switched other rules since the checkpoint."""
        if learned["fields"][0]["_said"] != self._said:
            raise Unfit("other URL rules are given or switched off")

    def set_learned(self, learned: Mapping[str, Any]) -> None:
        """Restore the state."""
        set_fields(learned["fields"], self)
        self._set_rules()
        self.variants.set_learned(learned["fetched"])

    def learn(self, event: FetchEvent) -> None:
        """Add a page to the evidence; a duplicate counts with the text of its original. Pages fetched by POST are ignored."""
        visit = event.visit
        if is_post(visit.url) or is_post(visit.duplicate_of):
            return
        if not visit.is_page:
            if visit.error:
                self.variants.failed(visit.url)
            return
        text = digest_of(visit.duplicate_of or visit.url)
        if visit.duplicate_of:
            for rule in proposals(visit.url, visit.duplicate_of):
                self._propose(rule, visit.duplicate_of, text)
        host = parts_of(visit.url)[1]
        for evidence in list(self._hosts.get(host, {}).values()):
            evidence.add(visit.url, text)
            self._judge(evidence)
        if host in self.variants.rules:
            self.variants.fetch(visit.url)

    def add_confirmed(self, rule: UrlRule, pairs: tuple[float, float]) -> None:
        """Add a rule that an earlier crawl confirmed, with the numbers of pairs for and against it."""
        evidence = self._evidence_of(rule)
        evidence.before = pairs
        evidence.confirmed = evidence.certain = evidence.given = True
        self._said.append((rule, pairs, True, False))
        self._set_rules()

    def switch(self, rule: UrlRule, *, off: bool) -> None:
        """Switch a rule off, as if it had never been found, or on again."""
        self._evidence_of(rule).off = off
        self._said.append((rule, (0.0, 0.0), False, off))
        self._set_rules()

    def evidence(self) -> Iterator[RuleEvidence]:
        """The evidence for every rule, each once."""
        found = {rule: evidence for rules in self._hosts.values() for rule, evidence in rules.items()}
        return iter(found.values())

    def _propose(self, rule: UrlRule, first: str, text: int) -> None:
        rules = self._hosts.get(rule.host, {})
        if rule not in rules and len(rules) < _PER_HOST:
            self._evidence_of(rule).add(first, text)

    def _evidence_of(self, rule: UrlRule) -> RuleEvidence:
        held = self._hosts.get(rule.host, {}).get(rule)
        if held is not None:
            return held
        evidence = RuleEvidence(rule)
        for host in rule.hosts:
            self._hosts.setdefault(host, {})[rule] = evidence
            self._hosts.move_to_end(host)
        while len(self._hosts) > _HOSTS:
            self._hosts.popitem(last=False)
        return evidence

    def _judge(self, evidence: RuleEvidence) -> None:
        confirmed = evidence.holds()
        certain = confirmed and evidence.is_sure()
        if (confirmed, certain) == (evidence.confirmed, evidence.certain):
            return
        self.withdrawn += evidence.confirmed and not confirmed
        evidence.confirmed, evidence.certain = confirmed, certain
        self._set_rules()
        for _, url in evidence.urls.values() if confirmed else ():
            self.variants.fetch(url)
        self.changed(evidence)

    def _set_rules(self) -> None:
        on = [found for found in self.evidence() if found.confirmed and not found.off]
        self.variants.set_rules((found.rule for found in on), (found.rule for found in on if found.certain))


class UrlVariants:
    """A URL normalizer. After a resume it knows the fetched variants again, but not all waiting ones.

    ``known`` says whether a URL waits or was fetched.
    """

    def __init__(self, known: Callable[[str], bool]) -> None:
        self._known = known
        self.rules: dict[str, list[UrlRule]] = {}  # the rules that hold, by host; none for a host that others mirror
        self._certain: frozenset[UrlRule] = frozenset()
        self._first: OrderedDict[int, str] = OrderedDict()  # digest of a normal form -> the first URL with it
        self.fetched: OrderedDict[int, str] = OrderedDict()  # the same, for fetched URLs only
        self._asked = 0

    def set_rules(self, rules: Iterable[UrlRule], certain: Iterable[UrlRule]) -> None:
        """Replace the rules that hold, and recompute the normal forms of the known URLs."""
        self.rules = {}
        self._certain = frozenset(certain)
        for rule in rules:
            for host in rule.hosts:
                self.rules.setdefault(host, [])
            self.rules[rule.host].append(rule)
        for of_host in self.rules.values():
            of_host.sort(key=lambda rule: (rule.kind == "mirror", rule))  # rules that lead to another host come last
        urls, fetched = list(self._first.values()), list(self.fetched.values())
        self._first, self.fetched = OrderedDict(), OrderedDict()
        for url in urls:
            self.first(url)
        for url in fetched:
            _note(self.fetched, self._key(url), url)

    def set_learned(self, fetched: OrderedDict[int, str]) -> None:
        """Restore the URLs that were fetched in an earlier run."""
        self.fetched, self._first = fetched, OrderedDict(fetched)

    def failed(self, url: str) -> None:
        """Forget a URL that brought no page: it is not crawled in place of others."""
        if self.rules:
            key = self._key(url)
            for firsts in (self._first, self.fetched):
                if firsts.get(key) == url:
                    del firsts[key]

    def fetch(self, url: str) -> None:
        """Note a fetched page, which may be the first with its normal form."""
        key = self._key(url)
        _note(self.fetched, key, url)
        _note(self._first, key, url)

    def first(self, url: str) -> str:
        """The first URL with the normal form of ``url``: ``url`` itself unless an earlier one is known."""
        return _note(self._first, self._key(url), url)

    def normalized(self, url: str) -> str:
        """The variant to crawl: ``url`` itself if it is the first, if its host has no rule, or for an audit."""
        if not self.rules or parts_of(url)[1] not in self.rules:
            return url
        normal = self.normal(url)
        first = self._first.get(digest_of(normal))
        if first is None:
            first = normal if normal != url and self._known(normal) else self.first(url)
        if first == url:
            return url
        self._asked += 1
        return url if self._asked % AUDITED == 0 else first

    def replaced(self, url: str) -> str:
        """The variant to crawl if all rules that make both alike are certain; else ``url``."""
        if not self._certain or (first := self.normalized(url)) == url:
            return url
        applied = [rule for variant in (url, first) for rule in self.applied(variant)]
        return first if self._certain.issuperset(applied) else url

    def normal(self, url: str) -> str:
        """The normal form of a URL, which all its variants have."""
        parts = parts_of(url)
        for rule in self._rules_for(parts[1]):
            parts = rule.normal(parts)
        return spelled(parts)

    def applied(self, url: str) -> Iterator[UrlRule]:
        """Yield the rules that change a URL."""
        parts = parts_of(url)
        for rule in self._rules_for(parts[1]):
            if (normal := rule.normal(parts)) != parts:
                yield rule
            parts = normal

    def _key(self, url: str) -> int:
        return digest_of(self.normal(url))

    def _rules_for(self, host: str) -> Iterator[UrlRule]:
        """Yield the rules of a host, then those of the host that it mirrors, and so on."""
        passed: set[str] = set()
        while host and host not in passed:
            passed.add(host)
            rules = self.rules.get(host, ())
            yield from rules
            host = next((rule.what for rule in rules if rule.kind == "mirror"), "")


def _note(firsts: OrderedDict[int, str], key: int, url: str) -> str:
    """The first URL with this key: ``url`` unless an earlier one is known."""
    first = firsts.setdefault(key, url)
    if len(firsts) > _FIRST:
        firsts.popitem(last=False)
    return first
