import random
from collections import Counter
from math import sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlproject.errors import BadInput
from crawlproject.pages.text.analyzer import Analyzer
from crawlproject.pages.text.relevance import TopicJudge
from crawlproject.pages.text.vectors import cosine, span_squared_norms
from crawlproject.records import Link, Page, Span

ANALYZER = Analyzer()
JUDGE = TopicJudge(["web crawlers", "crawling"], ANALYZER)  # the terms web, crawler, crawl


def naive(judge: TopicJudge, terms: list[str], span: tuple[int, int]) -> float:
    return cosine(judge.query, Counter(terms[span[0] : span[1]]))


def test_relevance_is_the_cosine_with_the_keywords() -> None:
    assert JUDGE.query == {"web": 1, "crawler": 1, "crawl": 1}
    assert JUDGE.relevance({"web": 3, "spider": 4}) == pytest.approx(3 / (sqrt(3) * 5))
    assert JUDGE.relevance({"spider": 4}) == 0.0
    assert JUDGE.relevance({}) == 0.0
    assert JUDGE.similarity("The web's crawlers: crawling!") == 1.0


def test_keywords_that_are_all_stop_words_are_refused() -> None:
    with pytest.raises(BadInput, match="expected a word that is not a stop word of 'en', not \\['the', 'of it'\\]"):
        TopicJudge(["the", "of it"], ANALYZER)


def test_a_judge_that_turns_to_other_keywords_judges_like_a_new_one() -> None:
    judge, new = TopicJudge(["coral reef"], ANALYZER), TopicJudge(["web", "web", "crawler"], ANALYZER)
    judge.turn_to(["web", "web", "crawler"])
    text = "web crawlers on a coral reef"
    assert judge.similarity(text) == new.similarity(text) > 0 and judge.similarity("coral reef") == 0.0
    with pytest.raises(BadInput, match="stop word"):
        judge.turn_to(["the"])


def test_a_keyword_said_twice_weighs_twice() -> None:
    assert TopicJudge(["web web crawler"], ANALYZER).query == {"web": 2, "crawler": 1}


def test_one_string_is_one_keyword_not_its_letters() -> None:
    assert TopicJudge("web crawler", ANALYZER).query == {"web": 1, "crawler": 1}


terms_lists = st.lists(st.sampled_from(["web", "crawler", "a", "b", "c"]), max_size=40)


@given(terms_lists, st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), max_size=20))
def test_any_spans_score_exactly_as_one_by_one(terms: list[str], ends: list[tuple[int, int]]) -> None:
    spans = [Span(min(*pair, len(terms)), min(max(pair), len(terms))) for pair in ends]
    expected = [naive(JUDGE, terms, span) for span in spans]
    assert JUDGE.context_scores(terms, spans) == expected
    assert [JUDGE.span_score(terms, span) for span in spans] == expected


@given(terms_lists, st.randoms(use_true_random=False))
def test_nested_spans_score_exactly_as_one_by_one(terms: list[str], choose: random.Random) -> None:
    spans = []

    def grow(start: int, end: int) -> None:
        spans.append(Span(start, end))
        while start < end and choose.random() < 0.7:
            child_start = choose.randint(start, end)
            start = choose.randint(child_start, end)
            grow(child_start, start)

    for _ in range(3):  # so that some spans are equal
        grow(0, len(terms)) if not spans else spans.append(choose.choice(spans))
    assert JUDGE.context_scores(terms, spans) == [naive(JUDGE, terms, span) for span in spans]


def test_deep_nesting_counts_each_term_about_once() -> None:
    class Watched(list):
        handed_out = 0

        def __getitem__(self, index):
            found = super().__getitem__(index)
            self.handed_out += len(found) if isinstance(index, slice) else 1
            return found

    terms = Watched([f"t{number % 5000}" for number in range(20_000)] + ["web"] + ["x"] * 20_000)
    spans = [Span(number, 40_001 - number) for number in range(20_000)]
    norms = span_squared_norms(terms, spans)
    assert terms.handed_out == len(terms)
    assert norms[0, 40_001] == 5000 * 4**2 + 1 + 20_000**2
    assert norms[19_999, 20_002] == 3


def link(start: int, end: int, score: float = 0.0) -> Link:
    return Link(f"http://a.org/{start}-{end}", "", Span(start, start), Span(start, end), score)


def test_judge_fills_in_relevance_and_context_scores_and_nothing_else() -> None:
    terms = ["web", "a", "b", "crawler"]
    links = (link(0, 1), link(1, 3), link(0, 4))
    page = Page("http://a.org/", title="t", terms=terms, counts=Counter(terms), links=links)
    judged = JUDGE.judge(page)
    assert judged.relevance == JUDGE.relevance(page.counts) > 0
    scores = [link.context_score for link in judged.links]
    assert scores == [naive(JUDGE, terms, (0, 1)), 0.0, naive(JUDGE, terms, (0, 4))]
    assert [link.url for link in judged.links] == [link.url for link in links]
    assert (judged.url, judged.title, judged.terms) == (page.url, page.title, page.terms)


def test_judging_again_for_another_topic_leaves_nothing_of_the_first() -> None:
    page = Page("http://a.org/", terms=["web"], counts={"web": 1}, links=(link(0, 1),))
    other = TopicJudge(["gardens"], ANALYZER).judge(JUDGE.judge(page))
    assert (other.relevance, other.links[0].context_score) == (0.0, 0.0)
