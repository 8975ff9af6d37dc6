"""The process of a crawl that a program started. It reads what to crawl from standard input; exit codes as ``scrapy crawl``."""

from __future__ import annotations

import os
import pickle
import sys

from scrapy.crawler import AsyncCrawlerProcess
from scrapy.utils.project import ENVVAR, get_project_settings

from crawlproject.commands.crawl import CrawlCommand
from crawlproject.components.subcommand import reporting_errors
from crawlproject.orderings.registry import ordering


def main() -> None:
    """Run the crawl; ends the process."""
    wish = pickle.load(sys.stdin.buffer)  # from the process that started this one
    for name, cls in wish["orderings"].items():
        ordering(name)(cls)
    os.environ.setdefault(ENVVAR, "crawlproject.settings")
    settings = get_project_settings()
    settings.setdict(wish["settings"], priority="cmdline")
    command = CrawlCommand()
    process = AsyncCrawlerProcess(settings)
    command.settings, command.crawler_process = settings, process
    with reporting_errors(command):
        command.crawl(process.create_crawler("topical"), {"topic": wish["topic"]})
    sys.stderr.flush()
    sys.exit(command.exitcode)
