"""Puts a crawl together from a topic, options and the installed parts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from crawlproject.core.crawl import Brake, Crawl
from crawlproject.core.log_recovery import recover_logs
from crawlproject.core.part import Choice, Part, Setup
from crawlproject.core.peers import ALONE, Peers
from crawlproject.core.prior_knowledge import PriorKnowledge, PriorPages, choose_ordering, parameters_in_use
from crawlproject.core.reading import make_reader, topic_in_canonical_urls
from crawlproject.core.replay import replay
from crawlproject.core.robots import product_token
from crawlproject.core.set_clock import WORTH_SAYING, set_back, warning
from crawlproject.errors import BadCrawlDir, BadInput, BadSetting
from crawlproject.frontier.base import Frontier
from crawlproject.frontier.factory import make_frontier, open_frontier
from crawlproject.options import Options
from crawlproject.orderings.base import BaseOrdering, Graph, PageArchive
from crawlproject.orderings.registry import UNJUDGED
from crawlproject.pages.text.relevance import BY_KEYWORDS, TopicJudge, make_analyzer, make_judge
from crawlproject.parts import registry
from crawlproject.parts.registry import part_classes
from crawlproject.records import Topic
from crawlproject.storage.crawl_files import holder_of
from crawlproject.storage.crawl_folder import CrawlFolder
from crawlproject.storage.disk_sync import PeriodicSync
from crawlproject.storage.open_archive import open_archive
from crawlproject.urls.canonical import make_canonicalizer


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
    frontier: tuple[Frontier, Peers] | None = None,
    choose: Callable[[Topic, PriorKnowledge], BaseOrdering] = choose_ordering,
    brakes: Sequence[Brake] = (),
    judge: TopicJudge | None = None,
) -> Crawl:
    """Return a crawl, new or resumed, ready to ``take`` from.

    ``clock`` returns seconds since the epoch. A rehearsal keeps the history only and its frontier in memory; it shows the
    targets, and the ``graph`` of its web, to an ordering that needs them. ``archive`` is the rehearsed web, for orderings
    that need an archive when ``ORDERING_ARCHIVE`` names none. ``cache_dir`` holds the indexes of archives (default: the crawl
    folder). ``agent`` is the User-Agent. ``token`` returns unguessable strings; without it, parts that need them are off.
    ``frontier`` is a frontier shared with other crawls, and its peers, in place of the one that the settings ask for.
    ``choose`` makes the ordering. ``brakes`` slow the crawl down. ``judge`` is a judge that rehearsals share, in place of
    the one that the settings name. A topic with members makes a crawl of several topics. Raises ``BadInput`` (topic, settings,
    crawl folder) and ``StorageFailed``.
    """
    canonicalize = make_canonicalizer(options)
    topic = topic_in_canonical_urls(topic, canonicalize)
    by_words = make_judge(topic.keywords, make_analyzer(topic.language, options), options)
    new_reader = partial(make_reader, options, by_words.analyzer, canonicalize)
    place = _place(topic, options, folder)
    judgments = partial(_judgments, place)
    prior_pages = PriorPages(
        options,
        by_words,
        canonicalize,
        new_reader,
        cache_dir=cache_dir or place,
        rehearsed=archive,
        readable=registry.readable,
    )
    known = PriorKnowledge(options, by_words, prior_pages, graph, None if rehearsal else place, judgments)
    judge = judge or choose_judge(topic, known)
    if judge is not by_words:
        known = known.judged_by(judge)
    new_ordering: Callable[[], BaseOrdering] | None = partial(choose, topic, known)
    makers: dict[str, Callable[[Setup], Part | None]] = {name: part.make for name, part in part_classes().items()}
    if topic.members:
        name, choice = _choice(topic, known, place, canonicalize)
        judge, ordering, makers[name], new_ordering = choice.judge, choice.ordering, choice.part, None
    else:
        ordering = choose(topic, known)
    crawl_folder = _open_folder(place, topic, options, keeps_pages=not rehearsal, clock=clock)
    try:
        opened, peers = frontier or _open_frontier(
            options, crawl_folder, ordering, topic, rehearsal=rehearsal, clock=clock
        )
        setup = Setup(
            topic,
            options,
            canonicalize,
            judge,
            ordering,
            new_ordering,
            crawl_folder,
            opened,
            peers,
            agent,
            token,
            rehearsal,
        )
        reader = new_reader(
            tag_paths=ordering.reads_tag_paths,
            reads={*registry.reads(options), *(["forms"] if ordering.reads_forms else [])},
            agent=product_token(agent),
        )
        judged = {} if options.ordering in UNJUDGED else judgments()
        parts = [part for make in makers.values() if (part := make(setup)) is not None]
        crawl = Crawl(setup, parts, reader, judged, brakes)
        recover_logs(crawl.services)
        replay(crawl.services, clock())
        crawl.add_seeds()
        for part in crawl.parts:
            part.begin(clock())
    except BadInput:
        crawl_folder.abandon()
        raise
    return crawl


def choose_judge(topic: Topic, known: PriorKnowledge, rehearsals: Path | None = None) -> TopicJudge:
    """Return the judge that ``TOPIC_RELEVANCE`` names; ``known.judge`` is the one by keywords. Raises ``BadInput``.

    ``rehearsals`` is the folder of the rehearsals that share the judge and wait for its answers.
    """
    name = known.options.topic_relevance
    if name in BY_KEYWORDS:
        return known.judge
    for part in part_classes().values():
        if judge := part.appoint(topic, known, rehearsals):
            return judge
    raise BadSetting("setting TOPIC_RELEVANCE", f"no part is installed that has a judge {name!r}")


def _judgments(place: Path) -> Mapping[str, bool]:
    """A person's judgments of the pages of the crawl, by URL."""
    return {url: said for part in part_classes().values() for url, said in part.judgments(place).items()}


