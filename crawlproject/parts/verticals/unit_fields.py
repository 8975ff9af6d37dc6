"""Title, address, author and day of a unit, as its markup shows them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice
from typing import Any
from urllib.parse import urldefrag, urljoin

from lxml import etree

from crawlproject.pages.html.head import Published, day_of

_AUTHOR_CLASS = re.compile(
    r"(?:^|[\s_-])(?:author|byline|user|username|poster|postprofile|member|nick|creator|by|from|hnuser)(?:$|[\s_-])",
    re.I,
)
_AUTHOR_HREF = re.compile(
    r"/(?:user|users|member|members|profile|people|u|author)[/?.]|[?&](?:u|uid|user|author)=|memberlist|/~|/@\w", re.I
)
_MONTHS = (
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec", "januar", "februar", "märz", "april",
    "mai", "juni", "juli", "august", "oktober", "dezember",
)  # fmt: skip
_DAY_SAID = re.compile(
    r"\b(?:\d{4}-\d{1,2}-\d{1,2}|\d{1,2}[./]\d{1,2}[./]\d{2,4}|(?:"
    + "|".join(_MONTHS)
    + r")[a-zé]{0,6}\.?\s+\d{1,2}(?:st|nd|rd|th)?,?\s+\d{4}"
    r"|\d{1,2}\.?\s+(?:"
    + "|".join(_MONTHS)
    + r")[a-zé]{0,6}\.?,?\s+\d{4}|\d+\s+(?:minute|hour|day|week|month|year)s?\s+ago|yesterday)\b",
    re.I,
)
_MONTH_DAY = re.compile(
    r"\b("
    + "|".join(_MONTHS[:12])
    + r")[a-z]{0,6}\.?\s+(\d{1,2})(?:st|nd|rd|th)?,?\s+(\d{4})|(\d{1,2})\.?\s+("
    + "|".join(_MONTHS[:12])
    + r")[a-z]{0,6}\.?,?\s+(\d{4})",
    re.I,
)
_ISO = re.compile(r"\b\d{4}-\d{2}-\d{2}\b")
_HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5"))
_LOOKED = 1_000  # elements, and texts, of a unit that are examined
_SOON = 30  # characters of an entry before its title
_PARAGRAPHS = 500  # characters of the paragraphs of an article, at least
_BYLINE = 200  # characters below a headline that may have a byline
_OF_FILES = ("date", "dc.date", "dcterms.date")  # names that documentation has, too
_LONG_TITLE = 8  # characters of a link that names its target, at least
_MOST_SAID = 2_000  # characters at the head, and at the foot, of a unit in which its day is looked for
_PERMALINK = re.compile(
    r"^(?:#?\d+|permalink|link|permanent link|share|quote|reply|report|edit|print|more|top|read more|continue reading)\W*$",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Fields:
    """The fields of a unit. ``url`` is the target of its title, ``permalink`` that of a link such as "#7" or "link".

    ``day_said``: a day is named somewhere, in any form; ``published`` is that day if it could be read.
    """

    title: str = ""
    url: str = ""
    permalink: str = ""
    author: str = ""
    published: str = ""
    day_said: bool = False
    leads: bool = False  # the unit begins with its title, which links to another page


def fields_of(element: Any, base: str) -> Fields:
    """The fields that are found in an element of the page at ``base``."""
    signed = author = published = title = url = permalink = ""
    longest = 0
    dated = False
    for node in islice(element.iter(etree.Element), _LOOKED):
        name, tag = node.get("class", ""), node.tag
        if tag == "time":
            dated = True
            published = published or day_of(node.get("datetime", ""))
        if not author and (
            _AUTHOR_CLASS.search(name) or "author" in node.get("rel", "").split() or node.get("itemprop") == "author"
        ):
            author = _said(node)[:100]
        if tag == "a" and (href := node.get("href")):
            text = _said(node)
            if _AUTHOR_HREF.search(href):
                signed = signed or text[:100]
            elif _PERMALINK.match(text):
                permalink = permalink or absolute(base, href)
            elif _leads_away(base, href):
                heading = any(up.tag in _HEADINGS for up in _up_to(node, element))
                length = len(text) + (1_000 if heading else 0)
                if len(text) >= _LONG_TITLE and length > longest:
                    longest, title, url = length, text, absolute(base, href)
    said_all = _said(element)
    text = said_all if len(said_all) <= 2 * _MOST_SAID else f"{said_all[:_MOST_SAID]} {said_all[-_MOST_SAID:]}"
    said_day = _DAY_SAID.search(text) is not None
    heads = longest > 1_000 or (bool(title) and 0 <= text.find(title) <= _SOON)
    return Fields(title, url, permalink, signed or author, published or _day_in(text), dated or said_day, heads)


def is_bylined(root: Any) -> bool:
    """Whether a day is named right below the first headline of a page, or in its ``meta`` elements, and paragraphs follow."""
    paragraphs = sum(len(_said(element)) for element in root.iter("p"))
    if paragraphs < _PARAGRAPHS:
        return False
    said = Published()
    for element in root.iter("meta"):
        if element.get("name", "").lower() not in _OF_FILES:
            said.meta(element.attrib)
    if said.day:
        return True
    headline = next(root.iter("h1"), None)
    if headline is None:
        return False
    text = _said(root)
    place = text.rfind(_said(headline)) if _said(headline) else -1
    near = text[max(0, place - _BYLINE // 2) : place + len(_said(headline)) + _BYLINE]
    return place >= 0 and _DAY_SAID.search(near) is not None


def _day_in(text: str) -> str:
    if found := _ISO.search(text):
        return day_of(found[0])
    found = _MONTH_DAY.search(text)
    if not found:
        return ""
    month, day, year = (found[1], found[2], found[3]) if found[1] else (found[5], found[4], found[6])
    return day_of(f"{year}-{_MONTHS.index(month[:3].casefold()) + 1:02d}-{int(day):02d}")


def _said(element: Any) -> str:
    return " ".join(" ".join(islice(element.itertext(), _LOOKED)).split())


def _up_to(node: Any, top: Any) -> list[Any]:
    found = []
    while node is not None and node is not top:
        found.append(node)
        node = node.getparent()
    return found


def absolute(base: str, href: str) -> str:
    """The target of a link of the page at ``base``; empty if it is no URL."""
    try:
        return urljoin(base, href)
    except ValueError:
        return ""


def _leads_away(base: str, href: str) -> bool:
    """Whether a link leads to another page, not to a place in the same one."""
    target = absolute(base, href)
    return target.startswith(("http://", "https://")) and urldefrag(target).url != urldefrag(base).url
