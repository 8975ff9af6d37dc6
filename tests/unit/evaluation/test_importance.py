"""The importance of pages, on pools worked out by hand."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from math import log, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.pages import a_link

from crawlproject.errors import BadInput
from crawlproject.evaluation.importance import IMPORTANCE, PagePool, rank_share
from crawlproject.records import Page


def a_page(name: str, text: str = "", *links: str) -> Page:
    """A page of terms, with links to other pages by name."""
    terms = text.split()
    return Page(url_of(name), terms=terms, counts=Counter(terms), links=tuple(a_link(url_of(link)) for link in links))


def url_of(name: str) -> str:
    return f"http://h.example/{name}"


def a_pool(*pages: Page, query: str = "reef coral", description: str = "", **examples: list[str]) -> PagePool:
    counts = {name: [Counter(text.split()) for text in texts] for name, texts in examples.items()}
    return PagePool(pages, Counter(query.split()), Counter((description or query).split()), **counts)


THREE = (a_page("a", "reef reef fish"), a_page("b", "coral reef"), a_page("c", "train"))


def test_keywords_in_document() -> None:
    assert IMPORTANCE["keywords"](a_pool(*THREE)).tolist() == [0.5, 1, 0]


def test_similarity_to_the_query_is_the_cosine_of_term_frequencies() -> None:
    # (reef, coral) against (2 reef, 1 fish): 2 / (sqrt 2 * sqrt 5); the second page is the query itself.
    assert IMPORTANCE["query_similarity"](a_pool(*THREE)) == pytest.approx([2 / sqrt(10), 1, 0])


def test_the_inner_product_of_paper_002_weighs_a_word_by_how_often_it_occurs() -> None:
    # reef occurs 3 times in the pool, coral once: (2/3 * 1/3), (1/3 * 1/3 + 1 * 1), nothing.
    assert IMPORTANCE["query_product"](a_pool(*THREE)) == pytest.approx([2 / 9, 1 + 1 / 9, 0])


def test_similarity_to_the_description_is_that_of_paper_003() -> None:
    """Equations 2 and 3: tf halved and scaled by the largest one, ln of the pages over those with the term."""
    rare, common = log(3 / 1), log(3 / 2)
    a = {"reef": (0.5 + 0.5) * common, "fish": (0.5 + 0.5 / 2) * rare}
    description = {"reef": common, "coral": rare}
    expected = a["reef"] * description["reef"] / sqrt(a["reef"] ** 2 + a["fish"] ** 2)
    expected /= sqrt(common**2 + rare**2)
    assert IMPORTANCE["description_similarity"](a_pool(*THREE)) == pytest.approx([expected, 1, 0])


def test_the_retrieval_system_ranks_the_pool() -> None:
    pool = a_pool(*THREE, a_page("d", "steam train"), query="x", description="reef coral")
    assert IMPORTANCE["retrieval_rank"](pool) == pytest.approx([2 / 3, 1, 1 / 6, 1 / 6])


def test_smart_ranks_by_the_dot_product() -> None:
    """001 section 4.1. Weights of reef: 1 * ln(3/2) on both pages, whose lengths differ; so they share ranks 1 and 2.

    The cosine puts the shorter one first.
    """
    pool = a_pool(a_page("a", "reef"), a_page("b", "reef reef fish coral"), a_page("c", "train"), query="reef")
    assert IMPORTANCE["smart_rank"](pool) == pytest.approx([0.75, 0.75, 0])
    assert IMPORTANCE["retrieval_rank"](pool) == pytest.approx([1, 0.5, 0])


def test_similarity_to_the_seeds_put_together() -> None:
    # The seeds together are (2 reef, 1 coral): page b scores 3 / (sqrt 5 * sqrt 2).
    pool = a_pool(*THREE, seeds=["reef", "reef coral"])
    assert IMPORTANCE["seed_similarity"](pool) == pytest.approx([4 / 5, 3 / sqrt(10), 0])


def test_the_classifier_learns_from_seeds_and_examples() -> None:
    pool = a_pool(*THREE, seeds=["reef coral"], positive=["coral reef fish"], negative=["train steam", "bread"])
    scores = IMPORTANCE["classifier"](pool)
    assert scores[1] > scores[0] > 0.5 > scores[2]


def test_without_negative_examples_the_classifier_takes_pages_of_the_pool() -> None:
    many = [a_page(f"train{number}", f"train steam engine{number}") for number in range(40)]
    scores = IMPORTANCE["classifier"](a_pool(*THREE, *many, seeds=["reef coral"]))
    assert min(scores[:2]) > max(scores[2:])


@pytest.mark.parametrize("name", ["seed_similarity", "classifier"])
def test_measures_that_need_examples_say_so(name: str) -> None:
    with pytest.raises(BadInput, match=name):
        IMPORTANCE[name](a_pool(*THREE))


# ------------------------------------------------------------ links and location

LINKED = (
    a_page("a", "", "b", "b", "c", "elsewhere", "a"),
    a_page("b", "", "c"),
    a_page("c", "", "a"),
    a_page("d/e", "", "c"),
)


def test_backlinks_are_distinct_pages_of_the_pool() -> None:
    assert IMPORTANCE["backlinks"](a_pool(*LINKED)).tolist() == [1, 1, 3, 0]


def test_pagerank_is_that_of_paper_002() -> None:
    """IR(P) = (1 - d) + d * sum of IR(T) / c(T), d = 0.9, as its equations are solved by hand for these four pages."""
    # e = 0.1; a = 0.1 + 0.9 c; b = 0.1 + 0.45 a; c = 0.1 + 0.45 a + 0.9 b + 0.9 e.
    # So c = 0.1 + 0.45 a + 0.09 + 0.405 a + 0.09 = 0.28 + 0.855 a, and a = 0.1 + 0.252 + 0.7695 a = 0.352 / 0.2305.
    a = 0.352 / 0.2305
    expected = [a, 0.1 + 0.45 * a, 0.28 + 0.855 * a, 0.1]
    assert IMPORTANCE["pagerank"](a_pool(*LINKED)) == pytest.approx(expected, rel=1e-3)


def test_pagerank_by_links_between_domains() -> None:
    """Only x -> z counts: z = 0.1 + 0.9 * 0.1, the others 0.1; the mean is 1."""
    pages = [
        Page("http://www.x.example/", links=(a_link("http://sub.x.example/"), a_link("http://z.example/"))),
        Page("http://sub.x.example/", links=(a_link("http://www.x.example/"),)),
        Page("http://z.example/"),
    ]
    expected = np.array([0.1, 0.1, 0.19])
    assert IMPORTANCE["external_pagerank"](a_pool(*pages)) == pytest.approx(expected / expected.mean())


def test_pagerank_with_jumps_to_the_seeds() -> None:
    """Jumps lead only to e, which has no in-links: e = 0.1, c = 0.9 (e + b) + 0.45 a, a = 0.9 c, b = 0.45 a."""
    # c = 0.09 + 0.9 * 0.45 * 0.9 c + 0.45 * 0.9 c = 0.09 + 0.7695 c.
    c = 0.09 / 0.2305
    expected = np.array([0.9 * c, 0.405 * c, c, 0.1])
    trusted = replace(a_pool(*LINKED), trusted=[url_of("d/e")])
    assert IMPORTANCE["trusted_pagerank"](trusted) == pytest.approx(expected / expected.mean(), rel=1e-3)
    with pytest.raises(BadInput, match="a seed page"):
        IMPORTANCE["trusted_pagerank"](a_pool(*LINKED))


def test_hot_pages_of_paper_002() -> None:
    """Graph 6: hot pages are on the topic. Graph 7: they also have five backlinks."""
    fans = [a_page(f"fan{number}", "", "hot", "cold", *(["rare"] if number else [])) for number in range(5)]
    pool = replace(
        a_pool(a_page("hot"), a_page("cold"), a_page("rare"), *fans), hot=lambda page: page.url[-3:] != "old"
    )
    assert IMPORTANCE["hot"](pool).tolist()[:3] == [1, 0, 1]
    assert IMPORTANCE["hot_backlinks"](pool).tolist()[:3] == [1, 0, 0]


def test_the_page_that_good_hubs_name_is_the_authority() -> None:
    scores = IMPORTANCE["authority"](a_pool(*LINKED))
    assert int(np.argmax(scores)) == 2 and scores.sum() == pytest.approx(1)


def test_few_slashes_are_better() -> None:
    pages = [a_page(""), a_page("a/"), a_page("a/b.html")]
    assert IMPORTANCE["location"](a_pool(*pages)).tolist() == pytest.approx([1, 1 / 2, 1 / 3])


def test_keywords_come_before_pagerank() -> None:
    """rank_KW,PR of paper 001: the popular page with one keyword ranks behind the lonely one with two."""
    pages = (
        a_page("popular", "reef"),
        a_page("both", "reef coral"),
        a_page("fan", "reef", "popular"),
        a_page("none", "train"),
    )
    assert IMPORTANCE["keywords_pagerank"](a_pool(*pages)) == pytest.approx([2 / 3, 1, 1 / 3, 0])
    # Among the pages of all topics the fan is more popular.
    elsewhere = {url_of("popular"): 1.0, url_of("both"): 0.5, url_of("fan"): 3.0, url_of("none"): 0.5}
    pool = replace(a_pool(*pages), ranks=lambda: elsewhere)
    assert IMPORTANCE["keywords_pagerank"](pool) == pytest.approx([1 / 3, 1, 2 / 3, 0])


@settings(max_examples=25)
@given(st.lists(st.sampled_from(["reef", "coral reef", "train", ""]), min_size=1, max_size=8))
def test_every_measure_gives_a_finite_number_for_each_page(texts: list[str]) -> None:
    pages = [a_page(str(number), text, str(number + 1), "0") for number, text in enumerate(texts)]
    pool = replace(a_pool(*pages, seeds=["reef"], negative=["train"]), trusted=[url_of("0")])
    for name, measure in IMPORTANCE.items():
        scores = measure(pool)
        assert scores.shape == (len(pages),) and np.isfinite(scores).all(), name


@given(st.lists(st.floats(-5, 5), min_size=2, max_size=9))
def test_rank_shares_run_from_one_to_nought_with_the_mean_in_the_middle(values: list[float]) -> None:
    shares = rank_share(np.array(values))
    assert shares.mean() == pytest.approx(0.5) and shares.min() >= 0 and shares.max() <= 1
