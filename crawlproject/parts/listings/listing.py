"""The contents of a sitemap or feed, which is not a page but lists links, and the hubs that a feed names (WebSub, section 4)."""

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
MAX_LENGTH = 2_048  # characters of a URL: the limit of the sitemap protocol
Entry = tuple[str, ...]  # URL, date as written and, of a feed, title and text

_NO_WORD = re.compile(r"[\W\d_]+")
_ENDING = re.compile(r"\.[A-Za-z]{2,5}$")


class HubLinks(NamedTuple):
    """The hubs of a feed, and its ``topic``, the URL that it gives itself (``rel=self``), or empty. URLs are as written."""

    topic: str = ""
    hubs: tuple[str, ...] = ()

    def with_link(self, rel: str, href: str) -> HubLinks:
        """These links and another one, if its relations, separated by spaces, include ``self`` or ``hub``."""
        names = rel.lower().split()
        if not href or len(href) > MAX_LENGTH:
            return self
        topic = href if "self" in names and not self.topic else self.topic
        is_hub = "hub" in names and href not in self.hubs and len(self.hubs) < MAX_HUBS
        return HubLinks(topic, (*self.hubs, href) if is_hub else self.hubs)


NO_LINKS = HubLinks()


@dataclass(frozen=True, slots=True)
class Listing:
    """The ``page`` of the best links, the ``entries`` in the order of the links, and ``further`` listings that it names.

    ``dates`` are all entries of a sitemap, including those left out of the page; empty for a feed. ``foreign`` counts the URLs
    of other hosts, ``surplus`` those beyond the limit; both are left out. ``links`` are the hubs that the listing names.
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
    per_host: int
    named_by: dict[str, set[str]]  # host -> the listings that count for it

    def host(self, url: str, parent: str) -> str:
        """The host for which the listing at ``url``, which ``parent`` named, counts."""
        ...

    def listing(self, url: CrawlUrl, body: bytes) -> Listing:
        """The contents of the listing at ``url``. Works for any bytes."""
        ...

    def page(self, url: CrawlUrl, entries: Sequence[Entry]) -> Page:
        """A page that links to ``entries``, judged and marked as not to be kept."""
        ...


def path_words(url: str) -> str:
    """The words of a URL's path."""
    path = unquote(url[len(origin_of(url)) :].partition("?")[0])
    return _NO_WORD.sub(" ", _ENDING.sub("", path)) + "\n"


def listing_page(judge: TopicJudge, url: CrawlUrl, terms: Sequence[str], links: Sequence[Link]) -> Page:
    """A page with these terms and links, judged and marked as not to be kept."""
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
