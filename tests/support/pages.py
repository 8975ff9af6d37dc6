"""Hand-made pages and ordering contexts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from random import Random

from crawlproject.orderings.base import Graph, OrderingContext, PageArchive
from crawlproject.pages.text.analyzer import Analyzer
from crawlproject.pages.text.relevance import TopicJudge
from crawlproject.records import Link, Page, Span, Topic

ANALYZER = Analyzer("en")


def a_link(url: str = "http://a.example/next", *, anchor: str = "", context_score: float = 0.0) -> Link:
    """A link whose terms occur on no page."""
    return Link(url, anchor, Span(0, 0), Span(0, 0), context_score)


def a_page(
    url: str = "http://a.example/",
    *,
    links: Sequence[Link] = (),
    relevance: float = 0.0,
    inherited: tuple[float, ...] = (),
    depth: int = 0,
) -> Page:
    """A page with the given properties."""
    return Page(url, links=tuple(links), relevance=relevance, inherited=inherited, depth=depth)


def random_terms(seed: object, count: int = 200) -> list[str]:
    """Random terms from a vocabulary of 5,000; the same for the same seed."""
    return Random(str(seed)).choices([f"w{number}x" for number in range(5000)], k=count)


def a_page_of(*links: tuple[str, str], text: str = "", relevance: float = 0.0) -> Page:
    """A page whose links are ``(url, anchor text)``; the terms of the anchors occur in its text."""
    terms: list[str] = []
    made = []
    for url, anchor in links:
        start = len(terms)
        terms += ANALYZER.terms(anchor)
        made.append(Link(url, anchor, Span(start, len(terms)), Span(start, len(terms))))
    terms += ANALYZER.terms(text)
    return Page("http://a.example/", terms=terms, counts=Counter(terms), links=tuple(made), relevance=relevance)


def a_context(
    *keywords: str,
    seeds: Sequence[str] = ("http://seed.example/",),
    targets: Sequence[str] = (),
    graph: Graph | None = None,
    seed: int = 1,
    archive: PageArchive | None = None,
    positive: Sequence[Page] = (),
    negative: Sequence[Page] = (),
) -> OrderingContext:
    """An ordering context for a topic of these keywords."""
    topic = Topic("test", keywords or ("coral reef",), tuple(seeds))
    judge = TopicJudge(topic.keywords, ANALYZER)
    return OrderingContext(topic, judge, Random(seed), graph, tuple(targets), archive, tuple(positive), tuple(negative))


def a_text_page(url: str, text: str, *links: str, relevance: float = 0.0) -> Page:
    """A page with this text, and links whose words do not occur in it."""
    terms = ANALYZER.terms(text)
    return Page(url, terms=terms, counts=Counter(terms), links=tuple(map(a_link, links)), relevance=relevance)


class DictArchive:
    """An archive of the given pages; ``redirects`` map URLs to pages."""

    def __init__(self, *pages: Page, redirects: Mapping[str, str] | None = None) -> None:
        self.pages = {page.url: page for page in pages}
        self.redirects = dict(redirects or {})

    def urls(self) -> list[str]:
        return sorted([*self.pages, *self.redirects])

    def page(self, url: str) -> Page | None:
        return self.pages.get(self.redirects.get(url, url))

    def links(self, url: str) -> list[str] | None:
        page = self.pages.get(url)
        return None if page is None else [link.url for link in page.links]


def a_linked_page(url: str, text: str = "", *links: tuple[str, str, str], depth: int = 0) -> Page:
    """A page with this text whose links are ``(url, anchor, tag path)``; a link's context is its anchor."""
    terms: list[str] = ANALYZER.terms(text)
    made = []
    for target, anchor, path in links:
        span = Span(len(terms), len(terms) + len(ANALYZER.terms(anchor)))
        terms += ANALYZER.terms(anchor)
        made.append(Link(target, anchor, span, span, 0.0, path))
    return Page(url, terms=terms, counts=Counter(terms), links=tuple(made), depth=depth)
