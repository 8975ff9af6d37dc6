"""Several topics in one crawl: each page is judged for all, each link is worth what it is worth to all together. The
judge, the ordering and the members are put together here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from crawlproject.core.part import Choice, Part, Setup
from crawlproject.core.prior_knowledge import PriorKnowledge
from crawlproject.core.reading import topic_in_canonical_urls
from crawlproject.core.services import Handler, Services
from crawlproject.core.stopping import TOPICS_HAVE_ENOUGH
from crawlproject.errors import BadSetting
from crawlproject.orderings.base import BaseOrdering, OrderingContext
from crawlproject.pages.text.printable import counted
from crawlproject.pages.text.relevance import TopicJudge, TopicsJudge, make_judge
from crawlproject.parts.topics.crawl_topics import CrawlTopics, TopicParts, refuse_changed
from crawlproject.parts.topics.options import TopicsOptions
from crawlproject.parts.topics.orderings.fair_share import FairShare
from crawlproject.parts.topics.orderings.make import make_topics_ordering
from crawlproject.parts.topics.topics_log import read_topics
from crawlproject.records import FetchEvent, Page, Topic


class TopicsPart(Part):
    """There where a topic has members; it makes the judge and the ordering then."""

    name = "topics"
    _services: Services

    def __init__(self, topics: CrawlTopics) -> None:
        self.topics = topics

    @classmethod
    def make(cls, setup: Setup) -> TopicsPart | None:
        return None  # ``choose`` makes it

    @classmethod
    def choose(
        cls, topic: Topic, known: PriorKnowledge, folder: Path, canonicalize: Callable[..., str]
    ) -> Choice | None:
        judge, ordering, topics = open_topics(topic, known, folder, canonicalize)
        return Choice(judge, ordering, lambda setup: cls(topics))

    def kinds(self, services: Services) -> Mapping[str, Handler]:
        self._services = services
        return {}

    def restore(self, now: float) -> None:
        self.topics.open(self._services, now)

    def replayed(self) -> None:
        self.topics.replayed()

    def learn(self, event: FetchEvent) -> None:
        if event.visit.number == 1:
            self.topics.learn(event)

    def judge_stored(self, page: Page, judged: Callable[[Page], Page]) -> Page:
        """Also for topics that joined after it was stored."""
        return replace(judged(page), relevance=page.relevance)

    def end_reason(self, now: float) -> str:
        return TOPICS_HAVE_ENOUGH if self.topics.have_enough() else ""

    def progress(self) -> Sequence[str]:
        return list(topic_lines(self.topics.found_by_name(), self._services.folder.path / "topics"))

    def ended(self, *, over: bool) -> None:
        self.topics.close(over=over)


def topic_lines(found: Mapping[str, int], folder: Path) -> Iterator[str]:
    """The result of each topic of several: its relevant pages, and where its report is."""
    for name, pages in found.items():
        yield f"{name}: {counted(pages, 'relevant page')}. Report: {folder / name / 'report.html'}"


def open_topics(
    topic: Topic, known: PriorKnowledge, place: Path, canonicalize: Callable[..., str]
) -> tuple[TopicsJudge, BaseOrdering, CrawlTopics]:
    """``topic`` in canonical URLs has members; ``known`` judges by the keywords of all. ``place`` is the crawl folder.

    Topics join in the order in which they first joined this crawl, new ones last. Raises ``BadInput``.
    """
    options, whole = known.options, known.judge
    if options.frontier == "redis":
        wish = "wants FRONTIER memory or disk: the workers of a Redis frontier do not share what topics learn"
        raise BadSetting("-a topics", wish)

    def context(member: Topic, judge: TopicJudge) -> OrderingContext:
        return known.judged_by(judge).context(member)

    parts = TopicParts(
        canonical=partial(topic_in_canonical_urls, canonicalize=canonicalize),
        judge=lambda keywords: make_judge(keywords, whole.analyzer, options),
        context=context,
    )
    members = {member.name: member for member in topic.members}
    joined = read_topics(place)
    refuse_changed(joined, topic, str(place))
    judges = {name: parts.judge(member.keywords) for name, member in members.items()}
    judge = TopicsJudge(whole, judges)
    share = FairShare(options.of(TopicsOptions).crawl_fairness)
    ordering = make_topics_ordering(options.ordering, context(topic, judge), share, options.ordering_parameters)
    places = {name: state.place for name, state in joined.items()}
    for name in members:
        places.setdefault(name, len(places))
    for name in sorted(members, key=places.__getitem__):
        ordering.join(context(members[name], judges[name]), members[name].weight, places[name])
    return judge, ordering, CrawlTopics(topic, judge, ordering, parts, options.page_relevant)
