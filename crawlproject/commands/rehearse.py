"""``scrapy rehearse WEB TOPIC... --ordering NAME... --pages N --out DIR``: the virtual crawl."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable
from pathlib import Path
from time import perf_counter
from typing import Any

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from crawlproject.appendlog import write_atomically
from crawlproject.assembly import make_canonicalizer, make_reader, make_traps, respell
from crawlproject.commandline import cache_dir, reporting_errors
from crawlproject.crawl import Crawl
from crawlproject.options import Options, read_options
from crawlproject.orderings.base import Graph
from crawlproject.orderings.registry import ORDERINGS, ordering_class
from crawlproject.records import Topic
from crawlproject.rehearsal import JudgedPages, PageCache, Rehearsal, graph_of, reachable
from crawlproject.text.analysis import Analyzer
from crawlproject.topic import load_topic
from crawlproject.virtualweb.web import open_web


class Command(ScrapyCommand):
    """Rehearse orderings on an archived web: no network, a virtual clock, one sub-folder a run."""

    requires_project = True
    requires_crawler_process = False

    def syntax(self) -> str:
        return "WEB TOPIC... --ordering NAME... --pages N --out DIR"

    def short_desc(self) -> str:
        return "Crawl a virtual web with one ordering or several, without a network"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--ordering", nargs="+", action="extend", help=f"one or more of: {', '.join(ORDERINGS)}")
        parser.add_argument("--pages", type=int, default=1000, help="pages a run may store (default: 1000)")
        parser.add_argument("--out", type=Path, default=Path("rehearsals"), help="folder of the runs")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        if len(args) < 2:
            raise UsageError("expected a web and at least one topic file")
        assert self.settings is not None, "scrapy.cmdline sets it"
        names = opts.ordering or [self.settings.get("ORDERING")]
        with reporting_errors(self):
            for name in names:
                ordering_class(name)
            topics = [load_topic(Path(path)) for path in args[1:]]
            options = read_options({**self.settings.copy_to_dict(), "CRAWL_MAX_PAGES": opts.pages})
            stage = Stage(args[0], options, self.settings.copy_to_dict())
            for topic in topics:
                stage.rehearse(topic, names, opts.out)


class Stage:
    """A web, and what the rehearsals on it share."""

    def __init__(self, web: str, options: Options, settings: dict[str, Any]) -> None:
        self.web = open_web(web, cache_dir=cache_dir())
        for warning in self.web.warnings:
            print(f"scrapy: web {web}: {warning}", file=sys.stderr)
        self.options = options
        self.settings = settings
        self._pages: dict[str, PageCache] = {}

    def rehearse(self, topic: Topic, names: Iterable[str], out: Path) -> None:
        """Every ordering on one topic; finished runs are left as they are."""
        options = read_options({**self.settings, **topic.settings, "CRAWL_MAX_PAGES": self.options.crawl_max_pages})
        pages = self._pages_in(topic.language, options)
        canonicalize = make_canonicalizer(options)
        spelled = respell(topic, canonicalize)
        graph = graph_of(pages, canonicalize, lambda url: make_traps(options).refusal(url) is None)
        if topic.targets:
            self._note_reachable(spelled, graph, out / topic.name)
        judged: dict[str, JudgedPages] = {}
        for name in names:
            folder = out / topic.name / name
            if finished(folder):
                print(json.dumps({"topic": topic.name, "ordering": name, "kept": str(folder)}))
                continue
            started = perf_counter()
            crawl = Rehearsal(
                topic,
                options.model_copy(update={"ordering": name}),
                lambda judge: judged.setdefault("", JudgedPages(pages, judge)),
                self.web,
                agent=self.settings["USER_AGENT"],
                folder=folder,
                reader=pages.reader,
                graph=graph,
            ).run()
            print(json.dumps(outcome(crawl, name, perf_counter() - started)), flush=True)

    def _pages_in(self, language: str, options: Options) -> PageCache:
        """The cache of pages read with this language and these page settings."""
        key = f"{language} {options.model_dump_json(include=READING)}"
        if key not in self._pages:
            reader = make_reader(options, Analyzer(language), make_canonicalizer(options))
            self._pages[key] = PageCache(self.web, reader, options)
        return self._pages[key]

    def _note_reachable(self, topic: Topic, graph: Graph, folder: Path) -> None:
        """``reachable.json``: the targets that a crawl from the seeds can find at all."""
        path = folder / "reachable.json"
        if not path.exists():
            found = topic_reach(topic, graph)
            write_atomically(path, [json.dumps({"targets": found}, indent=1).encode()])


READING = {
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


def topic_reach(topic: Topic, graph: Graph) -> list[str]:
    """The targets of the topic that can be reached from its seeds."""
    reached = set(reachable(graph, topic.seeds))
    return [target for target in topic.targets if target in reached]


def finished(folder: Path) -> bool:
    """Whether a run ended in this folder; an unfinished one is removed, since a rehearsal starts anew."""
    manifest = folder / "crawl.json"
    if manifest.exists() and json.loads(manifest.read_bytes()).get("reason"):
        return True
    for name in ("crawl.json", "history.jsonl", "refused.json"):
        (folder / name).unlink(missing_ok=True)
    return False


def outcome(crawl: Crawl, ordering: str, seconds: float) -> dict[str, Any]:
    """One line about a finished run."""
    return {
        "topic": crawl.topic.name,
        "ordering": ordering,
        "pages": crawl.pages,
        "fetches": crawl.fetches,
        "seconds": round(seconds, 2),
        "pages_per_second": round(crawl.pages / seconds) if seconds else None,
        "folder": str(crawl.folder.path),
    }
