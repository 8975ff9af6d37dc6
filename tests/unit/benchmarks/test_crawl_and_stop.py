"""The three models of paper 002 section 3, worked out by hand for four pages."""

from __future__ import annotations

from benchmarks.crawl_and_stop import LimitedBuffer, crawl_and_stop, crawl_and_stop_with_threshold, limited_buffer

IMPORTANCE = [0.9, 0.1, 0.5, 0.7]
ORDER = [1, 0, 3]


def test_crawl_and_stop_has_found_so_many_of_the_k_best() -> None:
    """For R_1, R_2 and R_3 of 0.9, 0.7 and 0.5, none, one and two of the visited pages are as important."""
    assert list(crawl_and_stop(ORDER, IMPORTANCE)) == [0, 1 / 2, 2 / 3]


def test_with_a_threshold_the_hot_pages_are_the_same_throughout() -> None:
    assert list(crawl_and_stop_with_threshold(ORDER, IMPORTANCE, 0.6)) == [0, 1 / 2, 1]
    assert list(crawl_and_stop_with_threshold(ORDER, IMPORTANCE, 1.0)) == [0, 0, 0]


def test_a_limited_buffer_counts_what_is_kept_at_the_end() -> None:
    assert limited_buffer([0, 1], IMPORTANCE) == 1 / 2
    assert limited_buffer([], IMPORTANCE) == 0


def test_a_full_buffer_flushes_what_seems_least_important_by_now() -> None:
    estimates = dict(enumerate(IMPORTANCE))
    buffer = LimitedBuffer(2, estimates.__getitem__)
    assert [buffer.visit(page) for page in (1, 2)] == [None, None]
    estimates[1] = 0.6  # links to it have been found since
    assert buffer.visit(3) == 2
    assert buffer.visit(0) == 1
    assert buffer.pages() == [3, 0]
