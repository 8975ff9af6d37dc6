"""Put a crawl together from a topic and options. The one place that knows which class fills which part."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

from crawlproject.crawl.admission import Admission
from crawlproject.crawl.crawl import Crawl
from crawlproject.crawl.prior_pages import PriorPages
from crawlproject.crawl.replay import replay
from crawlproject.crawl.stopping import Stopping
from crawlproject.errors import BadCrawlDir
from crawlproject.frontier.base import CountingFrontier, Frontier, SharedFrontier
from crawlproject.frontier.factory import make_frontier, open_frontier
from crawlproject.inspection.duplicates.deduplication import make_deduplication
from crawlproject.inspection.examiner import Examiner
from crawlproject.inspection.probes.probes import Probes
from crawlproject.inspection.probes.site_trust import SiteTrust
from crawlproject.inspection.probes.soft_404 import Soft404Detector
from crawlproject.inspection.sites.host_health import HostHealth
from crawlproject.inspection.sites.site_budgets import SiteBudgets
from crawlproject.inspection.sites.tracker import SiteTracker
from crawlproject.inspection.spam import SpamInspector
from crawlproject.options import Options
from crawlproject.orderings.base import BaseOrdering, Graph, OrderingContext, PageArchive
from crawlproject.orderings.registry import make_ordering, ordering_class, parameters_of
from crawlproject.pages.page_types import PageTypeInspector
from crawlproject.pages.reader import Reader
from crawlproject.pages.robots_txt import product_token
from crawlproject.pages.text.analyzer import Analyzer
from crawlproject.pages.text.assembly import make_analyzer, make_judge
from crawlproject.pages.text.relevance import TopicJudge
from crawlproject.records import Topic
from crawlproject.storage.crawl_folder import CrawlFolder
from crawlproject.storage.folder_lock import holder_of
from crawlproject.storage.open_archive import open_archive
from crawlproject.storage.probe_log import NAME as PROBES
from crawlproject.storage.probe_log import ProbeLog
from crawlproject.urls.canonical import Canonicalizer
from crawlproject.urls.traps import NOT_A_PAGE, TrapFilter


def make_canonicalizer(options: Options) -> Canonicalizer:
    """The canonical spelling as the ``CRAWL_URL_*`` settings want it."""
    return Canonicalizer(
        default_pages=options.crawl_url_default_pages,
        strip_parameters=options.crawl_url_strip_parameters,
        query_rules=options.crawl_url_query_rules,
    )


def make_traps(options: Options, frontier: Frontier | None = None) -> TrapFilter:
    """The trap rules as the ``TRAP_*`` settings want them; some frontiers count the URLs of hosts themselves."""
    shared = isinstance(frontier, SharedFrontier)
    return TrapFilter(
        max_url_length=options.trap_max_url_length,
        max_segment_repeats=options.trap_max_segment_repeats,
        max_segments=options.trap_max_segments,
        max_depth=options.trap_max_depth,
        max_urls_per_host=0 if shared else options.trap_max_urls_per_host,
        extensions={*NOT_A_PAGE, *options.trap_extensions},
        urls_of_host=frontier.urls_of_host if isinstance(frontier, CountingFrontier) else None,
    )


def make_reader(
    options: Options, analyzer: Analyzer, canonicalize: Callable[..., str], *, tag_paths: bool = True, agent: str = ""
) -> Reader:
    """The reader as the ``PAGE_*`` settings want it; it need not read ``tag_paths`` for an ordering that does not.

    ``agent`` is the product token by which a page may address this crawler.
    """
    return Reader(
        analyzer,
        canonicalize=canonicalize,
        aggregation_level=options.ordering_aggregation_level,
        obey_nofollow=options.page_obey_nofollow,
        obey_meta_robots=options.page_obey_meta_robots,
        max_links=options.page_max_links,
        tag_paths=tag_paths,
        agent=agent,
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
    archive: PageArchive | None = None,
    cache_dir: Path | None = None,
    agent: str = "",
) -> Crawl:
    """A crawl, new or resumed, ready to ``take`` from.

    ``clock`` gives seconds since the epoch. A rehearsal keeps the history only, its frontier in memory, and shows the
    targets to an ordering that needs them, with the ``graph`` of its web. ``archive`` is the rehearsed web, for orderings
    that need an archive and are given none by ``ORDERING_ARCHIVE``. ``cache_dir`` keeps the indexes of archives; unless
    given, the crawl folder does. ``agent`` is the User-Agent. Raises ``BadInput`` (topic, settings, crawl folder) and
    ``StorageFailed``.
    """
    canonicalize = make_canonicalizer(options)
    topic = respell(topic, canonicalize)
    analyzer = make_analyzer(topic.language, options)
    judge = make_judge(topic.keywords, analyzer, options)
    place = options.own_folder(folder or options.folder(topic.name))
    if options.frontier == "redis" and (holder := holder_of(place)):
        raise BadCrawlDir(str(place), f"in use by process {holder}; give each worker its own CRAWL_WORKER")
    library = PriorPages(
        options,
        judge,
        canonicalize,
        partial(make_reader, options, analyzer, canonicalize),
        cache_dir=cache_dir or place,
        rehearsed=archive,
    )
    ordering = _make_ordering(topic, options, judge, graph, library, None if rehearsal else place)
    crawl_folder = _open_folder(place, topic, options, ordering, keeps_pages=not rehearsal, clock=clock)
    frontier: Frontier = (
        make_frontier(options, ordering.commit, margin=0.0)
        if rehearsal
        else open_frontier(
            options, crawl_folder.path / "frontier", clock=clock, commit=ordering.commit, name=topic.name
        )
    )
    conduct = _make_conduct(topic, options, frontier)
    deduplication = make_deduplication(options, crawl_folder, frontier.__contains__)
    probes = _make_probes(options, conduct, crawl_folder, frontier)
    crawl_folder.beside += [deduplication, probes]
    probing = (probes,) if _probes_are_wanted(options, crawl_folder) else ()
    crawl = Crawl(
        topic=topic,
        options=options,
        ordering=ordering,
        judge=judge,
        reader=make_reader(
            options, analyzer, canonicalize, tag_paths=ordering.reads_tag_paths, agent=product_token(agent)
        ),
        canonicalize=canonicalize,
        frontier=frontier,
        admission=Admission(
            domains=options.crawl_allowed_domains,
            canonicalize=canonicalize,
            traps=make_traps(options, frontier),
            frontier=frontier,
            ordering=ordering,
            refusals=crawl_folder.refusals,
            history=crawl_folder.history,
            normalizers=deduplication.normalizers,
            holds=(conduct.hosts, conduct.holds, *[found.trust for found in probing], *deduplication.holds),
            host_filters=(conduct.hosts,),
            patience=2 * options.politeness_min_delay,  # hosts that rest are no reason
        ),
        examiner=Examiner(
            (PageTypeInspector(), SpamInspector(judge.query), conduct.farms, *probing, *deduplication.inspectors)
        ),
        conduct=conduct,
        folder=crawl_folder,
        stopping=Stopping(
            floor=options.crawl_min_harvest,
            window=options.crawl_harvest_window,
            relevant=options.page_relevant,
            seconds=options.crawl_max_seconds,
        ),
        probes=probes,
        learners=(*probing, *deduplication.learners),
    )
    replay(crawl)
    deduplication.store_rules()
    crawl.add_seeds()
    return crawl


def _open_folder(
    place: Path,
    topic: Topic,
    options: Options,
    ordering: BaseOrdering,
    *,
    keeps_pages: bool,
    clock: Callable[[], float],
) -> CrawlFolder:
    """The crawl folder at ``place``, with its manifest begun and its WARC files open."""
    folder = CrawlFolder(place, topic, options.ordering, _effective_parameters(ordering, options), bodies=keeps_pages)
    folder.manifest.begin(options.model_dump(), options.virtual_web, clock())
    if options.crawl_warc and keeps_pages:
        folder.archive = open_archive(
            folder,
            topic,
            options.model_dump(),
            worker=options.worker if options.frontier == "redis" else "",
            max_bytes=options.crawl_warc_max_bytes,
            clock=clock,
        )
    return folder


def _make_conduct(topic: Topic, options: Options, frontier: Frontier) -> SiteTracker:
    """What is remembered of hosts and sites; before anything else that a person recommends the seeds."""
    conduct = SiteTracker(
        HostHealth(first_rest=options.crawl_blocked_rest, patience=options.crawl_blocks_until_given_up),
        SiteBudgets(share=options.crawl_site_budget, alone=not isinstance(frontier, SharedFrontier)),
    )
    for seed in topic.seeds:
        conduct.sites.add_seed(seed)
    return conduct


def _make_probes(options: Options, conduct: SiteTracker, folder: CrawlFolder, frontier: Frontier) -> Probes:
    return Probes(
        share=options.crawl_cloaking_probe,
        seed=options.crawl_seed,
        missing=Soft404Detector(after=options.crawl_soft_404_probe, seed=options.crawl_seed),
        trust=SiteTrust(conduct.sites.set_distrust),
        log=ProbeLog(folder.path),
        best=frontier.best,
    )


def _probes_are_wanted(options: Options, folder: CrawlFolder) -> bool:
    """Now, or before the crawl was interrupted: what was found then still holds."""
    return bool(options.crawl_cloaking_probe or options.crawl_soft_404_probe) or (folder.path / PROBES).exists()


def _make_ordering(
    topic: Topic,
    options: Options,
    judge: TopicJudge,
    graph: Graph | None,
    library: PriorPages,
    crawl_folder: Path | None,
) -> BaseOrdering:
    cls = ordering_class(options.ordering)
    wanted = cls.reads_examples and bool(topic.positive or topic.negative)
    examples = library.examples(crawl_folder) if wanted else None
    context = OrderingContext(
        topic=dataclasses.replace(topic, targets=()),
        judge=judge,
        random=Random(options.crawl_seed),
        graph=graph if cls.needs_targets else None,
        targets=topic.targets if cls.needs_targets else (),
        archive=library.named or (library.rehearsed if cls.needs_archive else None),
        positive=examples.positive(topic) if examples else (),
        negative=examples.negative(topic) if examples else (),
    )
    return make_ordering(options.ordering, context, options.ordering_parameters)


def _effective_parameters(ordering: BaseOrdering, options: Options) -> dict[str, Any]:
    """The parameters this ordering runs with: given ones, as numbers, over defaults."""
    given, own = options.ordering_parameters, parameters_of(type(ordering))
    return {name: type(default)(given.get(name, default)) for name, default in own.items()}
