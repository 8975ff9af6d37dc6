"""Analyzer and judge as the ``TOPIC_*`` settings want them."""

from __future__ import annotations

from collections.abc import Sequence

from crawlproject.options import Options
from crawlproject.pages.text.analyzer import Analyzer
from crawlproject.pages.text.relevance import TopicJudge
from crawlproject.pages.text.topics_judge import TopicsJudge
from crawlproject.records import Topic


def make_analyzer(language: str, options: Options) -> Analyzer:
    """Raises ``BadInput`` for an unknown language, and ``BadSetting`` when lemmas are not installed for it."""
    return Analyzer(language, options.topic_terms)


def make_judge(keywords: Sequence[str], analyzer: Analyzer, options: Options) -> TopicJudge:
    """Raises ``BadInput`` for keywords without a term, and ``BadSetting`` when vectors are wanted and not installed."""
    if options.topic_relevance == "terms":
        return TopicJudge(keywords, analyzer)
    from crawlproject.pages.text.semantic_relevance import SemanticJudge  # these import scipy and spaCy
    from crawlproject.pages.text.term_vectors import load_term_vectors

    return SemanticJudge(keywords, analyzer, load_term_vectors(options.topic_vectors, analyzer))


def make_topics_judge(topic: Topic, analyzer: Analyzer, options: Options) -> TopicJudge:
    """The judge of a topic, or of several at a time if it has members. Raises as ``make_judge``."""
    whole = make_judge(topic.keywords, analyzer, options)
    if not topic.members:
        return whole
    return TopicsJudge(whole, {each.name: make_judge(each.keywords, analyzer, options) for each in topic.members})
