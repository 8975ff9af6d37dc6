"""Put a crawl together from a topic and options, one builder a package."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from crawlproject.core.chosen_ordering import PriorKnowledge, choose_ordering, parameters_in_use
from crawlproject.core.crawl import Crawl
from crawlproject.core.inspectors import Inspection
from crawlproject.core.log_recovery import recover_logs
from crawlproject.core.prior_pages import PriorPages
from crawlproject.core.reading import make_canonicalizer, make_reader, topic_in_canonical_urls
from crawlproject.core.replay import replay
from crawlproject.errors import BadCrawlDir, BadInput, BadSetting
from crawlproject.frontier.base import Frontier
from crawlproject.frontier.factory import make_frontier, open_frontier
from crawlproject.frontier.shared import SharedFrontier
from crawlproject.options import Options
from crawlproject.orderings.base import BaseOrdering, Graph, PageArchive
from crawlproject.pages.robots_txt import product_token
from crawlproject.pages.text.relevance import make_analyzer, make_judge
from crawlproject.parts.revisits.outcomes import revisit_policy
from crawlproject.parts.revisits.revisits import Revisits
from crawlproject.parts.revisits.subscriptions import Subscriptions
from crawlproject.records import Topic
from crawlproject.storage.crawl_files import holder_of
from crawlproject.storage.crawl_folder import CrawlFolder
from crawlproject.storage.open_archive import open_archive

if TYPE_CHECKING:
    from crawlproject.parts.topics.crawl_topics import CrawlTopics


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
    token: Callable[[], str] | None = None,
    frontier: Frontier | None = None,
    choose: Callable[[Topic, PriorKnowledge], BaseOrdering] = choose_ordering,
) -> Crawl:
    """A crawl, new or resumed, ready to ``take`` from.

    ``clock`` gives seconds since the epoch. A rehearsal keeps the history only, its frontier in memory, and shows the
    targets to an ordering that needs them, with the ``graph`` of its web. ``archive`` is the rehearsed web, for orderings
    that need an archive and are given none by ``ORDERING_ARCHIVE``. ``cache_dir`` keeps the indexes of archives; unless
    given, the crawl folder does. ``agent`` is the User-Agent. ``token`` gives unguessable texts; without it no hub is asked for
    deliveries, whatever ``CRAWL_WEBSUB_CALLBACK`` says. ``frontier`` is one that others crawl from as well, in place of
    the one that the settings ask for. ``choose`` makes the ordering. A topic with members is a crawl of several. Raises
    ``BadInput`` (topic, settings, crawl folder) and ``StorageFailed``.
    """
    canonicalize = make_canonicalizer(options)
    topic = topic_in_canonical_urls(topic, canonicalize)
    analyzer = make_analyzer(topic.language, options)
    judge = make_judge(topic.keywords, analyzer, options)
    new_reader = partial(make_reader, options, judge.analyzer, canonicalize)
    place = _place(topic, options, folder)
    prior_pages = PriorPages(options, judge, canonicalize, new_reader, cache_dir=cache_dir or place, rehearsed=archive)
    known = PriorKnowledge(options, judge, prior_pages, graph, None if rehearsal else place)
    topics: CrawlTopics | None = None
    new_ordering: Callable[[], BaseOrdering] | None = None
    if topic.members:
        from crawlproject.parts.topics.opening import open_topics

        judge, ordering, topics = open_topics(topic, known, place, canonicalize)
    else:
        new_ordering = partial(choose, topic, known)
        ordering = new_ordering()
    crawl_folder = _open_folder(place, topic, options, keeps_pages=not rehearsal, clock=clock)
    try:
        if frontier is None:
            frontier = _open_frontier(options, crawl_folder, ordering, topic, rehearsal=rehearsal, clock=clock)
        inspection = Inspection(topic, options, judge, crawl_folder, frontier)
        revisits = _revisits(options, crawl_folder, frontier)
        if token is not None and _hears_hubs(options) and revisits is not None:
            rereads = revisits.rereads
            revisits.subscriptions = Subscriptions(crawl_folder, frontier, rereads, options, canonicalize, token)
        crawl = Crawl(
            topic,
            options,
            canonicalize=canonicalize,
            judge=judge,
            reader=new_reader(
                tag_paths=ordering.reads_tag_paths,
                forms=bool(ordering.reads_forms or options.crawl_forms),
                agent=product_token(agent),
            ),
            ordering=ordering,
            folder=crawl_folder,
            frontier=frontier,
            inspection=inspection,
            revisits=revisits,
            agent=agent,
            topics=topics,
        )
        crawl.new_ordering = new_ordering
        if topics is not None:
            topics.begin(crawl, clock())
        recover_logs(crawl)
        replay(crawl, clock())
        if topics is not None:
            topics.replayed()
        inspection.deduplication.store_rules()
        crawl.add_seeds()
        if crawl.forms is not None:
            crawl.forms.resume()
        if revisits is not None:
            revisits.begin(clock())
            if revisits.subscriptions is not None:
                revisits.subscriptions.begin()
    except BadInput:
        crawl_folder.abandon()
        raise
    return crawl


def _place(topic: Topic, options: Options, folder: Path | None) -> Path:
    """Where the crawl is kept, by this worker if there are several."""
    place = options.own_folder(folder or options.folder(topic.name))
    if options.frontier == "redis" and (holder := holder_of(place)):
        raise BadCrawlDir(str(place), f"in use by process {holder}; give each worker its own CRAWL_WORKER")
    return place


def _revisits(options: Options, folder: CrawlFolder, frontier: Frontier) -> Revisits | None:
    """What visits pages again, if that is asked for. Raises ``BadSetting``."""
    if not options.crawl_revisit:
        return None
    if isinstance(frontier, SharedFrontier) and not frontier.shares:
        wish = "with CRAWL_REVISIT, workers tell each other what their visits have shown: expected more than 0"
        raise BadSetting("setting FRONTIER_REDIS_MESSAGES", wish)
    return Revisits(revisit_policy(options), folder, frontier, options)


def _hears_hubs(options: Options) -> bool:
    """Whether hubs may deliver to a crawl. A round is over before they do. Raises ``BadSetting``."""
    if not options.crawl_websub_callback:
        return False
    wish = ""
    if not options.crawl_revisit:
        wish = "is for crawls that visit pages again: set CRAWL_REVISIT, too, or leave it empty"
    elif not options.crawl_feeds:
        wish = "is for crawls that read feeds: set CRAWL_FEEDS to more than 0, too, or leave it empty"
    elif options.frontier == "redis":
        wish = 'cannot be used with FRONTIER = "redis", where a feed has no worker of its own: leave it empty'
    if wish:
        raise BadSetting("setting CRAWL_WEBSUB_CALLBACK", wish)
    return not options.crawl_revisit_round


def _open_folder(
    place: Path, topic: Topic, options: Options, *, keeps_pages: bool, clock: Callable[[], float]
) -> CrawlFolder:
    """The crawl folder at ``place``, with its manifest begun and its WARC files open."""
    folder = CrawlFolder(
        place, topic, options.ordering, parameters_in_use(options), bodies=keeps_pages, versions=options.page_versions
    )
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


def _open_frontier(
    options: Options,
    folder: CrawlFolder,
    ordering: BaseOrdering,
    topic: Topic,
    *,
    rehearsal: bool,
    clock: Callable[[], float],
) -> Frontier:
    if rehearsal:
        return make_frontier(options, ordering.commit, margin=0.0)
    return open_frontier(options, folder.path / "frontier", clock=clock, commit=ordering.commit, name=topic.name)
