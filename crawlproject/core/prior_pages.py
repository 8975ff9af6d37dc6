"""Pages that an ordering may learn from before the first fetch: archives, and the examples of a topic."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from crawlproject.errors import BadWeb
from crawlproject.options import Options
from crawlproject.orderings.base import PageArchive
from crawlproject.pages.reader import Reader
from crawlproject.pages.text.relevance import TopicJudge
from crawlproject.topic.examples import ExampleReader, Lookup
from crawlproject.webs.base import Web
from crawlproject.webs.open import CrawledWeb, is_crawl_folder, open_web
from crawlproject.webs.page_cache import ArchivedPages, JudgedPages, PageCache

ARCHIVE_CACHE = 500  # pages of an archive that stay in memory; an ordering looks at most of them once


class PriorPages:
    """Pages that are there before the crawl: what ``ORDERING_ARCHIVE`` names, and the rehearsed web if there is one.

    ``new_reader`` makes readers whose counters are not the crawl's. ``cache_dir`` keeps the indexes of archives. Raises
    ``BadWeb`` when the archive cannot be opened.
    """

    def __init__(
        self,
        options: Options,
        judge: TopicJudge,
        canonicalize: Callable[..., str],
        new_reader: Callable[[], Reader],
        *,
        cache_dir: Path,
        rehearsed: PageArchive | None,
    ) -> None:
        self._options = options
        self._judge = judge
        self._canonicalize = canonicalize
        self._new_reader = new_reader
        self._cache_dir = cache_dir
        self.rehearsed = rehearsed
        self.named = self._named(options.ordering_archive) if options.ordering_archive else None

    def judged_by(self, judge: TopicJudge) -> PriorPages:
        """The same pages, with the relevance that another topic gives them."""
        return PriorPages(
            self._options,
            judge,
            self._canonicalize,
            self._new_reader,
            cache_dir=self._cache_dir,
            rehearsed=self.rehearsed,
        )

    def examples(self, crawl_folder: Path | None) -> ExampleReader:
        """The reader of a topic's examples; ``crawl_folder`` is None in a rehearsal."""
        return ExampleReader(self._new_reader(), self._judge, self._canonicalize, self._lookups(crawl_folder))

    def _lookups(self, crawl_folder: Path | None) -> Iterator[Lookup]:
        yield from (archive.page for archive in (self.named, self.rehearsed) if archive)
        if crawl_folder and self._options.virtual_web:
            yield self._opened(self._options.virtual_web).page
        if crawl_folder and is_crawl_folder(crawl_folder):
            with suppress(BadWeb):  # a crawl that was stopped before its first page
                yield self._archive(CrawledWeb(crawl_folder)).page

    def _named(self, web: str) -> PageArchive:
        try:
            return self._opened(web)
        except BadWeb as wrong:
            raise BadWeb(f"setting ORDERING_ARCHIVE: {wrong.place}", wrong.wish) from None

    def _opened(self, web: str) -> PageArchive:
        return self._archive(open_web(web, cache_dir=self._cache_dir))

    def _archive(self, web: Web) -> PageArchive:
        cache = PageCache(web, self._new_reader(), self._options, size=ARCHIVE_CACHE)
        return ArchivedPages(cache, JudgedPages(cache, self._judge, ARCHIVE_CACHE), self._canonicalize)
