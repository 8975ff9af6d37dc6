"""A set of URLs that keeps their hashes."""

from __future__ import annotations

import tracemalloc

from hypothesis import given
from hypothesis import strategies as st

from crawlproject.orderings.adaptive.link_table import UrlSet


@given(st.sets(st.text(max_size=6)), st.sets(st.text(max_size=6)))
def test_it_is_a_set(inside: set[str], asked: set[str]) -> None:
    urls = UrlSet(inside)
    for url in inside:
        urls.add(url)
    assert len(urls) == len(inside)
    assert {url for url in asked | inside if url in urls} == inside


def test_a_hundred_thousand_urls_of_which_none_is_confused_take_32_bytes_each_at_most() -> None:
    tracemalloc.start()
    urls = UrlSet(f"http://a.example/{number}" for number in range(100_000))
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(urls) == 100_000
    assert all(f"http://a.example/{number}" in urls for number in range(100_000))
    assert not any(f"http://b.example/{number}" in urls for number in range(1000))
    assert size < 33 * 100_000
