"""How much of one copy is missing from another, and that a copy survives the frontier."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.pages import a_link
from support.pages import random_terms as text

from crawlproject.parts.probes.cloaking import NOTHING, copies_from, copy_of
from crawlproject.records import Page


def a_page(terms: list[str], links: tuple[str, ...] = ()) -> Page:
    return Page("http://a.example/page", terms=terms, links=tuple(map(a_link, links)))


@pytest.mark.parametrize("more", [0, 50, 100, 400, 1600])
def test_what_is_added_is_what_is_missing_from_the_other(more: int) -> None:
    short, long = copy_of(a_page(text(1, 400))), copy_of(a_page(text(1, 400) + text(2, more)))
    assert long.text.missing_from(short.text) == pytest.approx(more / (400 + more), abs=0.1)
    assert short.text.missing_from(long.text) == pytest.approx(0.0, abs=0.12)


def test_numbers_are_one_number() -> None:
    dates = [copy_of(a_page([*text(1, 100), year, *text(2, 100)])) for year in ("1997", "2026")]
    assert np.array_equal(dates[0].text.minima, dates[1].text.minima)


def test_links_count_by_where_they_lead() -> None:
    links = [f"http://b.example/{number}" for number in range(30)]
    plain, tagged = (copy_of(a_page([], tuple(f"{url}{tail}" for url in links))) for tail in ("", "?session=7"))
    assert plain.links.missing_from(tagged.links) == 0.0
    assert plain.links.missing_from(copy_of(a_page([], tuple(links[:15]))).links) == pytest.approx(0.5, abs=0.2)


def test_nothing_at_all() -> None:
    some = copy_of(a_page(text(1, 100), ("http://b.example/",)))
    assert some.text.missing_from(NOTHING.text) == some.links.missing_from(NOTHING.links) == 1.0
    assert NOTHING.text.missing_from(some.text) == NOTHING.text.missing_from(NOTHING.text) == 0.0


@given(st.lists(st.tuples(st.integers(0, 400), st.integers(0, 40), st.integers(0, 9)), max_size=4))
def test_copies_travel_as_numbers(shapes: list[tuple[int, int, int]]) -> None:
    copies = [
        copy_of(a_page(text(seed, words), tuple(f"http://b.example/{seed}/{n}" for n in range(links))))
        for words, links, seed in shapes
    ]
    numbers = [number for copy in copies for number in copy.numbers()]
    assert all(float(int(number)) == number < 2**53 for number in numbers)
    for sent, came in zip(copies, copies_from(numbers), strict=True):
        assert (sent.text.size, sent.links.size) == (came.text.size, came.links.size)
        assert np.array_equal(sent.text.minima, came.text.minima)
        assert np.array_equal(sent.links.minima, came.links.minima)


def test_numbers_that_are_no_copies() -> None:
    with pytest.raises(ValueError, match="88 numbers a copy"):
        copies_from((1.0, 2.0))
