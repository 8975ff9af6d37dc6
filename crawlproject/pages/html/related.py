"""What a document says it belongs to: its feeds, and the pages before and after it (``rel`` of ``link`` and ``a``).

Looked for in the markup, and only where somebody asks: the parser has nothing to do with it.
"""

from __future__ import annotations

import html
import re
from typing import NamedTuple

FEED = "feed"
NEXT = "next"
PREVIOUS = "prev"

MAX_RELATED = 50
_ELEMENT = re.compile(r"<(?:link|a)\s([^<>]{0,4000})>", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"""([a-z]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""", re.IGNORECASE)
_FEED_TYPES = ("application/rss+xml", "application/atom+xml", "application/rdf+xml", "application/feed+json")
_NAMES = {"next": NEXT, "prev": PREVIOUS, "previous": PREVIOUS}


class Related(NamedTuple):
    """A URL as written, and what is there: ``FEED``, ``NEXT`` or ``PREVIOUS``."""

    kind: str
    href: str


def related_in(markup: str) -> list[Related]:
    """The first ``MAX_RELATED``, in document order."""
    found: list[Related] = []
    for element in _ELEMENT.finditer(markup):
        if "rel" not in element[1] and "REL" not in element[1]:
            continue
        values = {
            name.lower(): double or single or bare for name, double, single, bare in _ATTRIBUTE.findall(element[1])
        }
        href = html.unescape(values.get("href", "")).strip()
        names = values.get("rel", "").lower().split()
        if not href or "nofollow" in names:
            continue
        if "alternate" in names and values.get("type", "").partition(";")[0].strip().lower() in _FEED_TYPES:
            found.append(Related(FEED, href))
        found += [Related(_NAMES[name], href) for name in names if name in _NAMES]
        if len(found) >= MAX_RELATED:
            break
    return found
