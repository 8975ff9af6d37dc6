"""``scrapy search CRAWL_DIR QUERY``: prints the pages of a crawl that match a query, best first."""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import asdict

from scrapy.exceptions import UsageError

from crawlproject.adapters.subcommand import Subcommand, reporting_errors
from crawlproject.configuration import program
from crawlproject.pages.text.printable import visible

_SHOWN = 10


class SearchCommand(Subcommand):
    usage = "[options] CRAWL_DIR QUERY"
    summary = "Search the pages of a crawl"
    description = (
        "Print the pages of a crawl that match QUERY, best first, by title, text, the anchor that led to the page, and "
        'relevance to the topic. Words are alternatives; +word, -word, "a phrase" and title:word are supported. '
        "Put -- before a query that begins with a dash. "
        f"Requires an index: {program} index CRAWL_DIR. Exit code 2: there is no index, or it is damaged."
    )
    examples = ("search crawls/reefs '\"coral reef\" +bleaching -aquarium'",)

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--limit", metavar="N", type=int, default=_SHOWN, help=f"pages to show (default: {_SHOWN})")
        parser.add_argument("--offset", metavar="N", type=int, default=0, help="pages to skip (default: 0)")
        parser.add_argument("--json", action="store_true", help="print JSON")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        if len(args) < 2:
            raise UsageError("expected a crawl folder and a query", print_help=False)
        query = " ".join(args[1:])
        if not query.strip():
            raise UsageError("expected a query, but it is empty; * matches every page", print_help=False)
        if opts.limit < 1 or opts.offset < 0:
            raise UsageError("--limit must be at least 1, and --offset 0", print_help=False)
        with reporting_errors(self):
            from crawlproject.exporting.index import has_vectors, is_behind, is_behind_vectors, search
            from crawlproject.language_models.embeddings import search_model
            from crawlproject.opening import indexed_folder
            from crawlproject.reports.console import print_hits
            from crawlproject.storage.searches import note_search

            folder = indexed_folder(args[0])
            model = search_model(self.search_model)
            found = search(folder, query, opts.limit, opts.offset, model=model)
            if not opts.offset:
                note_search(folder, query, found.total, time.time())
            if opts.json:
                print(json.dumps({"total": found.total, "hits": [asdict(hit) for hit in found.hits]}, indent=2))
            else:
                print_hits(found.hits, found.total, opts.offset + 1, sys.stdout)
                behind = " --vectors" if is_behind_vectors(folder) else ""
                if is_behind(folder) or behind:
                    command = f"{program} index {args[0]}{behind}"
                    print(f"The crawl has pages that are not indexed; run: {command}", file=sys.stderr)
            if model is not None and not has_vectors(folder):
                command = f"{program} index {args[0]} --vectors"
                print(
                    f"Searched by words alone: the index has no vectors for SEARCH_MODEL; run: {command}",
                    file=sys.stderr,
                )
            if found.note:
                print(visible(f"{program}: {found.note}"), file=sys.stderr)
