"""How close a page is to each of several topics. Its text is analysed once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from crawlproject.pages.text.relevance import TopicJudge
from crawlproject.pages.text.terms import counts_of_some
from crawlproject.pages.text.vectors import squared_norm
from crawlproject.records import Page, Span


class TopicsJudge(TopicJudge):
    """The judge of a crawl of several topics, each with a judge of its own by name; ``whole`` has the keywords of all.

    The relevance of a page is that to the topic it is closest to. Links are judged by all keywords together: that is
    what the link log says of them, and orderings ask the judge of their topic. Use ``join`` and ``leave`` to change it.
    """

    def __init__(self, whole: TopicJudge, judges: Mapping[str, TopicJudge]) -> None:
        self._judges = dict(judges)
        self.now_of(whole)

    def now_of(self, whole: TopicJudge) -> None:
        """The keywords of all topics are those of ``whole`` from now on."""
        self.analyzer = whole.analyzer
        self.query = whole.query
        self.by_meaning = whole.by_meaning
        self._query_norm = squared_norm(whole.query)
        self._whole = whole

    def join(self, name: str, judge: TopicJudge, whole: TopicJudge) -> None:
        """A topic joins."""
        self._judges[name] = judge
        self.now_of(whole)

    def leave(self, name: str, whole: TopicJudge) -> None:
        """A topic leaves."""
        del self._judges[name]
        self.now_of(whole)

    def relevance(self, counts: Mapping[str, int]) -> float:
        """The highest relevance to one of the topics, 0 to 1."""
        return max(self.topics(counts).values(), default=0.0)

    def topics(self, counts: Mapping[str, int]) -> dict[str, float]:
        """The relevance to each topic by its name, 0 to 1."""
        if self.by_meaning:
            return {name: judge.relevance(counts) for name, judge in self._judges.items()}
        some, norm = counts_of_some(counts, self.query), squared_norm(counts)
        return {name: judge.relevance_of(some, norm) for name, judge in self._judges.items()}

    def with_relevance(self, page: Page) -> Page:
        """``page`` with its relevance to each topic, and the highest of them."""
        found = self.topics(page.counts)
        return replace(page, relevance=max(found.values(), default=0.0), topics=found)

    def presumed(self, page: Page, relevance: float) -> Page:
        """``page`` with this relevance to every topic."""
        return replace(page, relevance=relevance, topics=dict.fromkeys(self._judges, relevance))

    def context_scores(self, terms: Sequence[str], spans: Sequence[Span]) -> list[float]:
        """The context scores by the keywords of all topics."""
        return self._whole.context_scores(terms, spans)
