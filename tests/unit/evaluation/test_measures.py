"""Measures of a crawl, each worked out by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlproject.evaluation import measures

RELEVANCE = [0.5, 0.0, 0.4, 0.1, 0.0]


def test_harvest_rate_counts_pages_at_or_above_the_threshold():
    # 1/1, 1/2, 2/3, 3/4, 3/5
    assert measures.harvest_rate(RELEVANCE, 0.1) == pytest.approx([1, 0.5, 2 / 3, 0.75, 0.6])


def test_harvest_rate_of_the_papers_example():
    """50 relevant pages in the first 500: a harvest rate of 10% at 500 pages (paper 000 section 4.2)."""
    curve = measures.harvest_rate([1.0] * 50 + [0.0] * 450, 0.5)
    assert measures.value_at(curve, 500) == pytest.approx(0.10)


def test_precision_is_the_average_relevance_so_far():
    # 0.5/1, 0.5/2, 0.9/3, 1.0/4, 1.0/5
    assert measures.precision(RELEVANCE) == pytest.approx([0.5, 0.25, 0.3, 0.25, 0.2])


def test_a_redirected_target_counts_as_its_final_url():
    redirects = {"old": "moved", "moved": "new"}
    # Two targets, `old` and `new`, are the same page; it is the second page crawled.
    recall = measures.target_recall(["seed", "new", "t2"], {"old", "new", "t2"}, redirects)
    assert recall == pytest.approx([0, 0.5, 1])


def test_recall_without_targets_is_zero():
    assert list(measures.target_recall(["a", "b"], [])) == [0, 0]


@pytest.mark.parametrize("start", ["a", "b", "c"])
def test_final_url_of_a_redirect_loop_does_not_depend_on_the_way_in(start):
    assert measures.final_url(start, {"a": "b", "b": "c", "c": "b"}) == "b"


def test_search_length_is_the_pages_crawled_before_a_share_is_found():
    recall = np.array([0, 0.25, 0.25, 0.5])
    assert measures.search_length(recall, 0.25) == 2
    assert measures.search_length(recall, 0.5) == 4
    assert measures.search_length(recall, 0.75) is None


def test_search_length_is_not_put_off_by_rounding():
    recall = measures.target_recall(list("abc"), set("abc"))
    assert measures.search_length(recall, 0.1 + 0.2 + 1 / 3 - 0.3) == 1


def test_area_is_the_mean_of_the_curve():
    recall = np.array([0, 0.5, 0.5, 1.0])
    assert measures.area_under(recall, 4) == pytest.approx(0.5)
    assert measures.area_under(recall, 2) == pytest.approx(0.25)


def test_a_crawl_that_ended_early_keeps_its_last_value():
    recall = np.array([0, 0.5])
    assert measures.value_at(recall, 10) == 0.5
    assert measures.area_under(recall, 4) == pytest.approx((0 + 0.5 + 0.5 + 0.5) / 4)


def test_an_empty_crawl_has_found_nothing():
    for curve in (
        measures.precision([]),
        measures.windowed_relevance([]),
        measures.harvest_rate([], 0.1),
        measures.target_recall([], {"t"}),
    ):
        assert len(curve) == 0
        assert measures.value_at(curve, 100) == 0.0
        assert measures.area_under(curve, 100) == 0.0


def test_omniscient_share_places_an_ordering_between_chance_and_perfection():
    assert measures.omniscient_share(0.5, random=0.2, omniscient=0.8) == pytest.approx(0.5)
    assert measures.omniscient_share(0.2, random=0.2, omniscient=0.8) == 0
    assert measures.omniscient_share(0.1, random=0.2, omniscient=0.8) == pytest.approx(-1 / 6)
    assert measures.omniscient_share(0.5, random=0.5, omniscient=0.5) is None


def test_merged_redirects_keep_the_first_seen():
    assert measures.merge_redirects([{"a": "b"}, {"a": "c", "d": "e"}]) == {"a": "b", "d": "e"}


relevances = st.lists(st.floats(0, 1), min_size=1, max_size=60)


@given(relevances, st.integers(1, 80))
def test_windowed_relevance_agrees_with_the_definition(relevance, window):
    curve = measures.windowed_relevance(relevance, window)
    for i in range(len(relevance)):
        assert curve[i] == pytest.approx(np.mean(relevance[max(0, i + 1 - window) : i + 1]), abs=1e-9)


@given(st.lists(st.sampled_from("abcdefgh"), max_size=20), st.sets(st.sampled_from("abcdefgh"), min_size=1))
def test_recall_agrees_with_the_definition(pages, targets):
    curve = measures.target_recall(pages, targets)
    for n in range(1, len(pages) + 1):
        assert curve[n - 1] == pytest.approx(len(targets & set(pages[:n])) / len(targets))


@given(st.dictionaries(st.sampled_from("abcdef"), st.sampled_from("abcdef")), st.sampled_from("abcdef"))
def test_final_url_always_ends_and_is_final(redirects, url):
    final = measures.final_url(url, redirects)
    assert measures.final_url(final, redirects) == final
