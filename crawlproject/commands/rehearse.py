"""``scrapy rehearse WEB TOPIC... --ordering NAME... --pages N --out DIR``: the virtual crawl."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from crawlproject.commandline import cache_dir, reporting_errors

if TYPE_CHECKING:
    from crawlproject.crawl import Crawl
    from crawlproject.records import Topic


class Command(ScrapyCommand):
    requires_project = True
    requires_crawler_process = False

    def syntax(self) -> str:
        return "WEB TOPIC... --ordering NAME... --pages N --out DIR"

    def short_desc(self) -> str:
        return "Crawl a virtual web with one ordering or several, without a network"

    def long_desc(self) -> str:
        return (
            "Crawl WEB (a WARC file, a folder of <host>/<path> files, or `sample`) on each topic with each ordering. "
            "Each run leaves DIR/<topic>/<ordering>/ and prints one line of JSON; runs that ended before are kept. "
            "The k rule and politeness hold as in a live crawl, on a virtual clock. Then try: scrapy compare DIR. "
            "Exit code 2: a web, topic, ordering or setting is wrong."
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument(
            "--ordering", metavar="NAME", nargs="+", action="extend", help="orderings (default: the setting ORDERING)"
        )
        parser.add_argument(
            "--pages", metavar="N", type=int, default=1000, help="pages that a run stores (default: 1000)"
        )
        parser.add_argument("--out", metavar="DIR", type=Path, default=Path("rehearsals"), help="default: rehearsals")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        if len(args) < 2:
            raise UsageError("expected a web and at least one topic file", print_help=False)
        if opts.pages < 1:
            raise UsageError("--pages: expected at least 1", print_help=False)
        with reporting_errors(self):
            self._rehearse(args[0], args[1:], opts)

    def _rehearse(self, web_name: str, topic_names: list[str], opts: argparse.Namespace) -> None:
        # Scrapy imports every command at every start: what is heavy is imported when it is needed.
        from crawlproject.options import read_options
        from crawlproject.orderings.registry import ordering_class
        from crawlproject.rehearsal.stage import Stage
        from crawlproject.topic import load_topic
        from crawlproject.virtualweb.web import open_web

        assert self.settings is not None, "scrapy.cmdline sets it"
        names = opts.ordering or [read_options(self.settings).ordering]
        for name in names:
            ordering_class(name)
        topics = [load_topic(Path(name)) for name in topic_names]
        web = open_web(web_name, cache_dir=cache_dir())
        for warning in web.warnings:
            print(f"scrapy: web {web_name}: {warning}", file=sys.stderr)
        stage = Stage(web, self._settings_of, pages=opts.pages, agent=self.settings["USER_AGENT"])
        for topic in topics:
            started = perf_counter()
            for name, folder, crawl in stage.rehearse(topic, names, opts.out):
                line = {"topic": topic.name, "ordering": name, **outcome(crawl, perf_counter() - started)}
                print(json.dumps({**line, "folder": str(folder)}), flush=True)
                started = perf_counter()

    def _settings_of(self, topic: Topic) -> dict[str, Any]:
        """As in a live crawl: the topic file overrides the project's settings, the command line overrides both."""
        assert self.settings is not None, "scrapy.cmdline sets it"
        settings = self.settings.copy()
        settings.setdict(dict(topic.settings), priority="spider")
        return settings.copy_to_dict()


def outcome(crawl: Crawl | None, seconds: float) -> dict[str, Any]:
    """What one line tells about a run."""
    if crawl is None:
        return {"kept": True}
    rate = round(crawl.pages / seconds) if seconds else None
    return {"pages": crawl.pages, "fetches": crawl.fetches, "seconds": round(seconds, 2), "pages_per_second": rate}
