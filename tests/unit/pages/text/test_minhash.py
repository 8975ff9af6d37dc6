"""Sketches compared with the sets that they represent."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlproject.pages.text.minhash import minima_of, same_names, similarity, sketch, sketch_names, term_hashes
from crawlproject.pages.text.plain_hashes import MAX_BYTES
from crawlproject.records import Link, Page, Span

WORDS = [f"w{number}" for number in range(3000)]


def page(terms: list[str], *links: Span) -> Page:
    return Page("http://a.example/", terms=terms, links=tuple(Link(f"http://a.example/{s}", "", s, s) for s in links))


def shingles(terms: list[str]) -> set[tuple[str, ...]]:
    return {tuple(terms[start : start + 3]) for start in range(len(terms) - 2)}


@pytest.mark.parametrize("length", [60, 200, 1000])
@pytest.mark.parametrize("changed", [0.01, 0.05, 0.2])
def test_the_estimate_is_near_the_jaccard_coefficient_and_right_on_average(length, changed):
    random = Random(length)
    errors = []
    for _ in range(60):
        one = random.choices(WORDS, k=length)
        two = [random.choice(WORDS) if random.random() < changed else word for word in one]
        truth = len(shingles(one) & shingles(two)) / len(shingles(one) | shingles(two))
        errors.append(similarity(sketch(page(one)).minima, sketch(page(two)).minima) - truth)
    assert abs(np.mean(errors)) < 0.02
    assert max(map(abs, errors)) < 0.2


@given(st.lists(st.text(min_size=1, max_size=8).filter(lambda word: "\0" not in word), max_size=40))
def test_equal_terms_have_equal_hashes_wherever_they_are_and_different_ones_have_not(terms):
    hashes, _ = term_hashes(terms)
    spelled = [term.encode("utf-8", "replace") for term in terms]
    assert len(hashes) == len(terms)
    for one, other in zip(range(len(terms)), range(1, len(terms)), strict=False):
        assert (hashes[one] == hashes[other]) == (spelled[one] == spelled[other])


def test_numbers_are_distinguished_in_the_text_and_are_one_in_what_is_folded():
    one, two = (
        sketch(page(["on", "12", "may", "1999", "we", "met"])),
        sketch(page(["on", "3", "may", "2004", "we", "met"])),
    )
    assert one.text != two.text
    assert np.array_equal(one.folded, two.folded)


def test_the_minima_are_of_the_terms_outside_links_when_these_are_most():
    article = [f"a{number}" for number in range(100)]
    one = sketch(page([*article, "home", "news", "shop", "login"], Span(100, 104)))
    two = sketch(page(["start", "blog", *article, "imprint"], Span(0, 2), Span(102, 103)))
    assert similarity(one.minima, two.minima) == 1.0
    assert one.text != two.text


def test_a_list_of_links_is_what_its_links_say():
    words = [f"a{number}" for number in range(80)]
    one = sketch(page([*words, "end"], Span(0, 80)))
    two = sketch(page([*reversed(words), "end"], Span(0, 80)))
    assert one.shingles == 79
    assert similarity(one.minima, two.minima) < 0.1


def test_a_page_without_text_has_a_sketch():
    empty = sketch(page([]))
    assert (empty.terms, empty.shingles) == (0, 0)
    assert sketch(page(["one"])).shingles == 1


def test_a_long_page_is_cut_at_a_term():
    terms = ["abcdefg"] * MAX_BYTES
    hashes, _ = term_hashes(terms)
    assert len(hashes) == MAX_BYTES // 8
    assert len(set(hashes.tolist())) == 1


@given(st.integers(1, 300), st.integers(0, 2**32))
def test_minima_do_not_depend_on_order_or_repetition(count, seed):
    random = np.random.default_rng(seed)
    hashes = random.integers(0, 2**64, count, dtype=np.uint64)
    repeated = np.concatenate((hashes, random.permutation(hashes)))
    (one, different), (other, same) = minima_of(np.sort(hashes)), minima_of(repeated)
    assert np.array_equal(one, other) and different == same == len(set(hashes.tolist()))


def test_names_of_links_are_compared():
    names = [b"n%d" % number for number in range(40)]
    half = [*names[:20], *(b"m%d" % number for number in range(20))]
    assert same_names(sketch_names(names), sketch_names(list(reversed(names)))) == 1.0
    assert 0.1 < same_names(sketch_names(names), sketch_names(half)) < 0.6
    assert same_names(b"", b"") == 1.0
    assert same_names(sketch_names(names), b"") == 0.0
