"""The two implementations of sketches, compiled and numpy, give the same sketch."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from crawlproject.pages.text import minhash, plain_hashes
from crawlproject.parts.duplicates import seen_shingles
from crawlproject.parts.duplicates.seen_shingles import SeenShingles
from crawlproject.records import Link, Page, Span

pytest.importorskip("crawlproject.pages.text.text_hashes", reason="not compiled")

LETTERS = "abc019'éßЖ珊ก\u0301😀\ud800"


def made_up(random: Random, terms: int) -> Page:
    words = ["".join(random.choices(LETTERS, k=random.randint(0, 12))) for _ in range(max(1, terms // 2))]
    spans = [sorted(random.choices(range(terms + 1), k=2)) for _ in range(random.randrange(6))]
    links = tuple(Link("http://a.example/", "", Span(*span), Span(*span)) for span in spans)
    return Page("http://a.example/", terms=random.choices(words, k=terms), links=links)


def in_numpy(page: Page) -> minhash.Sketch:
    with pytest.MonkeyPatch.context() as patch:
        for name in ("minima_of", "shingle_hashes", "term_hashes", "without_links"):
            patch.setattr(minhash, name, getattr(plain_hashes, name))
        return minhash.sketch(page)


@pytest.mark.parametrize("terms", [0, 1, 2, 3, 4, 20, 127, 500, 12_000])
def test_any_page(terms: int) -> None:
    random = Random(terms)
    for _ in range(50 if terms < 1_000 else 3):
        page = made_up(random, terms)
        found, expected = minhash.sketch(page), in_numpy(page)
        assert np.array_equal(found.minima, expected.minima) and np.array_equal(found.folded, expected.folded)
        assert (found.text, found.shingles, found.terms) == (expected.text, expected.shingles, expected.terms)


@pytest.mark.parametrize("few", [0, 1, 3, 200])
def test_minima_of_any_hashes(few: int) -> None:
    random = np.random.default_rng(few)
    for size in (0, 1, 2, 127, 128, 3_000):
        hashes = random.integers(0, 1 << 64, size, dtype=np.uint64)
        hashes[:few] %= np.uint64(3)  # of one bin, repeated, some of them 0
        minima, different = minhash.minima_of(hashes)
        expected, count = plain_hashes.minima_of(hashes)
        assert np.array_equal(minima, expected) and different == count


def test_what_is_new_on_a_host() -> None:
    random = np.random.default_rng(1)
    compiled, interpreted = SeenShingles(), SeenShingles()
    texts = [random.integers(0, 1 << 64, size, dtype=np.uint64) for size in (0, 60, 90, 500, 3_000)]
    for number in range(200):
        text = np.concatenate([texts[place] for place in random.integers(0, len(texts), 2)])
        if number % 2:
            text[random.random(len(text)) < 0.3] += np.uint64(1 << 33)  # another mark at the same place
        host = f"h{number % 3}.example"
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(seen_shingles, "text_hashes", None)
            expected = interpreted.new_share(host, text)
        assert compiled.new_share(host, text) == expected
        assert type(expected) is float, "the history is written in JSON"


@pytest.mark.parametrize("surplus", [-2, -1, 0, 1, 2])
def test_a_page_of_about_as_many_bytes_as_are_looked_at(surplus: int) -> None:
    terms = ["x" * 31] * (plain_hashes.MAX_BYTES // 32 - 1) + ["y" * (31 + surplus), "z"]
    for page in (Page("http://a.example/", terms=terms), Page("http://a.example/", terms=terms[:-1])):
        found, expected = minhash.sketch(page), in_numpy(page)
        assert (found.text, len(found.folded)) == (expected.text, len(expected.folded))
