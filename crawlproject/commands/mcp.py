"""``scrapy mcp CRAWL_DIR``: serves a crawl to agents over the Model Context Protocol, on standard input and output."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from scrapy.exceptions import UsageError

from crawlproject.adapters.subcommand import Subcommand, reporting_errors
from crawlproject.configuration import program
from crawlproject.extras import need


class McpCommand(Subcommand):
    requires_project = True
    usage = "CRAWL_DIR [--crawl N]"
    summary = "Serve a crawl to agents over the Model Context Protocol"
    description = (
        "Serve CRAWL_DIR on standard input and output, for a program that speaks the Model Context Protocol: the tools "
        "search, page and why, which write nothing, and with --crawl the tool crawl. "
        f"search requires an index: {program} index CRAWL_DIR. Exit code 2: no crawl folder, or the package mcp is missing."
    )
    examples = ("mcp crawls/reefs --crawl 100",)

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        help_ = (
            "let agents continue the crawl, by at most N pages in all; the index is then kept up to date (default: 0)"
        )
        parser.add_argument("--crawl", metavar="N", type=int, default=0, help=help_)

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        if len(args) != 1:
            raise UsageError("expected one crawl folder", print_help=False)
        if opts.crawl < 0:
            raise UsageError("--crawl: expected 0 or more", print_help=False)
        server: Any = None
        with reporting_errors(self):
            need(f"{program} mcp", "mcp")
            from crawlproject.library.agent_server import make_server

            server = make_server(Path(args[0]), crawl_pages=opts.crawl, settings=self.given, model=self.search_model)
        if server is not None:
            server.run("stdio")  # standard output is for the protocol only: nothing else may print there
