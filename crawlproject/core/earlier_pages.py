"""Finds pages of earlier crawls about a topic: further starting points for a crawl, besides its seeds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import log
from pathlib import Path
from typing import NamedTuple

from crawlproject.errors import BadCrawlDir
from crawlproject.pages.text.relevance import TopicJudge
from crawlproject.storage.append_log import ITEMS, read_lines
from crawlproject.topic.found_seeds import FoundSeed
from crawlproject.urls.post import is_post

LEAST_COVERAGE = 0.4  # share of a query that a page must cover
FEW = 5  # with fewer such pages, pages with a lower coverage are better than none
CANDIDATES = 500  # pages of each crawl whose terms are counted: those with the most words of the query
BEGINNING = 5_000  # characters of a page's text that are examined

_SUFFIX = 2  # letters in which a term may differ from the words that it stems from: "studi" from "study"
_LEAST = 3  # letters that must remain
_SPAM = 0.5  # a page with more spam is not proposed


@dataclass(frozen=True, slots=True)
class EarlierPages:
    """``about_it``: pages that cover at least ``LEAST_COVERAGE`` of the query, the best first. ``about_part``: those that cover
    less. ``damage``: what could not be read.
    """

    about_it: tuple[FoundSeed, ...]
    about_part: tuple[FoundSeed, ...]
    damage: tuple[str, ...]

    @property
    def are_few(self) -> bool:
        """Whether there are so few pages about the query that those about a part of it are better than none."""
        return len(self.about_it) < FEW and bool(self.about_part)


def find_earlier_pages(crawls: Iterable[Path], judge: TopicJudge, relevant: float) -> EarlierPages:
    """Find the pages of crawl folders whose relevance, by the query of ``judge``, is ``relevant`` or more.

    The similarity of a page is its relevance times its coverage, the share of the query that it is about. Without the coverage,
    pages with a single ambiguous word would fill the list.
    """
    candidates: dict[str, tuple[str, str, Counter[str]]] = {}
    pages, damage = 0, list[str]()
    for folder in crawls:
        try:
            known, items = _likely_items(folder, judge.query)
        except BadCrawlDir as failure:
            damage.append(f"{folder.name}: {failure}")
            continue
        pages += known
        for url, item in items.items():
            if url not in candidates:
                candidates[url] = item.title, folder.name, Counter(judge.analyzer.terms(item.text))
    on = Counter(term for _, _, counts in candidates.values() for term in judge.query if term in counts)
    weights = {term: idf(pages, on[term]) for term in judge.query}
    about_it, about_part = list[FoundSeed](), list[FoundSeed]()
    for url, (title, name, counts) in candidates.items():
        similarity, share = judge.relevance(counts), coverage(weights, counts)
        if similarity >= relevant:
            (about_it if share >= LEAST_COVERAGE else about_part).append(
                FoundSeed(url, title or url, name, similarity * share)
            )
    return EarlierPages(_best_first(about_it), _best_first(about_part), tuple(damage))


def crawls_in(folders: Iterable[Path]) -> Iterator[Path]:
    """Yield the crawl folders among ``folders``, and those directly inside one of the others, in alphabetical order."""
    for folder in folders:
        if (folder / ITEMS).is_file():
            yield folder
        elif folder.is_dir():
            yield from sorted(path.parent for path in folder.glob(f"*/{ITEMS}"))


def idf(pages: int, on: int) -> float:
    """The weight of a word that is on ``on`` of ``pages`` pages: BM25's inverse document frequency, above 0."""
    return log(1 + (max(pages, on) - on + 0.5) / (on + 0.5))


def coverage(weights: Mapping[str, float], there: Mapping[str, int]) -> float:
    """The share of a query that a page covers, 0 to 1. Rare words weigh more: one common word of the query covers little."""
    whole = sum(weights.values())
    return sum(weight for term, weight in weights.items() if term in there) / whole if whole else 0.0


class _Item(NamedTuple):
    words: int  # of the query, found in the text
    title: str
    text: str


def _likely_items(folder: Path, query: Iterable[str]) -> tuple[int, dict[str, _Item]]:
    """The number of stored pages, and by URL the pages with the most words of the query, without duplicates and spam.

    Raises ``BadCrawlDir``.
    """
    beginnings = [term[: max(_LEAST, len(term) - _SUFFIX)] for term in query]
    path, pages, found = folder / ITEMS, 0, dict[str, _Item]()
    for line in read_lines(path):
        try:
            url, title = str(line["url"]), str(line.get("title") or "")
            text = f"{title} {str(line.get('text') or '')[:BEGINNING]}"
            is_left_out = line.get("state") or line.get("duplicate_of") or line.get("spam", 0) > _SPAM or is_post(url)
        except (AttributeError, KeyError, TypeError) as wrong:
            raise BadCrawlDir(str(path), f"expected items, not {wrong!r}") from None
        pages += 1
        lower = text.lower()
        words = 0 if is_left_out else sum(beginning in lower for beginning in beginnings)
        if words:
            found[url] = _Item(words, title, text)
        else:
            found.pop(url, None)
        if len(found) >= 2 * CANDIDATES:
            found = _first_of(found)
    return pages, _first_of(found)


def _first_of(found: dict[str, _Item]) -> dict[str, _Item]:
    return dict(sorted(found.items(), key=lambda pair: -pair[1].words)[:CANDIDATES])


def _best_first(seeds: Iterable[FoundSeed]) -> tuple[FoundSeed, ...]:
    return tuple(sorted(seeds, key=lambda seed: (-(seed.similarity or 0.0), seed.url)))
