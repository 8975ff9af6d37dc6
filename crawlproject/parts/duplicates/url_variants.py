"""Which of several URL variants is crawled, when rules say that they have the same text: the first of them.

One of ``AUDITED`` variants is crawled all the same, so that a rule that does not hold any more is found out.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator

from xxhash import xxh3_64_intdigest

from crawlproject.parts.duplicates.url_rule import Parts, UrlRule, parts_of, spelled

AUDITED = 25

_FIRST = 200_000  # URLs that are crawled in place of their variants, and remembered


class UrlVariants:
    """A URL normalizer. Run-time state: a resumed crawl knows the fetched variants again, not all of those that wait.

    ``known`` says whether a URL waits or was fetched.
    """

    def __init__(self, known: Callable[[str], bool]) -> None:
        self._known = known
        self._rules: dict[str, list[UrlRule]] = {}
        self._first: OrderedDict[int, str] = OrderedDict()  # digest of a normal form -> the first URL with it
        self._asked = 0

    def set_rules(self, rules: Iterable[UrlRule]) -> None:
        """Other rules hold: so there are other normal forms."""
        self._rules = {}
        for rule in rules:
            self._rules.setdefault(rule.host, []).append(rule)
        for of_host in self._rules.values():
            of_host.sort(key=lambda rule: (rule.kind == "mirror", rule))  # another host's rules come last
        urls, self._first = list(self._first.values()), OrderedDict()
        for url in urls:
            self.first(url)

    def add(self, url: str) -> None:
        """``url`` was fetched."""
        if parts_of(url)[1] in self._rules:
            self.first(url)

    def failed(self, url: str) -> None:
        """A URL that brings no page is not crawled in place of others."""
        if self._rules:
            key = digest_of(spelled(self._normal(url)))
            if self._first.get(key) == url:
                del self._first[key]

    def first(self, url: str) -> str:
        """The first URL with the normal form of ``url``, which is ``url`` unless there is one."""
        first = self._first.setdefault(digest_of(spelled(self._normal(url))), url)
        if len(self._first) > _FIRST:
            self._first.popitem(last=False)
        return first

    def normalized(self, url: str) -> str:
        """The variant to crawl: ``url`` when it is the first, when there is no rule for its host, or for an audit."""
        if not self._rules or parts_of(url)[1] not in self._rules:
            return url
        normal = spelled(self._normal(url))
        first = self._first.get(digest_of(normal))
        if first is None:
            first = normal if normal != url and self._known(normal) else self.first(url)
        if first == url:
            return url
        self._asked += 1
        return url if self._asked % AUDITED == 0 else first

    def _normal(self, url: str) -> Parts:
        parts = parts_of(url)
        for rule in self._rules_for(parts[1]):
            parts = rule.normal(parts)
        return parts

    def _rules_for(self, host: str) -> Iterator[UrlRule]:
        """The rules of a host, and of the host that it mirrors."""
        rules = self._rules.get(host, ())
        yield from rules
        if rules and rules[-1].kind == "mirror":
            yield from self._rules.get(rules[-1].what, ())


def digest_of(text: str) -> int:
    """64 bits."""
    return xxh3_64_intdigest(text.encode("utf-8", "replace"))
