"""``scrapy why CRAWL_DIR URL``: explains why a URL was, or was not, fetched."""

from __future__ import annotations

import argparse
import sys

from scrapy.exceptions import UsageError

from crawlproject.adapters.explanation import explain
from crawlproject.adapters.subcommand import Subcommand, reporting_errors
from crawlproject.opening import crawl_folder


class WhyCommand(Subcommand):
    usage = "CRAWL_DIR URL"
    summary = "Explain why a URL was, or was not, fetched"
    description = (
        "Show the state of URL in a crawl: fetched (with its position, score, path from a seed and relevance), "
        "waiting, refused, dropped, linked to, or never seen; and the reason. Works on running, finished and killed "
        "crawls. Exit code 2: not a crawl folder, a damaged one, or not a URL."
    )
    examples = ("why crawls/reefs http://www.lagoon-notes.example/",)

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        if len(args) != 2:
            raise UsageError("expected a crawl folder and a URL", print_help=False)
        with reporting_errors(self):
            explain(crawl_folder(args[0]), args[1], sys.stdout, agent=self.agent)
