"""Put a crawl together from a topic and options. The one place that knows which class fills which part."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

from crawlproject.crawl import Crawl
from crawlproject.frontier.base import Frontier
from crawlproject.frontier.journal import JournaledFrontier
from crawlproject.frontier.memory import MemoryFrontier
from crawlproject.frontier.politeness import Politeness
from crawlproject.options import Options
from crawlproject.orderings.base import BaseOrdering, Graph, OrderingContext
from crawlproject.orderings.registry import make_ordering, ordering_class, parameters_of
from crawlproject.reading import Reader
from crawlproject.records import Topic
from crawlproject.relearn import relearn
from crawlproject.repository.folder import CrawlFolder
from crawlproject.text.analysis import Analyzer
from crawlproject.text.judge import TopicJudge
from crawlproject.urls.canonical import Canonicalizer
from crawlproject.urls.traps import NOT_A_PAGE, TrapFilter


def make_canonicalizer(options: Options) -> Canonicalizer:
    """The canonical spelling as the ``CRAWL_URL_*`` settings want it."""
    return Canonicalizer(
        default_pages=options.crawl_url_default_pages,
        strip_parameters=options.crawl_url_strip_parameters,
        query_rules=options.crawl_url_query_rules,
    )


# Seconds added to every rest of a live crawl: a server on the same machine was seen to note the end of a response half a
# millisecond after the client had its last byte.
MARGIN = 0.005


def make_frontier(options: Options, commit: int = 1, margin: float = MARGIN) -> MemoryFrontier:
    """An empty frontier as the ``FRONTIER_*`` and ``POLITENESS_*`` settings want it."""
    return MemoryFrontier(
        batch_size=options.frontier_batch_size,
        commit=options.frontier_commit if options.frontier_commit > 1 else commit,
        max_urls=options.frontier_max_urls,
        politeness=Politeness(options.politeness_min_delay, options.politeness_factor, margin=margin),
        random=Random(options.crawl_seed),
    )


def make_traps(options: Options) -> TrapFilter:
    """The trap rules as the ``TRAP_*`` settings want them."""
    return TrapFilter(
        max_url_length=options.trap_max_url_length,
        max_segment_repeats=options.trap_max_segment_repeats,
        max_segments=options.trap_max_segments,
        max_depth=options.trap_max_depth,
        max_urls_per_host=options.trap_max_urls_per_host,
        extensions={*NOT_A_PAGE, *options.trap_extensions},
    )


def make_reader(options: Options, analyzer: Analyzer, canonicalize: Callable[..., str]) -> Reader:
    """The reader as the ``PAGE_*`` settings want it."""
    return Reader(
        analyzer,
        canonicalize=canonicalize,
        aggregation_level=options.ordering_aggregation_level,
        obey_nofollow=options.page_obey_nofollow,
        obey_meta_robots=options.page_obey_meta_robots,
        max_links=options.page_max_links,
    )


def respell(topic: Topic, canonicalize: Callable[..., str]) -> Topic:
    """The topic with seeds and targets in the spelling of this crawl, each once."""
    seeds = tuple(dict.fromkeys(canonicalize(seed) for seed in topic.seeds))
    targets = tuple(dict.fromkeys(canonicalize(target) for target in topic.targets))
    return dataclasses.replace(topic, seeds=seeds, targets=targets)


def assemble(
    topic: Topic,
    options: Options,
    *,
    clock: Callable[[], float],
    folder: Path | None = None,
    graph: Graph | None = None,
    rehearsal: bool = False,
) -> Crawl:
    """A crawl, new or resumed, ready to ``take`` from.

    ``clock`` gives seconds since the epoch. A rehearsal keeps the history only, its frontier in memory, and shows the
    targets to an ordering that needs them, with the ``graph`` of its web. Raises ``BadInput`` (topic, settings, crawl
    folder) and ``StorageFailed``.
    """
    canonicalize = make_canonicalizer(options)
    topic = respell(topic, canonicalize)
    analyzer = Analyzer(topic.language)
    judge = TopicJudge(topic.keywords, analyzer)
    ordering = _make_ordering(topic, options, judge, graph)
    crawl_folder = CrawlFolder(
        folder or options.folder(topic.name),
        topic,
        options.ordering,
        _effective_parameters(ordering, options),
        bodies=not rehearsal,
    )
    crawl_folder.manifest.begin(options.model_dump(), options.virtual_web, clock())
    memory = make_frontier(options, ordering.commit, margin=0.0 if rehearsal else MARGIN)
    frontier: Frontier = memory
    if not rehearsal:
        frontier = JournaledFrontier(memory, crawl_folder.path / "frontier", clock=clock)
    crawl = Crawl(
        topic=topic,
        options=options,
        ordering=ordering,
        judge=judge,
        reader=make_reader(options, analyzer, canonicalize),
        canonicalize=canonicalize,
        traps=make_traps(options),
        frontier=frontier,
        folder=crawl_folder,
    )
    crawl.recount()
    if ordering.learns and crawl.pages:
        relearn(crawl)
    crawl.plant()
    return crawl


def _make_ordering(topic: Topic, options: Options, judge: TopicJudge, graph: Graph | None) -> BaseOrdering:
    needs_targets = ordering_class(options.ordering).needs_targets
    context = OrderingContext(
        topic=dataclasses.replace(topic, targets=()),
        judge=judge,
        random=Random(options.crawl_seed),
        graph=graph if needs_targets else None,
        targets=topic.targets if needs_targets else (),
    )
    return make_ordering(options.ordering, context, options.ordering_parameters)


def _effective_parameters(ordering: BaseOrdering, options: Options) -> dict[str, Any]:
    """The parameters this ordering runs with: given ones, as numbers, over defaults."""
    given, own = options.ordering_parameters, parameters_of(type(ordering))
    return {name: type(default)(given.get(name, default)) for name, default in own.items()}
