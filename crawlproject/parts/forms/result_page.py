"""What a result page lists: its items, and where the list goes on."""

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

LONGEST = 150  # terms of a page that belong to one item at most

_NEXT = re.compile(
    r"\W*(?:next|more|older|following|weiter|nächste|mehr|suivante?s?|plus|siguientes?|más|próxima|seguinte|successiv[oa]|volgende"
    r"|næste|nästa|далее|следующая|次|下一|다음)\b.{0,20}|[^\w›»→>]*+[›»→>]\W*+",
    re.IGNORECASE | re.DOTALL,
)


class ListedItem(NamedTuple):
    """An item of a list: its URL, its terms there, each once and in order, and how near these are to the topic."""

    url: str
    terms: tuple[str, ...]
    relevance: float


@dataclass(frozen=True, slots=True)
class ResultPage:
    """The items of a result page in order, and the URL of the next one, or empty."""

    items: tuple[ListedItem, ...] = ()
    following: str = ""


def read_results(page: Page, furniture: Collection[str], judge: TopicJudge, *, number: int = 1) -> ResultPage:
    """The items of ``page``, result page ``number`` of a query.

    An item is what the page links to, apart from ``furniture`` and from other views of the same list. It has the terms from its
    first link to the first link of the next item.
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
    """Whether ``url`` is another view of the result page ``of``: an address that begins like it and asks for the same fields.

    What a form sent by POST, the links on the answer say in their query.
    """
    path, mark, asked = url.partition("?")
    before, _, filled = as_get(of).partition("?")
    if not mark or not path.startswith(before):
        return False
    return {name for name, _ in parse_qsl(asked, keep_blank_values=True)} >= {name for name, _ in parse_qsl(filled)}


def _adds_to(asked: set[tuple[str, str]], url: str) -> bool:
    """Whether a URL asks for the same and for a place in the list: one parameter was added, or has another number."""
    theirs = set(parse_qsl(urlsplit(url).query))
    gone, come = asked - theirs, theirs - asked
    return len(come) == 1 and len(gone) <= 1 and all(value.isdecimal() for _, value in come | gone)
