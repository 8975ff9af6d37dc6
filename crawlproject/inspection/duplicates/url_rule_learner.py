"""Learns from the copies that a crawl meets which parts of URLs make no difference, and sees to it that one of them is crawled.

A pair of URLs with the same text that differ in one way proposes a rule. Every page of the host that is fetched then
speaks for or against it: two URLs that the rule makes one have the same text, or they have not. Only pairs with a text of
their own count for a rule, so that an error page behind a hundred addresses is one witness and not a hundred. A rule is
believed when its share of such pairs is ``CONFIRMED_FROM`` or more with 95 % confidence (five pairs and none against), a
parameter when three of its values were seen too. From then on a URL gives way to the first of its kind; one of
``AUDITED`` goes through all the same, and a rule that does not hold any more is withdrawn.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from xxhash import xxh3_64_intdigest

from crawlproject.inspection.duplicates.url_rule import Parts, UrlRule, parts_of, proposals, spelled, value_of
from crawlproject.inspection.duplicates.wilson_bound import at_least
from crawlproject.records import FetchEvent

CONFIRMED_FROM = 0.6
WITHDRAWN_BELOW = 0.4
VALUES = 3  # of a parameter
AUDITED = 25

_PER_HOST = 16  # rules of a host that are looked at
_HOSTS = 10_000
_PAIRS = 64  # texts and values that are counted
_URLS = 256  # of a rule, to find pairs among
_FIRST_OF_KIND = 200_000  # URLs that others give way to


@dataclass(slots=True)
class RuleEvidence:
    """What is known of a rule. ``before``: pairs for and against it in earlier crawls. ``examples``: pairs for it."""

    rule: UrlRule
    believed: bool = False
    off: bool = False
    before: tuple[float, float] = (0.0, 0.0)
    against: int = 0
    texts: set[int] = field(default_factory=set)
    values: set[str] = field(default_factory=set)
    examples: list[tuple[str, str]] = field(default_factory=list)
    urls: OrderedDict[int, tuple[int, str]] = field(default_factory=OrderedDict)

    @property
    def pairs(self) -> tuple[float, float]:
        """Pairs for and against the rule."""
        return self.before[0] + len(self.texts), self.before[1] + self.against

    def hear(self, url: str, text: int) -> None:
        """A page was fetched; ``text`` stands for what it says."""
        key = _digest(spelled(self.rule.normal(parts_of(url))))
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
        if len(self.texts) < _PAIRS:
            self.texts.add(text)
        if len(self.values) < _PAIRS:
            self.values.update((value_of(self.rule, url), value_of(self.rule, url_before)))
        if len(self.examples) < 3:
            self.examples.append((url_before, url))

    def judge(self) -> bool:
        """Whether the rule is to be believed now."""
        share = at_least(*self.pairs)
        if self.believed:
            return share >= WITHDRAWN_BELOW
        enough = self.rule.kind != "param" or len(self.values) >= VALUES
        return enough and share >= CONFIRMED_FROM


class UrlRuleLearner:
    """The rules of a crawl: a ``Learner`` to the examiner and a ``Respeller`` to the door.

    ``known`` says whether a URL waits or was fetched. ``changed`` is told of every rule that is confirmed or withdrawn; to be
    set when what is learned is news.
    """

    def __init__(self, known: Callable[[str], bool]) -> None:
        self._known = known
        self.changed: Callable[[RuleEvidence], None] = lambda testimony: None
        self._hosts: OrderedDict[str, dict[UrlRule, RuleEvidence]] = OrderedDict()
        self._believed: dict[str, list[UrlRule]] = {}
        self._first: OrderedDict[int, str] = OrderedDict()  # digest of a normal form -> the first URL of its kind
        self._asked = 0

    # ------------------------------------------------------------ learning

    def apply(self, event: FetchEvent) -> None:
        visit = event.visit
        if not visit.is_page:
            if visit.error:
                self._failed(visit.url)
            return
        text = _digest(visit.duplicate_of or visit.url)
        if visit.duplicate_of:
            for rule in proposals(visit.url, visit.duplicate_of):
                self._propose(rule, visit.duplicate_of, text)
        host = parts_of(visit.url)[1]
        for testimony in list(self._hosts.get(host, {}).values()):
            testimony.hear(visit.url, text)
            self._judge(testimony)
        if host in self._believed:
            self._stand_in(visit.url)

    def _failed(self, url: str) -> None:
        """A URL that brings nothing is not the one that others give way to."""
        if self._believed:
            key = self._key(self._normal(url))
            if self._first.get(key) == url:
                del self._first[key]

    def give(self, rule: UrlRule, pairs: tuple[float, float]) -> None:
        """A rule that was confirmed in an earlier crawl, with the pairs for and against it."""
        testimony = self._testimony(rule)
        testimony.before = pairs
        testimony.believed = True
        self._settle()

    def switch(self, rule: UrlRule, *, off: bool) -> None:
        """Do as if a rule had never been found, or not any more."""
        self._testimony(rule).off = off
        self._settle()

    def testimonies(self) -> Iterator[RuleEvidence]:
        """What is known of every rule, each once."""
        found = {rule: testimony for rules in self._hosts.values() for rule, testimony in rules.items()}
        return iter(found.values())

    def _propose(self, rule: UrlRule, first: str, text: int) -> None:
        rules = self._hosts.get(rule.host, {})
        if rule not in rules and len(rules) < _PER_HOST:
            self._testimony(rule).hear(first, text)

    def _testimony(self, rule: UrlRule) -> RuleEvidence:
        held = self._hosts.get(rule.host, {}).get(rule)
        if held is not None:
            return held
        testimony = RuleEvidence(rule)
        for host in rule.hosts:
            self._hosts.setdefault(host, {})[rule] = testimony
            self._hosts.move_to_end(host)
        while len(self._hosts) > _HOSTS:
            self._hosts.popitem(last=False)
        return testimony

    def _judge(self, testimony: RuleEvidence) -> None:
        believed = testimony.judge()
        if believed == testimony.believed:
            return
        testimony.believed = believed
        self._settle()
        if believed:
            for _, url in testimony.urls.values():
                self._stand_in(url)
        self.changed(testimony)

    def _settle(self) -> None:
        """The rules that hold have changed: so have the normal forms."""
        self._believed = {}
        for testimony in self.testimonies():
            if testimony.believed and not testimony.off:
                self._believed.setdefault(testimony.rule.host, []).append(testimony.rule)
        for rules in self._believed.values():
            rules.sort(key=lambda rule: (rule.kind == "mirror", rule))  # another host's rules come last
        urls, self._first = list(self._first.values()), OrderedDict()
        for url in urls:
            self._stand_in(url)

    # ------------------------------------------------------------ the door's question

    def normalized(self, url: str) -> str:
        """The first URL with this normal form; ``url`` when it is the first, when no rule speaks of it, or for an audit."""
        if not self._believed or parts_of(url)[1] not in self._believed:
            return url
        normal = self._normal(url)
        first = self._first.get(self._key(normal))
        if first is None:
            plain = spelled(normal)
            first = plain if plain != url and self._known(plain) else self._stand_in(url)
        if first == url:
            return url
        self._asked += 1
        return url if self._asked % AUDITED == 0 else first

    def rules_for(self, url: str) -> list[UrlRule]:
        """The rules that make ``url`` give way, for whoever asks why it was not fetched."""
        parts, found = parts_of(url), []
        for rule in self._rules(parts):
            if (changed := rule.normal(parts)) != parts:
                parts = changed
                found.append(rule)
        return found

    def _stand_in(self, url: str) -> str:
        """The first URL with the normal form of ``url``, which is ``url`` unless there is one."""
        first = self._first.setdefault(self._key(self._normal(url)), url)
        if len(self._first) > _FIRST_OF_KIND:
            self._first.popitem(last=False)
        return first

    def _normal(self, url: str) -> Parts:
        parts = parts_of(url)
        for rule in self._rules(parts):
            parts = rule.normal(parts)
        return parts

    def _rules(self, parts: Parts) -> Iterator[UrlRule]:
        """The rules of the host of a URL, and of the host that it mirrors."""
        rules = self._believed.get(parts[1], ())
        yield from rules
        if rules and rules[-1].kind == "mirror":
            yield from self._believed.get(rules[-1].what, ())

    def _key(self, parts: Parts) -> int:
        return _digest(spelled(parts))


def _digest(text: str) -> int:
    return xxh3_64_intdigest(text.encode("utf-8", "replace"))
