"""The judge, the ordering and the members of a crawl of several topics, put together."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from crawlproject.core.chosen_ordering import PriorKnowledge
from crawlproject.core.reading import topic_in_canonical_urls
from crawlproject.errors import BadSetting
from crawlproject.orderings.base import BaseOrdering, OrderingContext
from crawlproject.pages.text.relevance import TopicJudge, TopicsJudge, make_judge
from crawlproject.parts.topics.crawl_topics import CrawlTopics, TopicParts, refuse_changed
from crawlproject.parts.topics.options import TopicsOptions
from crawlproject.parts.topics.orderings.fair_share import FairShare
from crawlproject.parts.topics.orderings.make import make_topics_ordering
from crawlproject.parts.topics.topics_log import read_topics
from crawlproject.records import Topic


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
