"""``scrapy report CRAWL_DIR``: writes the report of a crawl and prints its path."""

from __future__ import annotations

import argparse

from scrapy.exceptions import UsageError

from crawlproject.adapters.subcommand import Subcommand, reporting_errors
from crawlproject.opening import crawl_folder
from crawlproject.reports.report import write_report


class ReportCommand(Subcommand):
    usage = "CRAWL_DIR"
    summary = "Write or update the report of a crawl"
    description = (
        "Write report.html into a crawl folder, from the files in that folder, and print its path. "
        "Works on running, finished and killed crawls. The folders of several workers are merged first. "
        "Exit code 2: not a crawl folder, or a damaged one."
    )
    examples = ("report crawls/reefs",)

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        if len(args) != 1:
            raise UsageError("expected one crawl folder", print_help=False)
        with reporting_errors(self):
            print(write_report(crawl_folder(args[0])))
