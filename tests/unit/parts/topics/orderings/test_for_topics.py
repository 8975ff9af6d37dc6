"""Adaptive for several topics: a single topic is crawled as usual; with several, a page counts for its value to all."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from support.pages import ANALYZER, a_context
from support.pages import a_linked_page as a_page

from crawlproject.evaluation.simulation.runner import Runner
from crawlproject.orderings.base import OrderingContext
from crawlproject.pages.text.relevance import TopicJudge
from crawlproject.parts.topics.orderings.adaptive_for_topics import AdaptiveForTopics
from crawlproject.parts.topics.orderings.fair_share import FairShare
from crawlproject.records import CrawlUrl, Page, Topic
from crawlproject.storage.append_log import read_lines
from crawlproject.topic.folder import find_topic, together
from crawlproject.webs.sample import SampleWeb

IMPATIENT = {"POLITENESS_MIN_DELAY": 0, "POLITENESS_FACTOR": 0, "FRONTIER_BATCH_SIZE": 1}


def context_of(name: str, *keywords: str) -> OrderingContext:
    topic = Topic(name, keywords, ("http://a.example/",))
    return OrderingContext(topic, TopicJudge(keywords, ANALYZER), Random(1))


def of_topics(**keywords: str) -> AdaptiveForTopics:
    ordering = AdaptiveForTopics(a_context(*keywords.values(), seeds=["http://a.example/"]), FairShare(), {})
    for name, words in keywords.items():
        ordering.join(context_of(name, words))
    return ordering


def scores(ordering: AdaptiveForTopics, page: Page) -> dict[str, float]:
    ordering.observe(page)
    return {link.url: ordering.score(page, link) for link in page.links}


def links(*anchors: str) -> list[tuple[str, str, str]]:
    return [(f"http://b.example/{anchor.replace(' ', '-')}/1", anchor, "") for anchor in anchors]


def test_one_topic_is_crawled_as_without_others(tmp_path: Path) -> None:
    topic = find_topic("demo")
    fetched = []
    for each in (topic, together("one", (topic,))):
        runner = Runner(SampleWeb(), lambda topic: IMPATIENT, pages=120, agent="test")
        _, folder, _ = next(iter(runner.rehearse(each, ["adaptive"], tmp_path)))
        fetched.append([(line["url"], line["score"]) for line in read_lines(folder / "history.jsonl")])
    assert len(fetched[0]) >= 120
    assert fetched[0] == fetched[1]


def test_a_link_is_worth_what_it_is_to_all_topics() -> None:
    found = scores(
        of_topics(reefs="coral reef", bread="sourdough bread"),
        a_page(
            "http://a.example/",
            "",
            *links("coral reef", "sourdough bread", "coral reef sourdough bread", "steam engine"),
        ),
    )
    reef, bread, both, neither = found.values()
    assert both > reef > neither
    assert both > bread > neither


def test_parts_of_a_score_are_those_of_topics_and_add_up() -> None:
    ordering = of_topics(reefs="coral reef", bread="sourdough bread")
    page = a_page("http://a.example/", "coral reef", *links("coral reef"))
    [(url, score)] = scores(ordering, page).items()
    parts = ordering.explain(CrawlUrl(url, score, 1, page.url))
    assert sum(parts.values()) == pytest.approx(score)
    assert parts["reefs"] > parts.get("bread", 0.0)


def test_what_waits_has_a_value_for_a_topic_at_once_when_it_joins() -> None:
    ordering = of_topics(reefs="coral reef")
    page = a_page("http://a.example/", "coral reef", *links("coral reef", "sourdough bread", "steam engine"))
    before = scores(ordering, page)
    ordering.join(context_of("bread", "sourdough bread"))
    after = {**before, **dict(ordering.revise())}
    bread = "http://b.example/sourdough-bread/1"
    assert after[bread] > before[bread]
    assert after[bread] > after["http://b.example/steam-engine/1"]


def test_a_topic_learns_from_pages_before_it_joined() -> None:
    def value(*, catches_up: bool) -> float:
        ordering = of_topics(reefs="coral reef")
        page = a_page("http://a.example/", "sourdough bread " * 20, *links("next"))
        ordering.observe(page)
        ordering.join(context_of("bread", "sourdough bread"))
        if catches_up:
            ordering.learn_earlier("bread", page)
        row = ordering._table.row("http://b.example/next/1")
        assert row is not None
        return ordering._models[1].value(ordering._models[1].evidence(row))

    assert value(catches_up=True) > value(catches_up=False)


def test_a_topic_that_left_counts_no_more() -> None:
    ordering = of_topics(reefs="coral reef", bread="sourdough bread")
    page = a_page("http://a.example/", "coral reef", *links("coral reef", "sourdough bread"))
    found = scores(ordering, page)
    ordering.leave("bread")
    found.update(dict(ordering.revise()))
    assert found["http://b.example/coral-reef/1"] > found["http://b.example/sourdough-bread/1"]
    assert ordering.share.names == ["reefs"]
    ordering.observe(a_page("http://b.example/coral-reef/1", "coral reef", *links("fish")))


def test_what_one_says_is_relevant_is_so_for_the_topic_that_is_closest() -> None:
    ordering = of_topics(reefs="coral reef", bread="sourdough bread")
    page = Page("http://a.example/", signs={"judged": 1.0}, topics={"reefs": 0.3, "bread": 0.1})
    assert [model.worth(page, {}) for model in ordering._models] == [1.0, 0.0]
    page = Page("http://a.example/", signs={"judged": 0.0}, topics={"reefs": 0.3, "bread": 0.1})
    assert [model.worth(page, {}) for model in ordering._models] == [0.0, 0.0]
