"""URL rules: which part of the URLs of a host makes no difference.

========== ============================= ================================================
kind       ``what``                      URLs with the same text
========== ============================= ================================================
param      name of a query parameter     ``/a?id=1&view=2`` and ``/a?id=1``
suffix     end of the path               ``/a/print`` and ``/a``, ``/a.html`` and ``/a``
segment    segment of the path           ``/en/m/a`` and ``/en/a``
replace    text, and its replacement     ``/print/7`` and ``/art/7``: ``/print/ /art/``;
                                         ``/story?id=7`` and ``/story_7``: ``/story?id= /story_``
pattern    shape of a segment            ``/s-4f1/a`` and ``/s-88c/a``: ``s-{x}``
slash                                    ``/a/`` and ``/a``
case                                     ``/A`` and ``/a``
scheme                                   ``https://`` and ``http://``
mirror     the other host                the same path and query on both hosts
========== ============================= ================================================

``replace`` substitutes substrings at the borders of names, as in DUST (Bar-Yossef, Keidar and Schonfeld 2007; paper 004
section 6.1); with a ``?`` it covers path and query together, which is their headline example. No rule replaces one language
code with another, or removes a folder or ending that is one: pages not translated yet say nothing about the translated ones.
``pattern`` is a rule with a regular expression (Dasgupta, Kumar and Sasturkar 2008), written as a shape: ``{n}`` is a number,
``{x}`` is letters and digits.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile

from xxhash import xxh3_64_intdigest

from crawlproject.errors import BadInput

KINDS = ("param", "suffix", "segment", "replace", "pattern", "slash", "case", "scheme", "mirror")

Parts = tuple[str, str, str, str]  # scheme, host with port, path, query


@dataclass(frozen=True, slots=True, order=True)
class UrlRule:
    """A part of the URLs of ``host`` that makes no difference; ``host`` includes the port, if there is one."""

    host: str
    kind: str
    what: str = ""

    def __str__(self) -> str:
        return " ".join(part for part in (self.host, self.kind, self.what) if part)

    @classmethod
    def spelled(cls, text: str) -> UrlRule:
        """The rule from the result of ``str``. Raises ``BadInput``."""
        host, kind, what = [*text.split(" ", 2), "", ""][:3]
        if not host or kind not in KINDS or bool(what) != (kind in _NAMING) or (kind == "replace") != (" " in what):
            wish = f"expected HOST KIND, and for {', '.join(_NAMING)} WHAT; kinds are {', '.join(KINDS)}"
            raise BadInput(f"rule {text!r}", wish)
        return cls(host, kind, what)

    @property
    def hosts(self) -> tuple[str, ...]:
        """The hosts whose URLs the rule is about."""
        return (self.host, self.what) if self.kind == "mirror" else (self.host,)

    def normal(self, parts: Parts) -> Parts:
        """The normal form of a URL, without the part that makes no difference: URLs with equal normal forms are copies."""
        scheme, host, path, query = parts
        if host != self.host:
            return parts
        if self.kind == "param":
            return scheme, host, path, _without(query, self.what)
        if self.kind == "suffix":
            return scheme, host, _shortened(path, self.what), query
        if self.kind == "segment":
            return scheme, host, path.replace(f"/{self.what}/", "/", 1), query
        if self.kind == "replace":
            old, new = self.what.split(" ", 1)
            if "?" in self.what:
                path, _, query = _joined(path, query).replace(old, new, 1).partition("?")
                return scheme, host, path, query
            return scheme, host, path.replace(old, new, 1), query
        if self.kind == "pattern":
            return scheme, host, _without_pattern(path, self.what), query
        if self.kind == "slash":
            return scheme, host, path.rstrip("/") or "/", query
        if self.kind == "case":
            return scheme, host, path.lower(), query
        if self.kind == "scheme":
            return "http", host, path, query
        return scheme, self.what, path, query


def parts_of(url: str) -> Parts:
    """The parts of a canonical URL."""
    document, _, query = url.partition("?")
    scheme, _, rest = document.partition("://")
    host, _, path = rest.partition("/")
    return scheme, host, f"/{path}", query


def digest_of(text: str) -> int:
    """A digest of 64 bits; 0 for an empty text."""
    return xxh3_64_intdigest(text.encode("utf-8", "replace")) if text else 0


def spelled(parts: Parts) -> str:
    """The URL with these parts."""
    scheme, host, path, query = parts
    return f"{scheme}://{host}{path}{'?' if query else ''}{query}"


def value_of(rule: UrlRule, url: str) -> str:
    """The value of the query parameter or of the pattern that a rule is about; for other kinds, the URL."""
    if rule.kind == "pattern":
        return next((name for name in _folders(parts_of(url)[2]) if _shape(name) == rule.what), "")
    if rule.kind != "param":
        return url
    return "&".join(value for name, value in _pairs(parts_of(url)[3]) if name == rule.what)


def proposals(url: str, first: str) -> Iterator[UrlRule]:
    """Yield the rules that would unify two URLs with the same text; none if the URLs differ in several ways."""
    one, two = parts_of(url), parts_of(first)
    differing = [place for place in range(4) if one[place] != two[place]]
    host = one[1]
    if differing == [0]:
        yield UrlRule(host, "scheme")
    elif differing in ([1], [0, 1]):  # one rule for two hosts, whichever was found first: two would undo each other
        short, long = sorted((host, two[1]), key=lambda name: (len(name), name))
        yield UrlRule(long, "mirror", short)
    elif differing == [2]:  # a rule changes both paths, so check that they become equal
        found = _paths(host, one[2], two[2], has_query=bool(one[3]))
        yield from (rule for rule in found if rule.normal(one) == rule.normal(two))
    elif differing == [2, 3] and bool(one[3]) != bool(two[3]):
        yield from _of_path_and_query(host, _joined(*one[2:]), _joined(*two[2:]))
    elif differing == [3]:
        names = {name for name, _ in set(_pairs(one[3])) ^ set(_pairs(two[3]))}
        if len(names) == 1:
            yield UrlRule(host, "param", names.pop())


def _paths(host: str, one: str, two: str, *, has_query: bool) -> Iterator[UrlRule]:
    short, long = sorted((one, two), key=len)
    if short.lower() == long.lower():
        yield UrlRule(host, "case")
    elif short.rstrip("/") == long.rstrip("/"):
        yield UrlRule(host, "slash")
    elif long.startswith(short):
        suffix = long[len(short) :]
        if (
            not _is_language(short, suffix)
            and len(suffix) <= _LONGEST
            and (suffix[0] in _BORDERS or short.endswith("/"))
        ):
            yield UrlRule(host, "suffix", suffix)
    else:
        left = short.split("/")
        segments = long.split("/")
        for place, segment in enumerate(segments[:-1]):
            if (
                0 < len(segment) <= _LONGEST
                and not _LANGUAGE.fullmatch(segment)
                and segments[:place] + segments[place + 1 :] == left
            ):
                yield UrlRule(host, "segment", segment)
                return
        yield from _substitutions(host, one.split("/"), two.split("/"), has_query=has_query)


def _is_language(short: str, suffix: str) -> bool:
    """Whether it may name a language, as `/en` or, behind another extension, `.en`: other pages may be translated."""
    is_extension = suffix[0] == "." and "." not in short.rpartition("/")[2]  # .md, .pl
    return not is_extension and _LANGUAGE.fullmatch(suffix.strip(_BORDERS)) is not None


def _substitutions(host: str, one: list[str], two: list[str], *, has_query: bool) -> Iterator[UrlRule]:
    """Yield a rule if one name replaces another: a folder, or a word of a file name if a number or query tells pages apart."""
    places = [place for place, names in enumerate(zip(one, two, strict=False)) if names[0] != names[1]]
    if len(one) != len(two) or len(places) != 1:
        return
    a, b, before, after = one[places[0]], two[places[0]], "/", "/"
    if places[0] == len(one) - 1:
        words, others = _WORDS.split(a), _WORDS.split(b)
        differing = [place for place, names in enumerate(zip(words, others, strict=False)) if names[0] != names[1]]
        if len(words) != len(others) or len(differing) != 1:
            return
        place = differing[0]
        versions = _VERSION.fullmatch(words[place]) and _shape(words[place]) == _shape(others[place])
        rest = words[:place] + words[place + 1 :]
        if not (any(map(_DIGITS.search, rest)) if versions else has_query or any(map(str.isdecimal, words))):
            return
        a, b = words[place], others[place]
        before, after = ["/", *words][place], [*words, ""][place + 1]
    if not 0 < min(len(a), len(b)) <= max(len(a), len(b)) <= _LONGEST or (
        _LANGUAGE.fullmatch(a) and _LANGUAGE.fullmatch(b)
    ):
        return
    if not _DIGITS.search(a + b) or (places[0] == len(one) - 1 and versions):
        short, long = sorted((a, b), key=lambda name: (len(name), name))
        yield UrlRule(host, "replace", f"{before}{long}{after} {before}{short}{after}")
    elif before == after == "/" and _shape(a) == _shape(b):
        yield UrlRule(host, "pattern", _shape(a))


def _of_path_and_query(host: str, one: str, two: str) -> Iterator[UrlRule]:
    """Yield a rule for the text between a name and a value: ``/story_7`` and ``/story?id=7``."""
    name = _common_start(one, two)
    value = _common_start(one[len(name) :][::-1], two[len(name) :][::-1])[::-1]
    a, b = (text[len(name) : len(text) - len(value)] for text in (one, two))
    before = name[name.rfind("/") :]
    if before == "/" or not value[:1].isalnum() or not a or not b or a[-1].isalnum() or b[-1].isalnum():
        return
    short, long = sorted((before + a, before + b), key=lambda text: (len(text), text))
    if len(long) <= _LONGEST and ("?" in a) != ("?" in b):
        yield UrlRule(host, "replace", f"{long} {short}")


def _common_start(one: str, two: str) -> str:
    alike = takewhile(lambda pair: pair[0] == pair[1], zip(one, two, strict=False))
    return one[: sum(1 for _ in alike)]


def _joined(path: str, query: str) -> str:
    return f"{path}?{query}" if query else path


def _shape(name: str) -> str:
    return _DIGITS.sub(lambda found: "{n}" if found[0].isdecimal() else "{x}", name)


def _folders(path: str) -> list[str]:
    return path.split("/")[1:-1]


def _without_pattern(path: str, shape: str) -> str:
    """``path`` with its first folder of this shape replaced by the shape."""
    names = path.split("/")
    for place, name in enumerate(names[:-1]):
        if _shape(name) == shape:
            names[place] = shape
            break
    return "/".join(names)


def _shortened(path: str, suffix: str) -> str:
    """``path`` without ``suffix``, which is a whole name or begins at a border."""
    if path.endswith(suffix) and (suffix[0] in _BORDERS or path[: -len(suffix)].endswith("/")):
        return path[: -len(suffix)] or "/"
    return path


def _pairs(query: str) -> list[tuple[str, str]]:
    return [(name, value) for name, _, value in (pair.partition("=") for pair in query.split("&")) if name]


def _without(query: str, name: str) -> str:
    return "&".join(pair for pair in query.split("&") if pair.partition("=")[0] != name) if name in query else query


_NAMING = ("param", "suffix", "segment", "replace", "pattern", "mirror")  # kinds with a ``what``
_BORDERS = "/.;"
_LANGUAGE = re.compile(r"[a-z]{2}(?:[-_@](?:[a-z]{2,8}|[0-9]{3}))*", re.IGNORECASE)  # or a country: en, pt-br, zh_Hant
_VERSION = re.compile("[A-Za-z]+[0-9]+")
_WORDS = re.compile(r"([._-])")
_DIGITS = re.compile(r"[A-Za-z]*[0-9][A-Za-z0-9]*")
_LONGEST = 40  # characters of a suffix or a segment
