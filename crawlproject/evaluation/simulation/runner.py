"""Runs every ordering on every topic over one web, with one folder per run; the runs share parsed and judged pages."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from crawlproject.assembly import choose_judge
from crawlproject.configuration import read_options, refuse_unknown
from crawlproject.core.crawl import Crawl
from crawlproject.core.prior_knowledge import ARCHIVE_CACHE, PriorKnowledge, PriorPages
from crawlproject.core.reading import make_reader, make_traps, topic_in_canonical_urls
from crawlproject.core.robots import product_token
from crawlproject.errors import BadCrawlDir
from crawlproject.evaluation.simulation.run import CONCURRENCY, CrawlSimulation
from crawlproject.evaluation.simulation.web_graph import graph_of, least_pages
from crawlproject.options import Options
from crawlproject.orderings.base import Graph
from crawlproject.orderings.omniscient import reachable
from crawlproject.orderings.registry import ordering_class
from crawlproject.pages.text.relevance import BY_KEYWORDS, TopicJudge, make_analyzer, make_topics_judge
from crawlproject.parts import registry
from crawlproject.records import Topic
from crawlproject.storage.append_log import ITEMS, write_atomically
from crawlproject.storage.crawl_files import MANIFEST, PROBES, TOPICS, refuse_foreign_files
from crawlproject.storage.manifest import read_manifest
from crawlproject.urls.canonical import make_canonicalizer
from crawlproject.webs.base import Web
from crawlproject.webs.page_cache import ArchivedPages, JudgedPages, PageCache, PageCacheFolder

_WRITTEN = (  # by rehearsals; the last one marks the others as ours
    "agents.json",
    "changes.jsonl",
    "collection.sqlite",
    "history.jsonl",
    PROBES,
    "refused.json",
    "rules.jsonl",
    "sketches.jsonl",
    TOPICS,
    MANIFEST,
)
# Settings that determine how a page is parsed: topics with equal values share the parsed pages.
READING = {
    "topic_terms",
    "ordering_aggregation_level",
    "page_max_bytes",
    "page_content_types",
    "page_max_links",
    "page_obey_nofollow",
    "page_obey_meta_robots",
    "crawl_url_strip_parameters",
    "crawl_url_default_pages",
    "crawl_url_query_rules",
}
# Settings without effect on a rehearsal.
ELSEWHERE = {"crawl_dir", "crawl_progress_seconds", "virtual_web", "virtual_web_latency"}
TRAPS = {name for name in Options.model_fields if name.startswith("trap_")}


class Runner:
    """Rehearses on ``web``: up to ``pages`` pages per run, with ``concurrency`` fetches at a time (0: no limit).

    ``settings_of(topic)`` are the settings of a topic, by name. ``web_name`` is recorded in the runs, so that a run on
    another web is not taken for one of these. ``shelf`` stores parsed pages for later rehearsals on the same web,
    ``cache_dir`` the index of the archive that the setting ``ORDERING_ARCHIVE`` names.
    """

    def __init__(
        self,
        web: Web,
        settings_of: Callable[[Topic], Mapping[str, Any]],
        *,
        pages: int,
        agent: str,
        concurrency: int = 1,
        shelf: PageCacheFolder | None = None,
        cache_dir: Path | None = None,
        web_name: str = "",
    ) -> None:
        self.web = web
        self.web_name = web_name
        self.shelf = shelf
        self.cache_dir = cache_dir
        self.settings_of = settings_of
        self.pages = pages
        self.agent = agent
        self.concurrency = concurrency
        self._caches: dict[str, PageCache] = {}
        self._graphs: dict[tuple[int, str], Graph] = {}
        self._latest: tuple[Topic, PageCache, JudgedPages] | None = None

    def rehearse(
        self,
        topic: Topic,
        names: Iterable[str],
        out: Path,
        progress: Callable[[Crawl], None] | None = None,
        *,
        repeat: int = 1,
    ) -> Iterator[tuple[str, Path, Crawl | None]]:
        """Run every ordering on one topic; yield its name, its folder, and the finished crawl.

        A run that ended earlier is kept, with None in place of the crawl; an unfinished run is started anew. Each ``repeat``
        (1, 2, ...) has its own ``CRAWL_SEED`` and folders. ``reachable.json`` beside the runs lists the targets that can be
        reached from the seeds, and the least number of pages for 1, 2, ... of them (``least_pages``).
        """
        settings = {**self.settings_of(topic), "CRAWL_MAX_PAGES": self.pages}
        refuse_unknown(settings)
        options = read_options(settings)
        _refuse_another_web(out / topic.name, self.web_name)
        options = options.model_copy(
            update={"crawl_seed": options.crawl_seed + repeat - 1, "virtual_web": self.web_name}
        )
        canonical = topic_in_canonical_urls(topic, make_canonicalizer(options))
        cache = self._cache(topic.language, options)
        graph = self._graph(cache, options)
        if topic.targets:
            _note_reachable(canonical, graph, out / topic.name / "reachable.json")
        for name in names:
            folder = out / topic.name / run_name(name, repeat)
            chosen = options.model_copy(update={"ordering": name})
            if finished(folder, canonical, chosen, self.concurrency):
                yield name, folder, None
                continue
            judged = self._judged(topic, canonical, cache, options, out / topic.name)
            if ordering_class(name).reads_text:
                judged = JudgedPages(cache, judged.judge, ARCHIVE_CACHE, with_text=True)
            rehearsal = CrawlSimulation(
                topic,
                chosen,
                registry.readable(self.web, chosen),
                agent=self.agent,
                folder=folder,
                concurrency=self.concurrency,
                graph=graph,
                progress=progress,
                archive=ArchivedPages(cache, judged, make_canonicalizer(options)),
                cache_dir=self.cache_dir,
                judge=None if options.topic_relevance in BY_KEYWORDS else judged.judge,
            )
            yield name, folder, rehearsal.run(judged)
        cache.flush()

    def _judged(self, topic: Topic, canonical: Topic, cache: PageCache, options: Options, folder: Path) -> JudgedPages:
        """The pages judged for a topic; those of the latest topic are kept, since the runs of a topic are consecutive."""
        if self._latest is None or self._latest[:2] != (topic, cache):
            judge = make_topics_judge(topic, cache.reader.analyzer, options)
            if options.topic_relevance not in BY_KEYWORDS:
                judge = self._appointed(canonical, cache, options, judge, folder)
            self._end_latest()
            self._latest = topic, cache, JudgedPages(cache, judge)
        return self._latest[2]

    def _appointed(
        self, topic: Topic, cache: PageCache, options: Options, by_words: TopicJudge, folder: Path
    ) -> TopicJudge:
        """The judge named by ``TOPIC_RELEVANCE``, which may learn from the rehearsed web."""
        canonicalize = make_canonicalizer(options)
        prior = PriorPages(
            options,
            by_words,
            canonicalize,
            lambda: cache.reader.twin(),
            cache_dir=self.cache_dir or Path(),
            rehearsed=ArchivedPages(cache, JudgedPages(cache, by_words, ARCHIVE_CACHE), canonicalize),
            readable=registry.readable,
        )
        return choose_judge(topic, PriorKnowledge(options, by_words, prior, None, None, dict), folder)

    def _end_latest(self) -> None:
        if self._latest is not None:
            self._latest[2].judge.close()

    def close(self) -> None:
        self._end_latest()
        for cache in self._caches.values():
            cache.close()

    def _graph(self, cache: PageCache, options: Options) -> Graph:
        """The links between the stored pages that the trap rules admit; made once for each cache and set of rules."""
        key = id(cache), options.model_dump_json(include=TRAPS)
        if key not in self._graphs:
            traps = make_traps(options)
            self._graphs[key] = graph_of(cache, make_canonicalizer(options), lambda url: traps.refusal(url) is None)
        return self._graphs[key]

    def _cache(self, language: str, options: Options) -> PageCache:
        """The pages, parsed for this language and with these settings."""
        key = reading_key(language, options, self.agent)
        if key not in self._caches:
            self._caches[key] = read_pages(self.web, language, options, self.shelf, agent=self.agent)
        return self._caches[key]


def reading_key(language: str, options: Options, agent: str) -> str:
    """All that determines how a page is parsed, as text."""
    return f"{language} {product_token(agent)} {options.model_dump_json(include=READING)}"


def read_pages(
    web: Web, language: str, options: Options, shelf: PageCacheFolder | None = None, *, agent: str = ""
) -> PageCache:
    """The pages of ``web``, parsed for ``language`` with ``options`` and stored on ``shelf``.

    ``agent`` is the User-Agent of the crawler, since robots meta tags may address it by name.
    """
    reader = make_reader(
        options,
        make_analyzer(language, options),
        make_canonicalizer(options),
        reads=registry.reads(options) & {"related"},
        agent=product_token(agent),
    )
    store = shelf.store(language, reading_key(language, options, agent)) if shelf else None
    return PageCache(registry.readable(web, options), reader, options, store=store)


def run_name(ordering: str, repeat: int = 1) -> str:
    return ordering if repeat == 1 else f"{ordering}.repeat-{repeat}"


def _note_reachable(topic: Topic, graph: Graph, path: Path) -> None:
    if not path.exists():
        reached = reachable(graph, topic.seeds)
        found = [target for target in topic.targets if target in reached]
        noted = {"targets": found, "least_pages": least_pages(graph, topic.seeds, found)}
        write_atomically(path, [json.dumps(noted, indent=1).encode()])


def finished(folder: Path, topic: Topic, options: Options, concurrency: int) -> bool:
    """Whether the folder contains a finished run. The files of a run that is unfinished or found no page are removed.

    Raises ``BadCrawlDir`` if the finished run had another topic or other settings, since it would answer another question,
    or if the folder contains a crawl that is not a rehearsal.
    """
    found = read_manifest(folder)
    if (folder / ITEMS).exists():
        raise BadCrawlDir(str(folder), "holds a crawl that is not a rehearsal; choose another folder for the runs")
    if found.get("reason") and found.get("stats", {}).get("history/pages", 1):
        held_topic = found["topic"]
        for name, value in (("keywords", topic.keywords), ("seeds", topic.seeds)):
            _refuse_other(folder, f"other {name}", held_topic.get(name), list(value))
        held = {CONCURRENCY: 1, **found.get("settings", {})}  # earlier versions fetched one page at a time
        asked = {**options.model_dump(mode="json", exclude=ELSEWHERE), CONCURRENCY: concurrency}
        for name, value in asked.items():
            if name in held:
                _refuse_other(folder, f"{name.upper()} {held[name]!r}, not {value!r}", held[name], value)
        return True
    refuse_foreign_files(folder)
    for name in _WRITTEN:
        (folder / name).unlink(missing_ok=True)
    return False


def _refuse_other(folder: Path, what: str, held: object, asked: object) -> None:
    if held != asked:
        wish = f"holds a rehearsal with {what}; choose another folder for the runs, or remove this one to start over"
        raise BadCrawlDir(str(folder), wish)


def _refuse_another_web(folder: Path, web: str) -> None:
    """Raise ``BadCrawlDir`` if a run of the topic was on another web, since runs are compared. Older runs name no web."""
    for path in sorted(folder.glob(f"*/{MANIFEST}")):
        held = read_manifest(path.parent).get("web")
        if held and web and held != web:
            wish = f"holds a rehearsal on the web {held}, not {web}; choose another folder for the runs, or remove this one"
            raise BadCrawlDir(str(path.parent), wish)
