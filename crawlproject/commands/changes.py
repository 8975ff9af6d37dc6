"""``scrapy changes CRAWL_DIR``: lists pages that are new, changed, moved or gone."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from io import StringIO
from pathlib import Path
from time import time
from typing import TYPE_CHECKING, TextIO, cast

from scrapy.exceptions import UsageError

from crawlproject.adapters.subcommand import Subcommand, reporting_errors

if TYPE_CHECKING:
    from crawlproject.reports.changes import Changes
    from crawlproject.storage.read import CrawlInfo

_FORMATS = ("text", "jsonl", "atom")


class ChangesCommand(Subcommand):
    usage = "CRAWL_DIR [options]"
    summary = "List what is new, changed, moved or gone"
    description = (
        "Show what visits to known pages of a crawl have found since the first harvest: new pages, changed ones with the "
        "passages that were added and removed, pages that moved or are gone. Works on running, finished and killed crawls. "
        "Exit code 2: not a crawl folder, a damaged one, or a wrong option."
    )
    examples = ("changes crawls/reefs --since 7d",)

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument(
            "--since",
            metavar="T",
            help="only changes seen since a date (2026-03-02T14:00, UTC) or within a span (12h, 7d, 2w); harvest included",
        )
        parser.add_argument(
            "--to", choices=_FORMATS, default="text", help="format: text, jsonl, or atom, a feed (default: text)"
        )
        parser.add_argument(
            "--output", metavar="FILE", type=Path, help="write to this file, whole or not at all (default: print)"
        )

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        if len(args) != 1:
            raise UsageError("expected one crawl folder", print_help=False)
        from crawlproject.exporting.whole import written_whole
        from crawlproject.opening import crawl_folder
        from crawlproject.reports.changes import print_changes, select_changes
        from crawlproject.reports.console import read_moment
        from crawlproject.storage.crawl_files import refuse_crawl_file
        from crawlproject.storage.read import read_info

        with reporting_errors(self):
            folder = crawl_folder(args[0])
            info = read_info(folder)
            since = read_moment(opts.since, time()) if opts.since is not None else None
            changes = select_changes(folder, since, harvest=int(info.number("CRAWL_MAX_PAGES", 0)))
            if opts.output is None and opts.to == "text":
                print_changes(changes, info.topic, since, sys.stdout)
            elif opts.output is None:
                print(_written(changes, info, since, opts.to), end="")
            else:
                refuse_crawl_file(opts.output)
                with written_whole(opts.output) as file:
                    file.write(_written(changes, info, since, opts.to).encode("utf-8", "replace"))


def _written(changes: Changes, info: CrawlInfo, since: float | None, kind: str) -> str:
    from crawlproject.pages.text.printable import PlainStream
    from crawlproject.reports.changes import atom_feed, print_changes

    if kind == "atom":
        return atom_feed(changes.found, info).decode()
    if kind == "jsonl":
        return "".join(f"{json.dumps(asdict(change))}\n" for change in changes.found)
    text = StringIO()
    print_changes(changes, info.topic, since, cast(TextIO, PlainStream(text)))
    return text.getvalue()
