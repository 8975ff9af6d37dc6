"""What is known before the first fetch: pages that an ordering may learn from (archives, the examples of a topic). Also makes
the ordering that ``ORDERING`` names, with this knowledge.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

from crawlproject.errors import BadWeb
from crawlproject.options import Options
from crawlproject.orderings.base import BaseOrdering, Graph, OrderingContext, PageArchive
from crawlproject.orderings.registry import make_ordering, ordering_class, parameters_of
from crawlproject.pages.reader import Reader
from crawlproject.pages.text.relevance import TopicJudge
from crawlproject.records import Topic
from crawlproject.storage.searches import read_queries
from crawlproject.topic.examples import ExampleReader, Lookup
from crawlproject.webs.base import Web
from crawlproject.webs.open import CrawledWeb, is_crawl_folder, open_web
from crawlproject.webs.page_cache import ArchivedPages, JudgedPages, PageCache

ARCHIVE_CACHE = 500  # pages of an archive that stay in memory; an ordering looks at most of them once


class PriorPages:
    """Pages that exist before the crawl: those of ``ORDERING_ARCHIVE``, and the rehearsed web if there is one.

    ``new_reader`` makes readers that do not affect the counters of the crawl. ``cache_dir`` holds the indexes of archives.
    ``readable`` wraps a web for the parts (``Part.readable``). Raises ``BadWeb`` if the archive cannot be opened.
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
        readable: Callable[[Web, Options], Web] = lambda web, options: web,
    ) -> None:
        self._options = options
        self._judge = judge
        self._canonicalize = canonicalize
        self._new_reader = new_reader
        self._cache_dir = cache_dir
        self._readable = readable
        self.rehearsed = rehearsed
        self.named = self._named(options.ordering_archive) if options.ordering_archive else None

    def judged_by(self, judge: TopicJudge) -> PriorPages:
        """The same pages, with their relevance to another topic."""
        return PriorPages(
            self._options,
            judge,
            self._canonicalize,
            self._new_reader,
            cache_dir=self._cache_dir,
            rehearsed=self.rehearsed,
            readable=self._readable,
        )

    def examples(self, crawl_folder: Path | None) -> ExampleReader:
        """The reader of a topic's examples; ``crawl_folder`` is None in a rehearsal."""
        return ExampleReader(self._new_reader(), self._judge, self._canonicalize, self._lookups(crawl_folder))

    def _lookups(self, crawl_folder: Path | None) -> Iterator[Lookup]:
        yield from (archive.page for archive in (self.named, self.rehearsed) if archive)
        if crawl_folder and self._options.virtual_web:
            yield self._opened(self._options.virtual_web).page
        if crawl_folder and is_crawl_folder(crawl_folder):
            with suppress(BadWeb):  # raised for a crawl that was stopped before its first page
                yield self._archive(CrawledWeb(crawl_folder)).page

    def _named(self, web: str) -> PageArchive:
        try:
            return self._opened(web)
        except BadWeb as wrong:
            raise BadWeb(f"setting ORDERING_ARCHIVE: {wrong.place}", wrong.wish) from None

    def _opened(self, web: str) -> PageArchive:
        return self._archive(self._readable(open_web(web, cache_dir=self._cache_dir), self._options))

    def _archive(self, web: Web) -> PageArchive:
        cache = PageCache(web, self._new_reader(), self._options, size=ARCHIVE_CACHE)
        return ArchivedPages(cache, JudgedPages(cache, self._judge, ARCHIVE_CACHE), self._canonicalize)


@dataclass(frozen=True)
class PriorKnowledge:
    """What the ordering of a crawl may know before it begins. ``crawl_folder`` is None in a rehearsal.

    ``judgments`` reads a person's judgments of pages, by URL; an ordering that is made later may get more of them.
    """

    options: Options
    judge: TopicJudge
    pages: PriorPages
    graph: Graph | None
    crawl_folder: Path | None
    judgments: Callable[[], Mapping[str, bool]]

    def judged_by(self, judge: TopicJudge) -> PriorKnowledge:
        """The same for another topic of the crawl."""
        return replace(self, judge=judge, pages=self.pages.judged_by(judge))

    def context(self, topic: Topic) -> OrderingContext:
        """The context for the ordering of ``topic``; only an ordering that needs targets sees them. Raises ``BadInput``."""
        options, cls = self.options, ordering_class(self.options.ordering)
        judgments = self.judgments() if cls.reads_examples and self.crawl_folder else {}
        wanted = cls.reads_examples and bool(topic.positive or topic.negative or judgments)
        examples = self.pages.examples(self.crawl_folder) if wanted else None
        return OrderingContext(
            topic=replace(topic, targets=()),
            judge=self.judge,
            random=Random(options.crawl_seed),
            graph=self.graph if cls.needs_targets else None,
            targets=topic.targets if cls.needs_targets else (),
            archive=self.pages.named or (self.pages.rehearsed if cls.needs_archive else None),
            positive=examples.positive(topic) if examples else (),
            negative=examples.negative(topic) if examples else (),
            said_relevant=examples.found(url for url, said in judgments.items() if said) if examples else (),
            said_irrelevant=examples.found(url for url, said in judgments.items() if not said) if examples else (),
            queries=read_queries(Path(options.topic_queries)) if options.topic_queries else {},
        )


def choose_ordering(topic: Topic, known: PriorKnowledge) -> BaseOrdering:
    """The ordering that ``ORDERING`` names. Raises ``BadInput``."""
    return make_ordering(known.options.ordering, known.context(topic), known.options.ordering_parameters)


def parameters_in_use(options: Options) -> dict[str, Any]:
    """The parameters that the ordering runs with: the given ones, converted to the types of the defaults, and the defaults."""
    given, own = options.ordering_parameters, parameters_of(ordering_class(options.ordering))
    return {name: type(default)(given.get(name, default)) for name, default in own.items()}
