"""A query is enough: seeds from earlier crawls, from files of the person, and from a search service if one is set."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log
from pathlib import Path
from typing import Any
from urllib.parse import quote_plus, urlsplit

import orjson

from crawlproject.core.address_policy import AddressPolicy, make_safety
from crawlproject.errors import BadCrawlDir, BadInput, BadSetting, StorageFailed
from crawlproject.options import Options
from crawlproject.pages.text.printable import counted
from crawlproject.pages.text.relevance import TopicJudge, make_analyzer
from crawlproject.topic.found_seeds import SEEDS, FoundSeed, choose_seeds, read_seed_file
from crawlproject.urls.addresses import is_own_name
from crawlproject.urls.canonical import canonical_or_none, make_canonicalizer

LEAST_COVERAGE = 0.4  # of a query, that a page must be about
FEW = 5  # fewer such pages: others are better than none
FEW_NOTE = "earlier crawls have few pages about this; some of these seeds share only a word with it"
CANDIDATES = 50  # pages of each index that are compared with the query
SECONDS = 15.0  # for the search service to answer
MOST_BYTES = 4_194_304  # of its answer
NO_SEEDS = "none were found in earlier crawls, SEED_FILES and SEED_SEARCH_URL: name a page to start from"


@dataclass(frozen=True, slots=True)
class SeedsFound:
    """``notes`` say which sources could not be asked, and why."""

    seeds: tuple[FoundSeed, ...]
    notes: tuple[str, ...]


class SeedSearch:
    """Looks for seeds in earlier crawls and where the options say. ``agent`` is the User-Agent.

    Seeds may be in the operator's own network, and these come from strangers: those that are not public are left out, unless
    ``CRAWL_ALLOWED_ADDRESSES`` names them, or the web is virtual. Raises ``BadSetting``.
    """

    def __init__(self, options: Options, agent: str) -> None:
        url = options.seed_search_url
        if url and ("{query}" not in url or urlsplit(url).scheme not in ("http", "https")):
            wish = 'expected a URL with {query}, such as "http://localhost:8080/search?q={query}&format=json"'
            raise BadSetting("setting SEED_SEARCH_URL", wish)
        self._options = options
        self._agent = agent
        self._canonicalize = make_canonicalizer(options)
        self._safety = make_safety(options)

    @property
    def sources(self) -> str:
        """Where it looks, in words."""
        files = [counted(len(self._options.seed_files), "seed file")] if self._options.seed_files else []
        service = [_service(self._options.seed_search_url)] if self._options.seed_search_url else []
        return ", ".join(("earlier crawls", *files, *service))

    def find(
        self, keywords: Sequence[str], crawls: Iterable[Path], language: str = "en", most: int = SEEDS
    ) -> SeedsFound:
        """Up to ``most`` seeds, from the crawl folders ``crawls`` and all else. Raises ``BadInput``.

        It may take seconds: indexes of crawls are brought up to date.
        """
        judge = TopicJudge(keywords, make_analyzer(language, self._options))
        notes: list[str] = []
        sources = [read_seed_file(Path(name), judge) for name in self._options.seed_files]
        sources.append(self._from_crawls(crawls, judge, " ".join(keywords), notes))
        if self._options.seed_search_url:
            sources.append(self._from_service(" ".join(keywords), notes))
        public = list(map(self._public, sources))
        if left_out := sum(map(len, sources)) - sum(map(len, public)):
            notes.append(f"{counted(left_out, 'page')} left out: in your own network, or on hosts that do not exist")
        return SeedsFound(tuple(choose_seeds(public, most)), tuple(notes))

    def _public(self, seeds: Iterable[FoundSeed]) -> list[FoundSeed]:
        return [seed for seed in seeds if self._options.virtual_web or is_public_seed(self._safety, seed.url)]

    # ------------------------------------------------------------ earlier crawls

    def _from_crawls(self, crawls: Iterable[Path], judge: TopicJudge, words: str, notes: list[str]) -> list[FoundSeed]:
        """Pages of all crawls that are about the query, best first: scores of indexes do not compare."""
        from crawlproject.exporting.index import Match, frequencies, is_behind, matches, update

        terms = _terms(judge, words)
        pages: dict[str, tuple[Match, str]] = {}
        known, counts = 0, [0] * len(terms)
        for folder in crawls:
            try:
                if is_behind(folder):
                    update(folder)
                in_index, on = frequencies(folder, list(terms.values()))
                for page in matches(folder, words, CANDIDATES):
                    pages.setdefault(page.url, (page, folder.name))
            except (BadCrawlDir, StorageFailed) as failure:
                notes.append(f"{folder.name}: {failure}")
                continue
            known, counts = known + in_index, [one + other for one, other in zip(counts, on, strict=True)]
        weights = dict(zip(terms, (idf(known, count) for count in counts), strict=True))
        about_it, about_part = list[FoundSeed](), list[FoundSeed]()
        for page, name in pages.values():
            there = Counter(judge.analyzer.terms(f"{page.title} {page.text}"))
            similarity, share = judge.relevance(there), coverage(weights, there)
            if similarity >= self._options.page_relevant:
                seed = FoundSeed(page.url, page.title or page.url, name, similarity * share)
                (about_it if share >= LEAST_COVERAGE else about_part).append(seed)
        if len(about_it) < FEW and about_part:
            notes.append(FEW_NOTE)
            about_it += about_part
        return sorted(about_it, key=lambda seed: (-(seed.similarity or 0.0), seed.url))

    # ------------------------------------------------------------ the search service

    def _from_service(self, words: str, notes: list[str]) -> list[FoundSeed]:
        name = _service(self._options.seed_search_url)
        try:
            results = asyncio.run(self._ask(self._options.seed_search_url.replace("{query}", quote_plus(words))))
        except BadInput as failure:
            notes.append(f"{name}: {failure.wish}")
            return []
        seeds = []
        for result in results:
            url = canonical_or_none(self._canonicalize, str(result.get("url") or ""))
            if url:
                seeds.append(FoundSeed(url, " ".join(str(result.get("title") or url).split()), name))
        return seeds

    async def _ask(self, url: str) -> list[dict[str, Any]]:
        """The results that the service gives. Raises ``BadInput``."""
        import aiohttp  # takes a while to import

        place = "setting SEED_SEARCH_URL"
        headers = {"Accept": "application/json", "User-Agent": self._agent}
        try:
            async with (
                aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=SECONDS), trust_env=True) as session,
                session.get(url, headers=headers) as reply,
            ):
                body = b""
                async for piece in reply.content.iter_any():
                    body += piece
                    if len(body) > MOST_BYTES:
                        raise BadInput(place, f"expected at most {MOST_BYTES:,} bytes")
                status = reply.status
        except (aiohttp.ClientError, TimeoutError, OSError) as failure:
            raise BadInput(place, f"no answer ({type(failure).__name__})") from None
        if status != 200:
            raise BadInput(place, f"answered with status {status}; is JSON allowed there?")
        try:
            found = orjson.loads(body)
            results = found["results"]
        except (ValueError, KeyError, TypeError):
            results = None
        if not isinstance(results, list):
            raise BadInput(place, 'expected JSON such as {"results": [{"url": "...", "title": "..."}]}')
        return [result for result in results if isinstance(result, dict)]


def _terms(judge: TopicJudge, words: str) -> dict[str, str]:
    """The terms of a query, each with a word of it that becomes this term."""
    spelled: dict[str, str] = {}
    for word in words.split():
        for term in judge.analyzer.terms(word):
            spelled.setdefault(term, word)
    return {term: spelled.get(term, term) for term in judge.query}


def idf(pages: int, on: int) -> float:
    """What a word on ``on`` of ``pages`` pages says: BM25's inverse document frequency, above 0."""
    return log(1 + (max(pages, on) - on + 0.5) / (on + 0.5))


def coverage(weights: Mapping[str, float], there: Mapping[str, int]) -> float:
    """How much of a query a page is about, 0 to 1: rare words say more. A page with one common word of it is about none."""
    whole = sum(weights.values())
    return sum(weight for term, weight in weights.items() if term in there) / whole if whole else 0.0


def _service(url: str) -> str:
    return urlsplit(url).hostname or "search"


def is_public_seed(safety: AddressPolicy, url: str) -> bool:
    """Whether a URL that no person named may be a seed, which may be fetched whatever its address."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
    except ValueError:
        return False
    return safety.refusal(url) is None and (not is_own_name(host) or safety.is_named(host, port))
