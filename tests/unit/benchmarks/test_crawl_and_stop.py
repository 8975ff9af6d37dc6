"""The models of paper 002 section 3 on a web of five pages, and against their definitions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.crawl_and_stop import (
    LimitedBuffer,
    crawl_and_stop,
    crawl_and_stop_with_threshold,
    limited_buffer,
)

IMPORTANCE = [5.0, 1.0, 4.0, 2.0, 3.0]  # ideal: pages 0, 2, 4, 3, 1


def test_crawl_and_stop() -> None:
    """After one page R_1 has importance 5, after two R_2 has 4, and so on: M is 0, 1, 2, 3, 5."""
    assert crawl_and_stop([1, 0, 2, 3, 4], IMPORTANCE).tolist() == [0, 1 / 2, 2 / 3, 3 / 4, 1]


def test_the_ideal_crawler_has_it_all_the_time() -> None:
    assert crawl_and_stop([0, 2, 4, 3, 1], IMPORTANCE).tolist() == [1] * 5


def test_pages_as_important_as_the_last_hot_one_are_hot() -> None:
    assert crawl_and_stop([2, 1], [7.0, 7.0, 7.0, 1.0]).tolist() == [1, 1]


def test_with_a_threshold() -> None:
    """Importance of 3 or more: pages 0, 2 and 4."""
    assert crawl_and_stop_with_threshold([1, 0, 2, 3], IMPORTANCE, 3).tolist() == [0, 1 / 3, 2 / 3, 2 / 3]
    assert crawl_and_stop_with_threshold([1, 0], IMPORTANCE, 9).tolist() == [0, 0]


def test_a_buffer_flushes_the_lowest_estimate() -> None:
    buffer = LimitedBuffer(2, IMPORTANCE.__getitem__)
    assert [buffer.visit(page) for page in (1, 0, 3, 2, 1)] == [None, None, 1, 3, 1]
    assert buffer.pages() == [0, 2]
    assert limited_buffer(buffer.pages(), IMPORTANCE) == 1


def test_a_buffer_knows_that_estimates_have_risen() -> None:
    """Page 0 had 1 when it came and has 3 when page 2 comes: page 1 goes."""
    estimates = [1.0, 2.0, 2.5]
    buffer = LimitedBuffer(2, lambda page: estimates[page])
    buffer.visit(0)
    buffer.visit(1)
    estimates[0] = 3.0
    assert buffer.visit(2) == 1
    assert buffer.pages() == [0, 2]


def test_the_share_of_a_buffer_that_is_hot() -> None:
    assert limited_buffer([0, 1], IMPORTANCE) == 0.5
    assert limited_buffer([], IMPORTANCE) == 0


importance = st.lists(st.integers(0, 4).map(float), min_size=1, max_size=12)
webs = importance.flatmap(lambda values: st.tuples(st.just(values), st.permutations(range(len(values)))))


@given(webs)
def test_crawl_and_stop_by_its_definition(web: tuple[list[float], list[int]]) -> None:
    values, order = web
    ranked = sorted(values, reverse=True)
    by_hand = [
        sum(values[page] >= ranked[stop - 1] for page in order[:stop]) / stop for stop in range(1, len(order) + 1)
    ]
    assert crawl_and_stop(order, values) == pytest.approx(by_hand)
    assert crawl_and_stop(order[:3], values) == pytest.approx(by_hand[:3])


@given(webs, st.integers(1, 6))
def test_a_buffer_with_perfect_estimates_keeps_the_best(web: tuple[list[float], list[int]], size: int) -> None:
    values, order = web
    buffer = LimitedBuffer(size, values.__getitem__)
    flushed = [page for page in map(buffer.visit, order) if page is not None]
    assert sorted([*flushed, *buffer.pages()]) == sorted(order)
    assert np.allclose(sorted(values[page] for page in buffer.pages()), sorted(values)[-size:])
    assert limited_buffer(buffer.pages(), values) == 1
