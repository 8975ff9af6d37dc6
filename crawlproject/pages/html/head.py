"""What a document says about itself: to robots, where it sends its reader at once, when it was published, what it belongs
to.

``<meta name="robots">`` and the ``X-Robots-Tag`` header share one vocabulary. A reader is sent elsewhere by an instant
refresh, or by a script that does nothing else. Feeds, and the pages before and after a page (``rel`` of ``link`` and ``a``),
are looked for in the markup, and only where somebody asks: the parser has nothing to do with it.

Documents give their day of publication in several places, and not all are meant as carefully. In the order of trust:
``datePublished`` of a JSON-LD script (schema.org), ``<meta>`` (Open Graph, Dublin Core, schema.org and others), an element
with ``itemprop="datePublished"`` or ``<time pubdate>``, and the ``<time>`` elements when all of them name one day.
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

INSTANT = 10.0  # seconds: a refresh that waits longer is for a reader who has read; it stays a link
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
_REDIRECT = re.compile(  # of a script whose white space is folded
    r"(?:<!-- ?|// ?<!\[CDATA\[ ?)?(?:['\"]use strict['\"]; ?)?"
    r"(?:(?:window\.)?setTimeout ?\( ?(?:function ?\( ?\) ?\{ ?|\( ?\) ?=> ?(?:\{ ?)?|[\"'])?)?"
    rf"{_OBJECT}location ?(?:\. ?href ?)?(?:= ?|\. ?(?:replace|assign) ?\( ?){_TARGET} ?\)? ?;?"
    r"(?: ?[}\"']? ?, ?(?P<ms>\d{1,5}) ?\) ?;?)?(?: ?return (?:true|false) ?;?)?(?: ?// ?-->| ?// ?\]\]>| ?-->)?"
)
_MAX_VALUES = 20_000  # values of a JSON-LD script that are looked at
_META = frozenset(
    ("article:published_time", "article.published", "citation_publication_date", "date", "datepublished", "dc.date",
     "dc.date.issued", "dcterms.created", "dcterms.date", "dcterms.issued", "og:published_time", "parsely-pub-date",
     "pubdate", "publish-date", "publish_date", "sailthru.date")
)  # fmt: skip
_DAY = re.compile(r"\s*(\d{4})([-/.]?)(\d{1,2})\2(\d{1,2})(?!\d)")
_SCRIPT, _HEAD, _MARKED, _TIME = range(4)  # the more trusted the lower
_ELEMENT = re.compile(r"<(?:link|a)\s([^<>]{0,4000})>", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"""(?<![a-z])([a-z]++)\s*+=\s*+(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""", re.IGNORECASE)
_FEED_TYPES = ("application/rss+xml", "application/atom+xml", "application/rdf+xml", "application/feed+json")
_NAMES = {"next": NEXT, "prev": PREVIOUS, "previous": PREVIOUS}


class MetaRobots(NamedTuple):
    """``noindex``: do not keep the page. ``nofollow``: do not follow its links.

    ``unavailable_after``: from when on ``noindex`` holds, in seconds since the epoch. ``reserved``: which uses the page reserves,
    of ``RESERVED`` and ``TDM``; a crawl does not depend on them.
    """

    noindex: bool = False
    nofollow: bool = False
    unavailable_after: float = inf
    reserved: frozenset[str] = frozenset()

    def __or__(self, other: object) -> MetaRobots:
        """What is asked here or there: the stricter of both."""
        if not isinstance(other, MetaRobots):
            return NotImplemented
        return MetaRobots(
            self.noindex or other.noindex,
            self.nofollow or other.nofollow,
            min(self.unavailable_after, other.unavailable_after),
            self.reserved | other.reserved,
        )

    def bars(self, now: float) -> bool:
        """Whether the page is not to be kept ``now``."""
        return self.noindex or now > self.unavailable_after


NO_RULES = MetaRobots()


def robots_rules(value: str, agent: str = "") -> MetaRobots:
    """The rules for all robots and for the one called ``agent`` (in lower case), together.

    ``value`` is a meta tag's ``content``, or ``X-Robots-Tag``, each header on a line of its own. Case and unknown rules are
    ignored; ``none`` is ``noindex, nofollow``. What follows a name (``somebot: noindex, nofollow``) is for that robot, up
    to the next name or the end of the line.
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
    """What the value of ``TDM`` says."""
    return MetaRobots(reserved=frozenset((TDM,))) if value.strip() == "1" else NO_RULES


def _first_date(text: str, more: list[str]) -> float:
    """A date that may have commas in it, in seconds since the epoch; infinite when there is none."""
    for length in range(len(more) + 1):
        for read in (parsedate_to_datetime, datetime.fromisoformat):
            with suppress(TypeError, ValueError, OverflowError, IndexError):
                found = read(",".join([text, *more[:length]]).strip())
                return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
    return inf


def refresh_of(content: str) -> tuple[str, float]:
    """Where a refresh leads, as written, and after how many seconds; an empty target when it leads nowhere else."""
    found = _REFRESH.match(content)
    if found is None:
        return "", 0.0
    try:
        return found["url"].strip(), float(found["seconds"])
    except ValueError:  # "1.2.3"
        return found["url"].strip(), 0.0


def script_target(script: str) -> str:
    """Where a script sends the reader, as written, when it does nothing else; empty when it does not, or does more."""
    if "location" not in script[:_LONGEST_SCRIPT] or len(script) > _LONGEST_SCRIPT:
        return ""
    found = _REDIRECT.fullmatch(" ".join(script.split()))
    return found["url"] if found and int(found["ms"] or 0) <= 1000 * INSTANT else ""


class Published:
    """Collects what a document says and gives the ``day`` that is trusted most."""

    def __init__(self) -> None:
        self._found: dict[int, str] = {}
        self._times: set[str] = set()

    def meta(self, attributes: Mapping[str, str]) -> None:
        """A ``<meta>`` element."""
        content = attributes.get("content", "")
        if attributes.get("itemprop", "").lower() == "datepublished":
            self._note(_MARKED, content)
            return
        name = attributes.get("property") or attributes.get("name") or ""
        if name.strip().lower() in _META:
            self._note(_HEAD, content)

    def time(self, attributes: Mapping[str, str]) -> None:
        """A ``<time>`` element."""
        value = attributes.get("datetime", "")
        if "pubdate" in attributes or attributes.get("itemprop", "").lower() == "datepublished":
            self._note(_MARKED, value)
        elif len(self._times) < 2 and (day := day_of(value)):
            self._times.add(day)

    def linked_data(self, document: Any) -> None:
        """What a script of the type ``application/ld+json`` holds."""
        for value in values_of(document, "datePublished"):
            self._note(_SCRIPT, value)

    @property
    def day(self) -> str:
        """``YYYY-MM-DD``; empty when the document does not say."""
        if len(self._times) == 1:
            self._found.setdefault(_TIME, next(iter(self._times)))
        return self._found[min(self._found)] if self._found else ""

    def _note(self, trust: int, value: object) -> None:
        if trust not in self._found and isinstance(value, str) and (day := day_of(value)):
            self._found[trust] = day


def day_of(text: str) -> str:
    """``YYYY-MM-DD`` of a date as ISO 8601 or RFC 5322 writes it, with or without a time; empty for anything else.

    The day is that of the time zone in which the date is written.
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
    """The values of ``key`` anywhere in a JSON document, outer ones first."""
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
    """A URL as written, and what is there: ``FEED``, ``NEXT`` or ``PREVIOUS``, or ``LANGUAGE`` and which."""

    kind: str
    href: str


def attributes_of(tag: str) -> dict[str, str]:
    """The attributes in the markup of a tag, as written."""
    return {name.lower(): double or single or bare for name, double, single, bare in _ATTRIBUTE.findall(tag)}


def related_in(markup: str) -> list[Related]:
    """The first ``MAX_RELATED``, in document order; then as many links that say their language."""
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
        if "alternate" in names and values.get("type", "").partition(";")[0].strip().lower() in _FEED_TYPES:
            found.append(Related(FEED, href))
        found += [Related(_NAMES[name], href) for name in names if name in _NAMES]
        if len(found) >= MAX_RELATED:
            break
    return found + said
