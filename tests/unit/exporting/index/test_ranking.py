"""The order of hits against a plain BM25: a loop over all pages, without an index."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import pytest
import Stemmer
from support.crawling import ROOT
from support.items import a_crawl, an_item

from crawlproject.exporting.index import search, update
from crawlproject.pages.html.parse import parse_document
from crawlproject.webs.open import open_web
from crawlproject.webs.sample import SampleWeb

K1, B = 1.2, 0.75
BOOSTS = {"title": 3.0, "anchor": 2.0, "text": 1.0}
REAL_WEB = ROOT.parent / "shared" / "data" / "webkb" / "webkb.warc.gz"


def stored_length(length: int) -> int:
    """Field lengths are stored in a byte: exact up to 40, then with three binary digits (Lucene's SmallFloat)."""
    if length < 40:
        return length
    rest = length - 24
    shift = max(0, rest.bit_length() - 4)
    return (rest >> shift << shift) + 24


class BruteForce:
    """BM25 of Robertson and Zaragoza (2009), section 3.5, with the idf that is never negative."""

    def __init__(self, items: Sequence[Mapping[str, Any]]) -> None:
        self._stem = Stemmer.Stemmer("english").stemWord
        self._items = items
        self._counts = {field: [Counter(self.terms(item[field])) for item in items] for field in BOOSTS}
        self._lengths = {field: [count.total() for count in counts] for field, counts in self._counts.items()}

    def terms(self, text: str) -> list[str]:
        return [self._stem(word) for word in re.findall(r"[^\W_]+", text.lower()) if len(word) < 60]

    def scores(self, query: str) -> dict[str, float]:
        found: Counter[str] = Counter()
        for term in self.terms(query):
            for field, boost in BOOSTS.items():
                counts = self._counts[field]
                lengths = self._lengths[field]
                mean = sum(lengths) / len(lengths)
                holding = sum(term in count for count in counts)
                idf = math.log(1 + (len(counts) - holding + 0.5) / (holding + 0.5))
                for item, count, total in zip(self._items, counts, lengths, strict=True):
                    if frequency := count[term]:
                        length = stored_length(total) / mean
                        found[item["url"]] += (
                            boost * idf * frequency * (K1 + 1) / (frequency + K1 * (1 - B + B * length))
                        )
        topical = {item["url"]: math.log2(2 + 6 * item["relevance"]) for item in self._items}
        return {url: score * topical[url] for url, score in found.items()}


def compare(folder: Path, items: Sequence[Mapping[str, Any]], queries: Sequence[str]) -> None:
    update(a_crawl(folder, *items))
    by_hand = BruteForce(items)
    for query in queries:
        expected = by_hand.scores(query)
        result = search(folder, query, limit=len(items))
        assert result.total == len(expected), query
        assert {hit.url: hit.score for hit in result.hits} == pytest.approx(expected, rel=1e-4), query
        assert all(one.score >= other.score for one, other in pairwise(result.hits))
        best = max(expected.values(), default=0.0)
        assert not result.hits or result.hits[0].score == pytest.approx(best, rel=1e-4)


def items_of(pages: Sequence[tuple[str, bytes]], random: Random) -> list[dict[str, Any]]:
    items = []
    for number, (url, body) in enumerate(pages):
        document = parse_document(body, url=url)
        text = re.sub(
            r"[^\x00-\x7f]", " ", document.text
        )  # two editions of the stemmer differ on few words, not on these
        fields = {"title": document.title.encode("ascii", "ignore").decode(), "anchor": document.title[:9].lower()}
        fields["anchor"] = fields["anchor"].encode("ascii", "ignore").decode()
        items.append(an_item(number, text, **fields, relevance=round(random.random(), 3)))
    return items


def queries_of(items: Sequence[Mapping[str, Any]], random: Random, count: int) -> list[str]:
    words = sorted({word for item in items for word in re.findall(r"\b[a-z]{3,12}\b", item["text"])} - {"and", "not"})
    return [" ".join(random.choices(words, k=random.randint(1, 4))) for _ in range(count)] + ["absent", "page the"]


def test_pages_of_the_sample_web(tmp_path: Path) -> None:
    web, random = SampleWeb(), Random(5)
    urls = random.sample(sorted(web.urls()), 300)
    items = items_of([(url, web.get(url).body) for url in urls], random)
    compare(tmp_path, items, queries_of(items, random, 25))


@pytest.mark.realweb
def test_pages_of_a_real_web(tmp_path: Path) -> None:
    if not REAL_WEB.exists():
        pytest.skip("the archived webs are not here")
    web, random = open_web(REAL_WEB, cache_dir=tmp_path / "cache"), Random(6)
    urls = random.sample(sorted(web.urls()), 300)
    items = items_of([(url, web.get(url).body) for url in urls], random)
    compare(tmp_path / "crawl", items, queries_of(items, random, 30))
