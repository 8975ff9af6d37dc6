"""``scrapy crawl`` with two more exit codes: 2 for bad input (also if no seed led to a page), 3 if the crawl can be resumed.

``crawl_as_told`` is the entry point of the process for a crawl that a program started.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import pickle
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from scrapy.commands.crawl import Command as ScrapyCrawl
from scrapy.exceptions import UsageError
from scrapy.utils.project import ENVVAR, get_project_settings
from twisted.python.failure import Failure

from crawlproject.adapters.earlier_scrapy import refuse_earlier
from crawlproject.adapters.ending import stop_on_hangup, tell_of_forced_end, tell_of_signals
from crawlproject.adapters.running import broken, fruitless, interrupted, stopped
from crawlproject.adapters.scrapy_settings import refuse_wrong_log, refuse_wrong_values
from crawlproject.adapters.subcommand import (
    STOPPED,
    Described,
    refuse_misspelt_settings,
    refuse_options,
    reporting_errors,
)
from crawlproject.configuration import program
from crawlproject.errors import BadInput, BadSetting, StorageFailed
from crawlproject.extras import named

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)


class CrawlCommand(Described, ScrapyCrawl):
    """Scrapy's ``crawl`` command, except that a wrong topic or setting yields one message instead of a traceback."""

    usage = "topical -a topic=TOPIC [options]"
    summary = "Crawl a topic, or resume its crawl"
    description = (
        "Crawl TOPIC, a topic file or the name of a bundled topic, into CRAWL_DIR (default: crawls/NAME here), or resume "
        "the crawl in it. -a ordering=NAME: adaptive (the default), dom, shark_search or another of docs/orderings.md. "
        "Settings, such as budgets, with -s: docs/settings.md. Exit code 2: bad input; 3: stopped early, the same command "
        "resumes it."
    )
    examples: tuple[str, ...] = (
        "crawl topical -a topic=reefs.toml",
        "crawl topical -a topic=demo -a ordering=dom -s VIRTUAL_WEB=sample -s CRAWL_MAX_PAGES=200",
        "crawl topical -a topic=reefs.toml -s CRAWL_MAX_SECONDS=3600 -s CRAWL_DIR=/data/reefs -o reefs.jsonl",
    )

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        super().process_options(args, opts)
        refuse_options(args)
        refuse_misspelt_settings(opts)
        assert self.settings is not None, "scrapy.cmdline sets it"
        try:
            refuse_wrong_values(self.settings)
            refuse_wrong_log(self.settings)  # Scrapy opens it before it calls ``run``
        except BadSetting as wrong:
            raise UsageError(str(wrong), print_help=False) from None

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        if len(args) != 1:
            raise UsageError("expected one spider name: scrapy crawl topical -a topic=TOPIC", print_help=False)
        assert self.crawler_process is not None, "scrapy.cmdline sets it"
        spiders = self.crawler_process.spider_loader.list()
        if args[0] not in spiders:
            raise UsageError(f"there is no spider {args[0]!r}; expected {', '.join(sorted(spiders))}", print_help=False)
        crawler = self._create_crawler(args[0])
        with reporting_errors(self):
            self.crawl(crawler, opts.spargs)
            if not self.exitcode and (folder := fruitless(crawler)):
                raise BadInput(
                    f"crawl {folder}", "none of its seeds led to a page; its report says what happened to them"
                )

    def crawl(self, crawler: Crawler, arguments: Mapping[str, Any]) -> None:
        """Run the crawl to its end, and set the exit code. Raises ``BadInput`` and ``StorageFailed``."""
        assert self.crawler_process is not None, "scrapy.cmdline sets it"
        refuse_earlier(f"{program} crawl")
        crawling = self.crawler_process.crawl(crawler, **arguments)
        stop_on_hangup()
        tell_of_signals(crawler)
        with _logging_errors(crawler):
            self.crawler_process.start()
            _raise_ours(crawling)
            if self.crawler_process.bootstrap_failed or broken(crawler):
                self.exitcode = 1
            elif isinstance(crawling, asyncio.Task) and not crawling.done():
                tell_of_forced_end(crawler)
                self.exitcode = STOPPED
            elif stopped(crawler) or interrupted(crawler):
                self.exitcode = STOPPED


def crawl_as_told() -> None:
    """Run the crawl that a program describes on standard input (``crawlproject.library.crawling``), and exit with the exit
    codes of ``scrapy crawl``.
    """
    from scrapy.crawler import AsyncCrawlerProcess

    from crawlproject.orderings.registry import ordering

    wish = pickle.load(sys.stdin.buffer)  # from the process that started this one
    for name, cls in wish["orderings"].items():
        ordering(name)(cls)
    if wish["judges"]:
        from crawlproject.parts.judges.registry import register

        for name, judge in wish["judges"].items():
            register(name, judge)
    os.environ.setdefault(ENVVAR, "crawlproject.settings")
    settings = get_project_settings()
    settings.setdict(wish["settings"], priority="cmdline")
    command = CrawlCommand()
    command.settings = settings
    with reporting_errors(command):
        refuse_wrong_values(settings)
        refuse_wrong_log(settings)
        command.crawler_process = process = AsyncCrawlerProcess(settings)
        command.crawl(process.create_crawler("topical"), {"topic": wish["topic"]})
    sys.stderr.flush()
    sys.exit(command.exitcode)


@contextmanager
def _logging_errors(crawler: Crawler) -> Iterator[None]:
    """Write errors of this project also to ``LOG_FILE``, where users of Scrapyd look for them."""
    try:
        yield
    except (BadInput, StorageFailed) as wrong:
        if crawler.settings.get("LOG_FILE"):
            logger.error("%s", wrong)
        raise


def _raise_ours(crawling: object) -> None:
    """Raise the error that kept the crawl from starting; an error that is not ours becomes a ``RuntimeError``."""
    failure: BaseException | None = None
    if isinstance(crawling, asyncio.Task) and crawling.done() and not crawling.cancelled():
        failure = crawling.exception()
    elif isinstance(result := getattr(crawling, "result", None), Failure):  # a Deferred, without an asyncio reactor
        failure = result.value
    if isinstance(failure, ModuleNotFoundError):
        failure = named(failure, "this crawl")
    if isinstance(failure, BadInput | StorageFailed):
        raise failure
    if failure is not None:
        raise RuntimeError("the crawl did not start") from failure
