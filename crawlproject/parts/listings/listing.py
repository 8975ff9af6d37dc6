"""What a sitemap or a feed came to: neither is a page, both list links."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import unquote

from crawlproject.pages.text.relevance import TopicJudge
from crawlproject.parts.listings.hub_links import NO_LINKS, HubLinks
from crawlproject.records import CrawlUrl, Link, Page
from crawlproject.urls.hosts import origin_of

Entry = tuple[str, ...]  # URL, date as written and, of a feed, title and text

_NO_WORD = re.compile(r"[\W\d_]+")
_ENDING = re.compile(r"\.[A-Za-z]{2,5}$")


@dataclass(frozen=True, slots=True)
class Listing:
    """The ``page`` of its best links, the ``entries`` in the order of the links, and ``further`` listings that it names.

    ``dates`` are all entries of a sitemap, if the page has not all. ``foreign`` and ``surplus`` count the URLs left out.
    ``links`` are the hubs that it names.
    """

    page: Page
    entries: tuple[Entry, ...] = ()
    further: tuple[CrawlUrl, ...] = ()
    dates: Sequence[Entry] = ()
    foreign: int = 0
    surplus: int = 0
    links: HubLinks = NO_LINKS


class ListingReader(Protocol):
    """Reads the listings of one kind of URL."""

    kind: str

    def listing(self, url: CrawlUrl, body: bytes) -> Listing:
        """What the listing at ``url`` came to. Any bytes give an answer."""
        ...

    def page(self, url: CrawlUrl, entries: Sequence[Entry]) -> Page:
        """The page that links to ``entries``, judged; nobody is to keep it."""
        ...


def path_words(url: str) -> str:
    """The words of a URL's path."""
    path = unquote(url[len(origin_of(url)) :].partition("?")[0])
    return _NO_WORD.sub(" ", _ENDING.sub("", path)) + "\n"


def listing_page(judge: TopicJudge, url: CrawlUrl, terms: Sequence[str], links: Sequence[Link]) -> Page:
    """The page that has these terms and links, judged; nobody is to keep it."""
    return judge.judge(
        Page(
            url=url.url,
            terms=terms,
            counts=Counter(terms),
            links=tuple(links),
            depth=url.depth,
            parent=url.parent,
            score=url.score,
            indexable=False,
        )
    )
