"""``scrapy companion``: looks ahead of a person who browses, and suggests pages in a side panel (000 section 5.4)."""

from __future__ import annotations

import argparse
import tempfile
from dataclasses import replace
from functools import partial

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError
from scrapy.settings import SETTINGS_PRIORITIES

from crawlproject.adapters.subcommand import reporting_errors
from crawlproject.commands.crawl import CrawlCommand
from crawlproject.configuration import program
from crawlproject.core.peers import ALONE

_EXTENSION = "crawlproject.companion.extension.CompanionServer"
_NOT_WANTED = (
    "crawlproject.dashboard.extension.DashboardServer",
    "crawlproject.adapters.extensions.progress.Progress",
    "crawlproject.adapters.extensions.report.ReportWriter",
    "crawlproject.adapters.extensions.finished.FinishedMarker",
)
# Scrapy settings that a project may use for its crawls. The companion stores nothing, and fetches without logins.
_NOTHING_KEPT = {"FEEDS": {}, "HTTPCACHE_ENABLED": False, "COOKIES_ENABLED": False}
_INTERRUPTED = 3


class CompanionCommand(CrawlCommand):
    usage = "[options]"
    summary = "Look ahead while you browse, and suggest pages"
    description = (
        "Serve a side panel on loopback. The page that you read comes from the browser extension (--extension prints "
        "its folder) or from a bookmarklet; its links are crawled ahead, politely and within a small budget, and pages like "
        f"those that you stay on are suggested. Ctrl-C ends it. docs/companion.md of {program} lists what is stored, and where. "
        "Exit code 2: the port cannot be used, or the profile cannot be read."
    )
    examples = ("companion",)

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        ScrapyCommand.add_options(self, parser)  # none of `scrapy crawl`: there is no topic
        self.show_examples(parser)
        parser.set_defaults(spargs=[], output=None, overwrite_output=None)
        parser.add_argument(
            "--port", type=int, metavar="P", help="port, 0 for any free one (default: setting COMPANION_PORT)"
        )
        parser.add_argument(
            "--extension", action="store_true", help="print the folder of the browser extension, and end"
        )

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        if args:
            raise UsageError("expected no arguments", print_help=False)
        if opts.extension:
            from crawlproject.companion.person import extension_folder

            print(extension_folder())
            return
        with reporting_errors(self), tempfile.TemporaryDirectory(prefix="companion-") as folder:
            self._serve(opts, folder)

    def _serve(self, opts: argparse.Namespace, folder: str) -> None:
        from crawlproject.assembly import assemble
        from crawlproject.companion.look_ahead import NO_TOPIC, SETTINGS, AheadPace, choose_following
        from crawlproject.companion.person import person_folder
        from crawlproject.configuration import known_settings, read_options
        from crawlproject.frontier.factory import make_frontier

        assert self.crawler_process is not None, "scrapy.cmdline sets it"
        settings = self.crawler_process.settings
        if opts.port is not None:
            settings.set("COMPANION_PORT", opts.port, priority="cmdline")
        for name, value in {**known_settings({**SETTINGS, "CRAWL_DIR": folder}), **_NOTHING_KEPT}.items():
            settings.set(name, value, priority="cmdline")
        options = read_options(settings)
        settings.set("ORDERING", options.companion_ordering, priority="cmdline")
        settings.set("TRAP_MAX_DEPTH", options.companion_clicks, priority="cmdline")
        for name in _NOT_WANTED:
            settings["EXTENSIONS"][name] = None
        settings["EXTENSIONS"][_EXTENSION] = 5
        options = read_options(settings)
        frontier = make_frontier(options)
        topic = replace(NO_TOPIC, language=person_folder(options).load().language)
        if (settings.getpriority("LOG_LEVEL") or 0) < SETTINGS_PRIORITIES["cmdline"]:
            settings.set("LOG_LEVEL", "ERROR", priority="cmdline")  # warnings contain URLs, which are private here
        crawler = self._create_crawler("topical")
        pace = AheadPace(options.companion_fetches, options.companion_rate)
        # A rehearsal stores no pages, so that pages fetched ahead stay in memory only.
        put_together = partial(
            assemble, choose=choose_following, frontier=(frontier, ALONE), rehearsal=True, brakes=[pace]
        )
        self.crawl(crawler, {"topic": topic, "assemble": put_together})
        if self.exitcode == _INTERRUPTED:  # Ctrl-C is the normal end
            self.exitcode = 0
