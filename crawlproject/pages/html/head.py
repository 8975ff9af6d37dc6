"""What a document says about itself: rules for robots, an immediate redirect, its day of publication, related documents.

``<meta name="robots">`` and the ``X-Robots-Tag`` header share one vocabulary. An immediate redirect is an instant
refresh, or a script that does nothing else. Feeds, and the pages before and after a page (``rel`` of ``link`` and ``a``),
are searched for in the markup, apart from parsing and only if the caller asks for them.

Documents give their day of publication in several places, which are not equally reliable. In order of trust:
``datePublished`` of a JSON-LD script (schema.org), ``<meta>`` (Open Graph, Dublin Core, schema.org and others), an element
with ``itemprop="datePublished"`` or ``<time pubdate>``, and the ``<time>`` elements if all of them name the same day.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import UTC, date, datetime
from email.utils import parsedate, parsedate_to_datetime
from math import inf
from typing import Any, NamedTuple

INSTANT = 10.0  # seconds: a refresh that waits longer gives time to read the page; it is a mere link
MAX_SCRIPT = 500_000  # characters of a JSON-LD script that is read
FEED = "feed"
NEXT = "next"
PREVIOUS = "prev"
LANGUAGE = "hreflang "  # and the language tag
MAX_RELATED = 50  # feeds and neighbours of a document, and as many links that say their language

RESERVED = frozenset(("noai", "noimageai"))  # rules about training, not about crawling
TDM = "tdm-reservation"  # header and meta tag (TDM Reservation Protocol, W3C Community Group, 2024): 1 reserves
# Rules that carry a value after a colon; any other "name:" addresses one robot by its name.
_UNAVAILABLE = "unavailable_after"
_VALUED = frozenset((_UNAVAILABLE, "max-snippet", "max-image-preview", "max-video-preview"))
_NAME = re.compile(r"\s*([A-Za-z0-9_*-]+)\s*:\s*(.*)", re.DOTALL)
_LONGEST_DATE = 3  # parts between commas: of "Friday, 25-Jun-10 15:00:00 GMT" two
# The content of <meta http-equiv="refresh"> that leads elsewhere (HTML standard, section 4.2.5.3, "shared declarative
# refresh steps").
_REFRESH = re.compile(
    r"""\s*(?P<seconds>[\d.]+)(?:\s*[;,]|\s)\s*+(?:url\s*=\s*+|(?!url\s*=))(?P<quote>["']?)(?P<url>[^"']+)(?P=quote)""",
    re.IGNORECASE,
)
_LONGEST_SCRIPT = 600  # characters; a script that does nothing else is short
_OBJECT = r"(?:(?:window|document|self|top|parent|this) ?\. ?){0,2}"
_TARGET = r"""(?P<quote>["'])(?P<url>[^"'\s\\]{1,500})(?P=quote)"""
_REDIRECT = re.compile(  # matches a script whose white space is folded
    r"(?:<!-- ?|// ?<!\[CDATA\[ ?)?(?:['\"]use strict['\"]; ?)?"
    r"(?:(?:window\.)?setTimeout ?\( ?(?:function ?\( ?\) ?\{ ?|\( ?\) ?=> ?(?:\{ ?)?|[\"'])?)?"
    rf"{_OBJECT}location ?(?:\. ?href ?)?(?:= ?|\. ?(?:replace|assign) ?\( ?){_TARGET} ?\)? ?;?"
    r"(?: ?[}\"']? ?, ?(?P<ms>\d{1,5}) ?\) ?;?)?(?: ?return (?:true|false) ?;?)?(?: ?// ?-->| ?// ?\]\]>| ?-->)?"
)
_MAX_VALUES = 20_000  # values of a JSON-LD script that are examined
_META = frozenset(
    ("article:published_time", "article.published", "citation_publication_date", "date", "datepublished", "dc.date",
     "dc.date.issued", "dcterms.created", "dcterms.date", "dcterms.issued", "og:published_time", "parsely-pub-date",
     "pubdate", "publish-date", "publish_date", "sailthru.date")
)  # fmt: skip
_DAY = re.compile(r"\s*(\d{4})([-/.]?)(\d{1,2})\2(\d{1,2})(?!\d)")
_SCRIPT, _HEAD, _MARKED, _TIME = range(4)  # the lower, the more trusted
_ELEMENT = re.compile(r"<(?:link|a)\s([^<>]{0,4000})>", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"""(?<![a-z])([a-z]++)\s*+=\s*+(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""", re.IGNORECASE)
_FEED_TYPES = ("application/rss+xml", "application/atom+xml", "application/rdf+xml", "application/feed+json")
_NAMES = {"next": NEXT, "prev": PREVIOUS, "previous": PREVIOUS}


class MetaRobots(NamedTuple):
    """The rules of a page for robots. ``noindex``: do not keep the page. ``nofollow``: do not follow its links.

    ``unavailable_after``: when ``noindex`` starts to apply, in seconds since the epoch. ``reserved``: the uses that the page
    reserves, among ``RESERVED`` and ``TDM``; they do not affect a crawl.
    """

    noindex: bool = False
    nofollow: bool = False
    unavailable_after: float = inf
    reserved: frozenset[str] = frozenset()

    def __or__(self, other: object) -> MetaRobots:
        """Return the union of both sets of rules: the stricter rule wins."""
        if not isinstance(other, MetaRobots):
            return NotImplemented
        return MetaRobots(
            self.noindex or other.noindex,
            self.nofollow or other.nofollow,
            min(self.unavailable_after, other.unavailable_after),
            self.reserved | other.reserved,
        )

    def bars(self, now: float) -> bool:
        """Whether the rules forbid keeping the page at the time ``now``."""
        return self.noindex or now > self.unavailable_after


NO_RULES = MetaRobots()


def robots_rules(value: str, agent: str = "") -> MetaRobots:
    """Return the rules for all robots combined with those for the robot called ``agent`` (in lower case).

    ``value`` is the ``content`` of a meta tag, or the ``X-Robots-Tag`` headers, one per line. Case and unknown rules are
    ignored; ``none`` is ``noindex, nofollow``. Rules after a name (``somebot: noindex, nofollow``) apply to that robot only,
    up to the next name or the end of the line.
    """
    words: set[str] = set()
    after = inf
    for line in value.split("\n"):
        ours = True
        parts = line.split(",")
        for number, part in enumerate(parts):
            named = _NAME.fullmatch(part)
            name = named[1].lower() if named else ""
            if named and name not in _VALUED:
                ours, part = name in (agent, "*"), named[2]
                named = _NAME.fullmatch(part)
                name = named[1].lower() if named else ""
            if not ours:
                continue
            if named and name == _UNAVAILABLE:
                after = min(after, _first_date(named[2], parts[number + 1 : number + _LONGEST_DATE]))
            elif not named:
                words.update(part.lower().split())
    none = "none" in words
    return MetaRobots(none or "noindex" in words, none or "nofollow" in words, after, RESERVED & words)


def reservation(value: str) -> MetaRobots:
    """Return the rules that a value of the ``TDM`` header or meta tag states."""
    return MetaRobots(reserved=frozenset((TDM,))) if value.strip() == "1" else NO_RULES


def _first_date(text: str, more: list[str]) -> float:
    """Return a date, which may contain commas, in seconds since the epoch; infinity if there is none."""
    for length in range(len(more) + 1):
        for read in (parsedate_to_datetime, datetime.fromisoformat):
            with suppress(TypeError, ValueError, OverflowError, IndexError):
                found = read(",".join([text, *more[:length]]).strip())
                return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
    return inf


def refresh_of(content: str) -> tuple[str, float]:
    """Return the target of a refresh, as written, and its delay in seconds; an empty target if it only reloads the page."""
    found = _REFRESH.match(content)
    if found is None:
        return "", 0.0
    try:
        return found["url"].strip(), float(found["seconds"])
    except ValueError:  # "1.2.3"
        return found["url"].strip(), 0.0


def script_target(script: str) -> str:
    """Return the target, as written, of a script that does nothing but redirect the reader; empty for any other script."""
    if "location" not in script[:_LONGEST_SCRIPT] or len(script) > _LONGEST_SCRIPT:
        return ""
    found = _REDIRECT.fullmatch(" ".join(script.split()))
    return found["url"] if found and int(found["ms"] or 0) <= 1000 * INSTANT else ""


class Published:
    """Collects the publication dates of a document; ``day`` is the most trusted one."""

    def __init__(self) -> None:
        self._found: dict[int, str] = {}
        self._times: set[str] = set()

    def meta(self, attributes: Mapping[str, str]) -> None:
        """Take in a ``<meta>`` element."""
        content = attributes.get("content", "")
        if attributes.get("itemprop", "").lower() == "datepublished":
            self._note(_MARKED, content)
            return
        name = attributes.get("property") or attributes.get("name") or ""
        if name.strip().lower() in _META:
            self._note(_HEAD, content)

    def time(self, attributes: Mapping[str, str]) -> None:
        """Take in a ``<time>`` element."""
        value = attributes.get("datetime", "")
        if "pubdate" in attributes or attributes.get("itemprop", "").lower() == "datepublished":
            self._note(_MARKED, value)
        elif len(self._times) < 2 and (day := day_of(value)):
            self._times.add(day)

    def linked_data(self, document: Any) -> None:
        """Take in the content of a script of type ``application/ld+json``."""
        for value in values_of(document, "datePublished"):
            self._note(_SCRIPT, value)

    @property
    def day(self) -> str:
        """The day of publication as ``YYYY-MM-DD``; empty if the document does not give it."""
        if len(self._times) == 1:
            self._found.setdefault(_TIME, next(iter(self._times)))
        return self._found[min(self._found)] if self._found else ""

    def _note(self, trust: int, value: object) -> None:
        if trust not in self._found and isinstance(value, str) and (day := day_of(value)):
            self._found[trust] = day


def day_of(text: str) -> str:
    """Return ``YYYY-MM-DD`` for a date in ISO 8601 or RFC 5322 format, with or without a time; empty for anything else.

    The day is the one in the time zone of the date.
    """
    found = _DAY.match(text)
    if found:
        parts = int(found[1]), int(found[3]), int(found[4])
    else:
        try:
            parsed = parsedate(text[:100]) if any(character.isdigit() for character in text[:100]) else None
        except (ValueError, IndexError, TypeError):
            parsed = None
        if parsed is None:
            return ""
        parts = parsed[:3]
    try:
        return date(*parts).isoformat() if parts[0] >= 1000 else ""
    except ValueError:
        return ""


def values_of(document: Any, key: str) -> Iterator[Any]:
    """Yield the values of ``key`` anywhere in a JSON document, outer ones first."""
    level: list[Any] = [document]
    seen = 0
    while level and seen < _MAX_VALUES:
        below: list[Any] = []
        for value in level:
            seen += 1
            if isinstance(value, dict):
                if key in value:
                    yield value[key]
                below += value.values()
            elif isinstance(value, list):
                below += value
        level = below


class Related(NamedTuple):
    """A URL as written, and its kind: ``FEED``, ``NEXT``, ``PREVIOUS``, or ``LANGUAGE`` followed by the language tag."""

    kind: str
    href: str


def attributes_of(tag: str) -> dict[str, str]:
    """Return the attributes in the markup of a tag, names in lower case, values as written."""
    return {name.lower(): double or single or bare for name, double, single, bare in _ATTRIBUTE.findall(tag)}


def related_in(markup: str) -> list[Related]:
    """Return the first ``MAX_RELATED`` feeds and neighbours in document order, then as many links with a language."""
    found: list[Related] = []
    said: list[Related] = []
    for element in _ELEMENT.finditer(markup):
        if "rel" not in element[1] and "REL" not in element[1] and "hreflang" not in element[1]:
            continue
        values = attributes_of(element[1])
        href = html.unescape(values.get("href", "")).strip()
        names = values.get("rel", "").lower().split()
        if not href or "nofollow" in names:
            continue
        if (language := values.get("hreflang", "")) and len(said) < MAX_RELATED:
            said.append(Related(LANGUAGE + language[:20], href))
        if len(found) >= MAX_RELATED:
            continue
        if "alternate" in names and values.get("type", "").partition(";")[0].strip().lower() in _FEED_TYPES:
            found.append(Related(FEED, href))
        found += [Related(_NAMES[name], href) for name in names if name in _NAMES]
    return found + said
