"""Turns queries that found little in a crawl into keywords and seeds of its topic, if a person agrees (paper 000 section 6:
search engine and crawler in symbiosis; Pant, Bradshaw and Menczer, ECDL 2003).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from crawlproject.adapters.seed_search import SeedSearch
from crawlproject.errors import BadInput
from crawlproject.pages.text.analyzer import Analyzer
from crawlproject.records import Topic
from crawlproject.storage.searches import SEARCHES, Searched, read_searches
from crawlproject.topic.edits import with_keywords, with_seeds
from crawlproject.topic.found_seeds import FoundSeed

FEW = 10  # hits; fewer do not fill the first page of results
SEEDS = 3  # for each query
SHOWN = 10  # queries


@dataclass(frozen=True, slots=True)
class Wanted:
    """A query that found little, and where pages about it may be."""

    searched: Searched
    seeds: tuple[FoundSeed, ...]
    notes: tuple[str, ...] = ()


def found_little(searches: Iterable[Searched], topic: Topic, analyzer: Analyzer) -> list[Searched]:
    """The queries with fewer than ``FEW`` hits that contain a word which is in no keyword, the most frequent first."""
    known = set(analyzer.terms(" ".join(topic.keywords)))
    return [each for each in searches if each.hits < FEW and not known.issuperset(analyzer.terms(each.query))]


def wanted(
    folder: Path,
    topic: Topic,
    analyzer: Analyzer,
    search: SeedSearch,
    crawls: Sequence[Path],
    chosen: Sequence[str] = (),
) -> list[Wanted]:
    """The queries that found little in ``folder``, or the ``chosen`` ones of them, each with seeds from ``crawls`` and other
    sources. Raises ``BadInput`` if there is no such query, or if a chosen query is not among them.
    """
    found = found_little(read_searches(folder), topic, analyzer)
    if not found:
        raise BadInput(
            str(folder), f"has no search in {SEARCHES} that found little and has words other than the keywords"
        )
    queries = {each.query: each for each in found}
    if unknown := [query for query in chosen if query not in queries]:
        raise BadInput(f"--add {', '.join(unknown)}", f"expected some of: {', '.join(list(queries)[:SHOWN])}")
    return [
        _with_seeds(each, topic, search, crawls) for each in ([queries[query] for query in chosen] or found[:SHOWN])
    ]


def _with_seeds(searched: Searched, topic: Topic, search: SeedSearch, crawls: Sequence[Path]) -> Wanted:
    found = search.find([searched.query], crawls, topic.language, SEEDS)
    return Wanted(searched, tuple(seed for seed in found.seeds if seed.url not in topic.seeds), found.notes)


def with_wanted(text: str, place: str, chosen: Sequence[Wanted], comment: str) -> str:
    """The topic file with the queries added as keywords, and their seeds. Raises ``BadTopic`` if its lists cannot be edited."""
    text = with_keywords(text, place, [each.searched.query for each in chosen], comment)
    seeds = list(dict.fromkeys(seed.url for each in chosen for seed in each.seeds))
    return with_seeds(text, place, seeds, comment) if seeds else text
