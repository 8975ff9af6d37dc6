"""What a sitemap or a feed came to: neither is a page, both list links; and the hubs that a feed names (WebSub, section 4)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol
from urllib.parse import unquote

from crawlproject.pages.text.relevance import TopicJudge
from crawlproject.records import CrawlUrl, Link, Page
from crawlproject.urls.hosts import origin_of

MAX_HUBS = 5
MAX_LENGTH = 2_048  # characters of a URL: the limit of the protocol of sitemaps
Entry = tuple[str, ...]  # URL, date as written and, of a feed, title and text

_NO_WORD = re.compile(r"[\W\d_]+")
_ENDING = re.compile(r"\.[A-Za-z]{2,5}$")


class HubLinks(NamedTuple):
    """URLs as written; ``topic`` is the feed's own (``rel=self``), empty: not said."""

    topic: str = ""
    hubs: tuple[str, ...] = ()

    def with_link(self, rel: str, href: str) -> HubLinks:
        """These, and another link, if its relations, separated by spaces, are of this kind."""
        names = rel.lower().split()
        if not href or len(href) > MAX_LENGTH:
            return self
        topic = href if "self" in names and not self.topic else self.topic
        is_hub = "hub" in names and href not in self.hubs and len(self.hubs) < MAX_HUBS
        return HubLinks(topic, (*self.hubs, href) if is_hub else self.hubs)


NO_LINKS = HubLinks()


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
