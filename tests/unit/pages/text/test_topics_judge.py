"""The judge of several topics gives for each topic the same result as a judge of that topic alone."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st
from support.pages import ANALYZER

from crawlproject.pages.text.relevance import TopicJudge, TopicsJudge
from crawlproject.records import Page

KEYWORDS = {"reefs": ("coral reef", "fish"), "bread": ("sourdough bread",), "soup": ("fish soup",)}
VOCABULARY = ["coral", "reef", "fish", "sourdough", "bread", "soup", "steam", "engine", "boiler"]
words = st.lists(st.sampled_from(VOCABULARY), max_size=30)


def judges() -> dict[str, TopicJudge]:
    return {name: TopicJudge(keywords, ANALYZER) for name, keywords in KEYWORDS.items()}


def several() -> TopicsJudge:
    return TopicsJudge(TopicJudge([word for words in KEYWORDS.values() for word in words], ANALYZER), judges())


@given(words)
def test_each_topic_judges_as_alone(text: list[str]) -> None:
    for terms in (list(map(str, ANALYZER.terms(" ".join(text)))), ANALYZER.terms(" ".join(text))):
        page = several().with_relevance(Page("http://a.example/", terms=terms, counts=Counter(terms)))
        assert page.topics == {name: judge.relevance(page.counts) for name, judge in judges().items()}
        assert page.relevance == max(page.topics.values())


@given(words)
def test_links_are_judged_by_all_keywords(text: list[str]) -> None:
    terms = ANALYZER.terms(" ".join(text))
    whole = TopicJudge([word for words in KEYWORDS.values() for word in words], ANALYZER)
    spans = [(0, len(terms)), (0, len(terms) // 2)]
    assert several().context_scores(terms, spans) == whole.context_scores(terms, spans)  # type: ignore[arg-type]


def test_what_cannot_be_judged_is_presumed_for_all() -> None:
    page = several().presumed(Page("http://a.example/"), 0.2)
    assert page.topics == dict.fromkeys(KEYWORDS, 0.2) and page.relevance == 0.2


def test_topics_join_and_leave() -> None:
    judge = several()
    judge.join("engines", TopicJudge(["steam engine"], ANALYZER), TopicJudge(["steam engine", "fish"], ANALYZER))
    judge.leave("bread", TopicJudge(["steam engine"], ANALYZER))
    assert set(judge.topics(Counter(["steam"]))) == {"reefs", "soup", "engines"}
    assert set(judge.query) == set(ANALYZER.terms("steam engine"))
