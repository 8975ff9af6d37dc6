"""Finds seeds for a query: in earlier crawls, in files of the user, and through a search service if one is set."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote_plus, urlsplit

import orjson

from crawlproject.core.address_policy import AddressPolicy, make_safety
from crawlproject.core.earlier_pages import find_earlier_pages
from crawlproject.errors import BadInput, BadSetting
from crawlproject.options import Options
from crawlproject.pages.text.printable import counted
from crawlproject.pages.text.relevance import TopicJudge, make_analyzer
from crawlproject.topic.found_seeds import SEEDS, FoundSeed, choose_seeds, read_seed_file
from crawlproject.urls.addresses import is_own_name
from crawlproject.urls.canonical import canonical_or_none, make_canonicalizer

FEW_NOTE = "earlier crawls have few pages about this; some of these seeds share only a word with it"
SECONDS = 15.0  # time-out of the search service
MOST_BYTES = 4_194_304  # maximum size of its answer
NO_SEEDS = "none were found in earlier crawls, SEED_FILES and SEED_SEARCH_URL: name a page to start from"


@dataclass(frozen=True, slots=True)
class SeedsFound:
    """The seeds that were found; ``notes`` are remarks for the user, such as which sources could not be read, and why."""

    seeds: tuple[FoundSeed, ...]
    notes: tuple[str, ...]


class SeedSearch:
    """Looks for seeds in earlier crawls and in the sources that the options name. ``agent`` is the User-Agent.

    A crawl may fetch seeds from the operator's private network, but these seeds come from outside: addresses that are not public
    are left out, unless ``CRAWL_ALLOWED_ADDRESSES`` names them, or the web is virtual. Raises ``BadSetting``.
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
        """The names of the sources, for the user."""
        files = [counted(len(self._options.seed_files), "seed file")] if self._options.seed_files else []
        service = [_service(self._options.seed_search_url)] if self._options.seed_search_url else []
        return ", ".join(("earlier crawls", *files, *service))

    def find(
        self, keywords: Sequence[str], crawls: Iterable[Path], language: str = "en", most: int = SEEDS
    ) -> SeedsFound:
        """Find up to ``most`` seeds, in the crawl folders ``crawls`` and all other sources. Raises ``BadInput``.

        It reads the items of these crawls, about 10,000 pages per second.
        """
        judge = TopicJudge(keywords, make_analyzer(language, self._options))
        notes: list[str] = []
        sources = [read_seed_file(Path(name), judge) for name in self._options.seed_files]
        sources.append(self._from_crawls(crawls, judge, notes))
        if self._options.seed_search_url:
            sources.append(self._from_service(" ".join(keywords), notes))
        public = list(map(self._public, sources))
        if left_out := sum(map(len, sources)) - sum(map(len, public)):
            notes.append(f"{counted(left_out, 'page')} left out: in your own network, or on hosts that do not exist")
        return SeedsFound(tuple(choose_seeds(public, most)), tuple(notes))

    def _public(self, seeds: Iterable[FoundSeed]) -> list[FoundSeed]:
        return [seed for seed in seeds if self._options.virtual_web or is_public_seed(self._safety, seed.url)]

    def _from_crawls(self, crawls: Iterable[Path], judge: TopicJudge, notes: list[str]) -> list[FoundSeed]:
        found = find_earlier_pages(crawls, judge, self._options.page_relevant)
        notes += found.damage
        if found.are_few:
            notes.append(FEW_NOTE)
        return [*found.about_it, *(found.about_part if found.are_few else ())]

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
        """The results of the search service. Raises ``BadInput``."""
        import aiohttp  # slow to import

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


def _service(url: str) -> str:
    return urlsplit(url).hostname or "search"


def is_public_seed(safety: AddressPolicy, url: str) -> bool:
    """Whether a URL that no person named may become a seed: the addresses of seeds are not restricted."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
    except ValueError:
        return False
    return safety.refusal(url) is None and (not is_own_name(host) or safety.is_named(host, port))
