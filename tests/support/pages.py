"""Pages and ordering contexts made by hand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from random import Random

from crawlproject.orderings.base import Graph, OrderingContext
from crawlproject.records import Link, Page, Span, Topic
from crawlproject.text.analysis import Analyzer
from crawlproject.text.judge import TopicJudge

ANALYZER = Analyzer("en")


def a_link(url: str = "http://a.example/next", *, anchor: str = "", context_score: float = 0.0) -> Link:
    """A link whose terms are not on any page."""
    return Link(url, anchor, Span(0, 0), Span(0, 0), context_score)


def a_page(
    url: str = "http://a.example/",
    *,
    links: Sequence[Link] = (),
    relevance: float = 0.0,
    inherited: tuple[float, ...] = (),
    depth: int = 0,
) -> Page:
    """A page that is what the arguments say."""
    return Page(url, links=tuple(links), relevance=relevance, inherited=inherited, depth=depth)


def a_page_of(*links: tuple[str, str], text: str = "", relevance: float = 0.0) -> Page:
    """A page whose links are ``(url, anchor text)`` and whose anchors' terms stand on the page."""
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
) -> OrderingContext:
    """An ordering context for a topic of these keywords."""
    topic = Topic("test", keywords or ("coral reef",), tuple(seeds))
    return OrderingContext(topic, TopicJudge(topic.keywords, ANALYZER), Random(seed), graph, tuple(targets))
