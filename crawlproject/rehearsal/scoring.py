"""The importance of crawled pages, judged by what the web holds: for comparisons after the crawls."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from crawlproject.errors import BadInput
from crawlproject.evaluation.crawlfolder import CrawlInfo
from crawlproject.evaluation.importance import Counts, Importance, PagePool
from crawlproject.evaluation.pool import Scores
from crawlproject.options import Options, read_options
from crawlproject.records import Page
from crawlproject.rehearsal.cache import PageCache
from crawlproject.rehearsal.shelf import Shelf
from crawlproject.rehearsal.stage import read_pages, reading_key
from crawlproject.virtualweb.web import open_web


class WebScorer:
    """Scores the pool of a topic with ``importance``, reading the pages from the web called ``web``.

    Pages are read as the crawl read them, with its settings. Raises ``BadWeb`` for a web that cannot be opened.
    """

    def __init__(self, web: str, importance: Importance, *, cache_dir: Path) -> None:
        self._name = web
        self._importance = importance
        self._web = open_web(web, cache_dir=cache_dir)
        self._shelf = Shelf(cache_dir, web)
        self._caches: dict[str, PageCache] = {}

    def __call__(self, info: CrawlInfo, urls: Sequence[str]) -> Scores:
        """Each URL with its importance. Raises ``BadInput`` when the web does not hold the pages."""
        options = read_options(info.settings)
        cache = self._cache(info.language or "en", options)
        pages = [self._page(cache, url, info.topic) for url in urls]
        analyzer = cache.reader.analyzer
        query = Counter(analyzer.terms(" ".join(info.keywords)))
        pool = PagePool(
            pages=pages,
            query=query,
            description=Counter(analyzer.terms(info.description)) or query,
            seeds=list(_counts(cache, info.seeds)),
            positive=list(_counts(cache, info.positive)),
            negative=list(_counts(cache, info.negative)),
        )
        return dict(zip(urls, self._importance(pool).tolist(), strict=True))

    def close(self) -> None:
        """Write what was read, and let the web go."""
        for cache in self._caches.values():
            cache.close()
        self._web.close()

    def _cache(self, language: str, options: Options) -> PageCache:
        key = reading_key(language, options)
        if key not in self._caches:
            self._caches[key] = read_pages(self._web, language, options, self._shelf)
        return self._caches[key]

    def _page(self, cache: PageCache, url: str, topic: str) -> Page:
        _, page = cache.get(url)
        if page is None:
            raise BadInput(f"--web {self._name}", f"expected the web of the crawls: it does not hold {url} of {topic}")
        return page


def _counts(cache: PageCache, examples: Sequence[str]) -> Iterator[Counts]:
    """The term frequencies of examples: URLs that the web holds, and files."""
    for example in examples:
        if "://" not in example:
            if Path(example).is_file():
                yield cache.reader.read("file:", Path(example).read_bytes()).counts
        elif (page := cache.get(example)[1]) is not None:
            yield page.counts
