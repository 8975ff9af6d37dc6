"""What a result page lists: its items, and the link to the next result page."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple
from urllib.parse import parse_qsl, urlsplit

from crawlproject.pages.text.relevance import TopicJudge
from crawlproject.records import Link, Page
from crawlproject.urls.post import as_get

LONGEST = 150  # most terms of a page that belong to one item

_NEXT = re.compile(
    r"\W*(?:next|more|older|following|weiter|nächste|mehr|suivante?s?|plus|siguientes?|más|próxima|seguinte|successiv[oa]|volgende"
    r"|næste|nästa|далее|следующая|次|下一|다음)\b.{0,20}|[^\w›»→>]*+[›»→>]\W*+",
    re.IGNORECASE | re.DOTALL,
)


class ListedItem(NamedTuple):
    """An item of a list: its URL, its different terms in the list, in order, and their relevance."""

    url: str
    terms: tuple[str, ...]
    relevance: float


@dataclass(frozen=True, slots=True)
class ResultPage:
    """The items of a result page in order, and the URL of the next result page, or empty."""

    items: tuple[ListedItem, ...] = ()
    following: str = ""


def read_results(page: Page, furniture: Collection[str], judge: TopicJudge, *, number: int = 1) -> ResultPage:
    """The items of ``page``, result page ``number`` of a query.

    The items are the targets of the page's links, except for ``furniture`` and other views of the same list. The terms of an
    item are those from its first link to the first link of the next item.
    """
    first: dict[str, Link] = {}
    for link in page.links:
        if link.url not in furniture and not is_view(link.url, page.url):
            first.setdefault(link.url, link)
    links = list(first.values())
    starts = [link.anchor_span.start for link in links]
    spans = list(pairwise([*starts, min(len(page.terms), starts[-1] + LONGEST)])) if starts else []
    items = []
    for link, (start, end) in zip(links, spans, strict=True):
        terms = list(page.terms[start : min(max(start, end), start + LONGEST)])
        items.append(ListedItem(link.url, tuple(dict.fromkeys(terms)), judge.relevance(Counter(terms))))
    return ResultPage(tuple(items), next(_following(page, number), ""))


def _following(page: Page, number: int) -> Iterator[str]:
    asked = set(parse_qsl(urlsplit(as_get(page.url)).query))
    views = [link for link in page.links if is_view(link.url, page.url)]
    for link in views:
        if _NEXT.fullmatch(link.anchor) and _adds_to(asked, link.url):
            yield link.url
    for link in views:
        if link.anchor.strip() == str(number + 1) and _adds_to(asked, link.url):
            yield link.url


def is_view(url: str, of: str) -> bool:
    """Whether ``url`` is another view of the result page ``of``: it begins with the same address and has the same fields.

    If the form was sent by POST, the links on the result page have its fields in their query.
    """
    path, mark, asked = url.partition("?")
    before, _, filled = as_get(of).partition("?")
    if not mark or not path.startswith(before):
        return False
    return {name for name, _ in parse_qsl(asked, keep_blank_values=True)} >= {name for name, _ in parse_qsl(filled)}


def _adds_to(asked: set[tuple[str, str]], url: str) -> bool:
    """Whether a URL repeats the query with a place in the list: one parameter was added, or has another number."""
    theirs = set(parse_qsl(urlsplit(url).query))
    gone, come = asked - theirs, theirs - asked
    return len(come) == 1 and len(gone) <= 1 and all(value.isdecimal() for _, value in come | gone)
