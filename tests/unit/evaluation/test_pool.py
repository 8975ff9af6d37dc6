"""Measures against the pool of all crawlers' pages, each worked out by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlproject.evaluation import measures

SCORES = {"a": 0.9, "b": 0.1, "c": 0.5, "d": 0.5, "e": 0.0}
pools = st.dictionaries(st.text(max_size=3), st.floats(0, 1), min_size=1, max_size=12)


def test_ranks_begin_at_one_and_equals_share_theirs():
    assert measures.ranks(SCORES) == {"a": 1, "c": 2.5, "d": 2.5, "b": 4, "e": 5}
    assert measures.ranks({}) == {}


def test_the_static_scheme_counts_top_pages():
    """Table 2 of paper 001: |S_crawler ∩ top(S)|, here as a share of the three top pages."""
    top = measures.top_pages(SCORES, 3)
    assert top == {"a", "c", "d"}
    assert measures.top_coverage(["b", "c", "e", "a"], top) == pytest.approx([0, 1 / 3, 1 / 3, 2 / 3])


def test_among_equals_the_first_by_name_is_at_the_top():
    assert measures.top_pages({"y": 1.0, "x": 1.0, "z": 1.0}, 2) == {"x", "y"}


def test_the_dynamic_scheme_averages_ranks():
    """Table 2 of paper 001: the sum of rank(p) over S_crawler(t), by |S_crawler(t)|."""
    rank = {"a": 1, "b": 4, "c": 2, "d": 3}
    assert measures.mean_rank(["b", "a", "c"], rank) == pytest.approx([4, 2.5, 7 / 3])
    # Reversed on 4 pages: (4 - mean) / 3.
    assert measures.rank_quality(["b", "a", "c"], rank) == pytest.approx([0, 0.5, 5 / 9])


def test_a_pool_of_one_page_has_the_best_rank():
    assert measures.rank_quality(["a"], measures.ranks({"a": 0.3})) == pytest.approx([1])


def test_weighted_coverage():
    weights = {"a": 4.0, "b": 3.0, "c": 2.0, "d": 1.0}
    assert measures.weighted_coverage(["c", "a"], weights) == pytest.approx([0.2, 0.6])


def test_a_pool_without_weight_is_never_covered():
    assert measures.weighted_coverage(["a"], {"a": 0.0}).tolist() == [0]


def test_robustness_is_the_overlap_of_two_crawls():
    # After 1: none shared of 1; after 2: {a, b} and {c, a} share a; after 3: {a, b, c} and {c, a, d} share a and c.
    assert measures.robustness(["a", "b", "c"], ["c", "a", "d", "e"]) == pytest.approx([0, 1 / 2, 2 / 3])


def test_two_crawls_of_the_same_pages_agree_wholly_at_the_end():
    assert measures.robustness(["a", "b", "a"], ["a", "b"]).tolist() == [1, 1]
    assert measures.robustness(["a"], []).tolist() == []


@given(pools, st.randoms(use_true_random=False))
def test_no_order_beats_the_best_first_and_all_end_alike(scores, random):
    order = list(scores)
    random.shuffle(order)
    covered = measures.weighted_coverage(order, scores)
    best = measures.weighted_coverage(sorted(scores, key=lambda url: -scores[url]), scores)
    assert (covered <= best + 1e-9).all()
    assert covered[-1] == pytest.approx(best[-1])
    assert np.all(np.diff(covered) >= 0)


@given(pools)
def test_the_mean_rank_of_a_whole_pool_is_the_middle(scores):
    assert measures.mean_rank(list(scores), measures.ranks(scores))[-1] == pytest.approx((len(scores) + 1) / 2)