def _choice(topic: Topic, known: PriorKnowledge, place: Path, canonicalize: Callable[..., str]) -> tuple[str, Choice]:
    """The name of the part that makes the judge and the ordering of several topics, and its choice."""
    for name, part in part_classes().items():
        if choice := part.choose(topic, known, place, canonicalize):
            return name, choice
    raise BadSetting("-a topics", "no part is installed for several topics in one crawl")


def _place(topic: Topic, options: Options, folder: Path | None) -> Path:
    """The folder of the crawl, or this worker's folder if there are several workers."""
    place = options.own_folder(folder or options.folder(topic.name))
    if options.frontier == "redis" and (holder := holder_of(place)):
        raise BadCrawlDir(str(place), f"in use by process {holder}; give each worker its own CRAWL_WORKER")
    return place


def _open_folder(
    place: Path, topic: Topic, options: Options, *, keeps_pages: bool, clock: Callable[[], float]
) -> CrawlFolder:
    """Open the crawl folder at ``place``, begin its manifest and open its WARC files."""
    folder = CrawlFolder(
        place, topic, options.ordering, parameters_in_use(options), bodies=keeps_pages, versions=options.page_versions
    )
    folder.manifest.begin(options.model_dump(), options.virtual_web, clock())
    if options.crawl_fsync_seconds and keeps_pages:
        folder.sync = PeriodicSync(place, options.crawl_fsync_seconds)
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
) -> tuple[Frontier, Peers]:
    if rehearsal:
        return make_frontier(options, ordering.commit, margin=0.0), ALONE
    now, lines = clock(), folder.history.lines
    behind = set_back(folder.path / "history.jsonl", now, folder.manifest.last_ended(lines))
    if behind >= WORTH_SAYING:
        folder.warnings.append(warning(behind))
    parts = part_classes().values()
    endless = any(part.is_endless(options) for part in parts)
    for part in parts:
        if opened := part.open_frontier(
            options, folder, clock=clock, commit=ordering.commit, name=topic.name, endless=endless
        ):
            break
    else:
        place = folder.path / "frontier"
        opened = open_frontier(options, place, clock=clock, commit=ordering.commit, behind=behind), ALONE
    if behind:
        folder.manifest.note_set_back(lines, now)
    return opened
