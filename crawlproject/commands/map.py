"""``scrapy map CRAWL_DIR``: draws the pages of a crawl and the links between them, relevant pages highlighted."""

from __future__ import annotations

import argparse
from pathlib import Path

from scrapy.exceptions import UsageError

from crawlproject.adapters.subcommand import Subcommand, reporting_errors
from crawlproject.errors import BadInput

NAME = "map.html"
_NODES = 1_000
_MOST = 20_000


class MapCommand(Subcommand):
    usage = "[options] CRAWL_DIR"
    summary = "Draw a map of the pages of a crawl, relevant ones highlighted"
    description = (
        "Draw the most relevant pages of a crawl, the paths from the seeds to them, and the links among these pages: "
        "as an interactive HTML file, or as SVG or PNG for a paper. Works on running, finished and killed crawls. "
        "Exit code 2: not a crawl folder, a damaged one, or one without pages of the site."
    )
    examples = ("map crawls/reefs",)

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument(
            "--site",
            metavar="HOST",
            default="",
            help="only this host, its subdomains, and pages closely linked to them",
        )
        limit = f"pages on the map, 1 to {_MOST:,} (default: {_NODES:,})"
        parser.add_argument("--limit", metavar="N", type=int, default=_NODES, help=limit)
        out = f"file to write, .html, .svg or .png (default: {NAME} in the crawl folder)"
        parser.add_argument("--out", metavar="FILE", type=Path, help=out)

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        if len(args) != 1:
            raise UsageError("expected one crawl folder", print_help=False)
        from crawlproject.opening import crawl_folder
        from crawlproject.reports.map import write_map
        from crawlproject.reports.map_data import read_map
        from crawlproject.storage.crawl_files import SIGNS, refuse_target, refuse_unsigned

        with reporting_errors(self):
            if not 1 <= opts.limit <= _MOST:
                raise BadInput(f"--limit {opts.limit}", f"expected a number from 1 to {_MOST:,}")
            folder = crawl_folder(args[0])
            if opts.out:
                refuse_target(opts.out)
            found = read_map(folder, site=opts.site, limit=opts.limit)
            if not opts.out:
                refuse_unsigned(folder / NAME, (*SIGNS, " – map</title>".encode()))
            print(write_map(found, opts.out or folder / NAME))
