"""The importance of crawled pages, computed from a virtual web after the crawls."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from crawlproject.configuration import read_options
from crawlproject.errors import BadInput
from crawlproject.evaluation.importance import Counts, Importance, PagePool, ranks_of
from crawlproject.evaluation.measures import Scores
from crawlproject.evaluation.runs import RunFolder, load_run
from crawlproject.evaluation.simulation.runner import read_pages, reading_key
from crawlproject.options import Options
from crawlproject.pages.text.analyzer import Analyzer
from crawlproject.records import Page
from crawlproject.storage.read import CrawlInfo
from crawlproject.webs.open import open_web
from crawlproject.webs.page_cache import PageCache, PageCacheFolder

if TYPE_CHECKING:
    from crawlproject.pages.text.keyword_match import HotPages


class WebScorer:
    """Scores the pool of a topic with ``importance``. The pages come from the first of ``webs`` that contains all of them.

    Pages are parsed with the settings of the crawl and the User-Agent ``agent``. ``runs`` are the crawls of all topics, over
    whose pages an importance may compute PageRank (001 section 4.2); without runs, PageRank is computed over the pool.
    Raises ``BadWeb`` for a web that cannot be opened.
    """

    def __init__(
        self,
        webs: Sequence[str],
        importance: Importance,
        *,
        cache_dir: Path,
        agent: str = "",
        runs: Sequence[RunFolder] = (),
    ) -> None:
        self._agent = agent
        self._runs = runs
        self._ranks: dict[str, float] | None = None
        self._importance = importance
        self._webs = {name: (open_web(name, cache_dir=cache_dir), PageCacheFolder(cache_dir, name)) for name in webs}
        self._caches: dict[tuple[str, str], PageCache] = {}

    def __call__(self, info: CrawlInfo, urls: Sequence[str]) -> Scores:
        """Map each URL to its importance. Raises ``BadInput`` if no web contains all pages."""
        cache, pages = self._pages(info, urls)
        analyzer = cache.reader.analyzer
        query = Counter(analyzer.terms(" ".join(info.keywords)))
        pool = PagePool(
            pages=pages,
            query=query,
            description=Counter(analyzer.terms(info.description)) or query,
            seeds=list(_counts(cache, info.seeds)),
            positive=list(_counts(cache, info.positive)),
            negative=list(_counts(cache, info.negative)),
            trusted={page.url for seed in info.seeds if (page := cache.get(seed)[1])} | set(info.seeds),
            hot=_Hot(info.keywords, analyzer),
            ranks=self._ranks_of_all if self._runs else None,
        )
        return dict(zip(urls, self._importance(pool).tolist(), strict=True))

    def close(self) -> None:
        for cache in self._caches.values():
            cache.close()
        for web, _ in self._webs.values():
            web.close()

    def _ranks_of_all(self) -> Mapping[str, float]:
        """The PageRank of each page among the pages that the crawls of all topics fetched."""
        if self._ranks is None:
            links: dict[str, list[str]] = {}
            for run in self._runs:
                urls = load_run(run).urls
                for url, page in zip(urls, self._pages(run.info, urls)[1], strict=True):
                    links.setdefault(url, [link.url for link in page.links])
            self._ranks = ranks_of(links)
        return self._ranks

    def _pages(self, info: CrawlInfo, urls: Sequence[str]) -> tuple[PageCache, list[Page]]:
        """The pages of a pool, and the cache they come from."""
        missing = ""
        options = read_options(info.settings)
        for name in self._webs:
            cache = self._cache(name, info.language or "en", options)
            pages: list[Page] = []
            for url in urls:
                _, page = cache.get(url)
                if page is None:
                    missing = f"{name} does not hold {url}"
                    break
                pages.append(page)
            else:
                return cache, pages
        raise BadInput("--web", f"expected the web of the crawls: {missing} of the topic {info.topic}")

    def _cache(self, name: str, language: str, options: Options) -> PageCache:
        key = name, reading_key(language, options, self._agent)
        if key not in self._caches:
            web, shelf = self._webs[name]
            self._caches[key] = read_pages(web, language, options, shelf, agent=self._agent)
        return self._caches[key]


class _Hot:
    """Whether a page is hot for keywords; spaCy is imported only on the first call."""

    def __init__(self, keywords: Sequence[str], analyzer: Analyzer) -> None:
        self._keywords = keywords
        self._analyzer = analyzer

    def __call__(self, page: Page) -> bool:
        return self._matches(page)

    @cached_property
    def _matches(self) -> HotPages:
        from crawlproject.pages.text.keyword_match import HotPages, KeywordMatcher

        return HotPages(KeywordMatcher(self._keywords, self._analyzer), self._analyzer)


def _counts(cache: PageCache, examples: Sequence[str]) -> Iterator[Counts]:
    """The term frequencies of examples, which are files or URLs of the web."""
    for example in examples:
        if "://" not in example:
            if Path(example).is_file():
                yield cache.reader.read("file:", Path(example).read_bytes()).counts
        elif (page := cache.get(example)[1]) is not None:
            yield page.counts
