"""When a document says that it was published.

Documents say it in several places, and not all are meant as carefully. In the order of trust: ``datePublished`` of a
JSON-LD script (schema.org), ``<meta>`` (Open Graph, Dublin Core, schema.org and others), an element with
``itemprop="datePublished"`` or ``<time pubdate>``, and the ``<time>`` elements when all of them name one day.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import date
from email.utils import parsedate
from typing import Any

import orjson

MAX_SCRIPT = 500_000  # characters of a JSON-LD script that is read
_MAX_VALUES = 20_000  # values of it that are looked at

_META = frozenset(
    ("article:published_time", "article.published", "citation_publication_date", "date", "datepublished", "dc.date",
     "dc.date.issued", "dcterms.created", "dcterms.date", "dcterms.issued", "og:published_time", "parsely-pub-date",
     "pubdate", "publish-date", "publish_date", "sailthru.date")
)  # fmt: skip
_DAY = re.compile(r"\s*(\d{4})([-/.]?)(\d{1,2})\2(\d{1,2})(?!\d)")
_SCRIPT, _HEAD, _MARKED, _TIME = range(4)  # the more trusted the lower


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

    def script(self, text: str) -> None:
        """A script of the type ``application/ld+json``."""
        if "datePublished" not in text or len(text) > MAX_SCRIPT:
            return
        try:
            document = orjson.loads(text)
        except ValueError:
            return
        for value in _values_of(document, "datePublished"):
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


def _values_of(document: Any, key: str) -> Iterator[Any]:
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
