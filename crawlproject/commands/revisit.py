"""``scrapy revisit CRAWL_DIR``: visits pages of a stored crawl again, for one round."""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from crawlproject.adapters.running import crawl_of, time
from crawlproject.adapters.subcommand import reporting_errors, require_part
from crawlproject.commands.crawl import CrawlCommand
from crawlproject.configuration import program
from crawlproject.pages.text.printable import counted, printable

if TYPE_CHECKING:
    from crawlproject.parts.revisits.outcomes import Tally
    from crawlproject.reports.changes import Changes
    from crawlproject.storage.read import CrawlInfo

LEAST = 10  # default minimum of fetches per round
POLICY = "adaptive"  # for a crawl that has no revisit policy
# These limits end a harvest, but must not end a round. All other settings come from the folder.
_HARVEST = {"CRAWL_MAX_SECONDS": 0.0, "CRAWL_MIN_HARVEST": 0.0}


class RevisitCommand(CrawlCommand):
    usage = "CRAWL_DIR [options]"
    summary = "Visit the pages of a crawl again: one round, then end"
    description = (
        "Fetch pages of a crawl that are worth another visit, and new ones that they link to, with the topic, the ordering "
        "and the settings of the folder; end after N fetches. Print the outcome for the pages. For cron and "
        f"timers. Exit codes as {program} crawl. Next: {program} changes CRAWL_DIR."
    )
    examples = ("revisit crawls/reefs --pages 100",)

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        ScrapyCommand.add_options(self, parser)  # none of `scrapy crawl`: topic and ordering are those of the folder
        self.show_examples(parser)
        parser.set_defaults(spargs=[], output=None, overwrite_output=None)
        parser.add_argument(
            "--pages", metavar="N", type=int, help="fetches of the round (default: a tenth of the pages, at least 10)"
        )

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        require_part("revisits")
        if len(args) != 1:
            raise UsageError("expected one crawl folder", print_help=False)
        if opts.pages is not None and opts.pages < 1:
            raise UsageError("--pages must be at least 1", print_help=False)
        from crawlproject.exporting.selection import whole_folder
        from crawlproject.library.stored_crawl import settings_of_the_starter, stored_topic
        from crawlproject.parts.revisits.part import RevisitPart
        from crawlproject.reports.changes import select_changes

        with reporting_errors(self):
            folder = whole_folder(Path(args[0]))
            info = _stored_crawl(folder)
            assert self.crawler_process is not None, "scrapy.cmdline sets it"
            settings = self.crawler_process.settings
            for name, value in settings_of_the_starter(info).items():
                if settings[name] != value:
                    given = shlex.quote(printable(value if isinstance(value, str) else json.dumps(value)))
                    print(f"{name} of the crawl is ignored; to use it, give -s {name}={given}", file=sys.stderr)
            settings.set("CRAWL_DIR", str(folder), priority="cmdline")
            settings.set("CRAWL_REVISIT_ROUND", opts.pages or _tenth(folder), priority="cmdline")
            crawler = self._create_crawler("topical")
            began = time()
            self.crawl(crawler, {"topic": stored_topic(folder, _settings_of(info))})
            crawl = crawl_of(crawler)
            part = crawl.part(RevisitPart) if crawl is not None else None
            if crawl is not None and part is not None:
                changes = select_changes(crawl.folder.path, began)
                print("\n".join(_summary(part.revisits.tally, changes, folder, time())))


def _stored_crawl(folder: Path) -> CrawlInfo:
    from crawlproject.exporting.selection import require_crawl
    from crawlproject.storage.read import read_info

    require_crawl(folder)
    return read_info(folder)


def _settings_of(info: CrawlInfo) -> dict[str, Any]:
    """The settings of the crawl, in the form of a topic file's settings."""
    from crawlproject.library.stored_crawl import stored_settings

    settings = stored_settings(info)
    settings.pop("CRAWL_REVISIT_ROUND", None)
    revisit = settings.get("CRAWL_REVISIT") or POLICY
    return {**settings, **_HARVEST, "ORDERING": info.ordering, "CRAWL_REVISIT": revisit}


def _tenth(folder: Path) -> int:
    from crawlproject.storage.read import first_visits

    return max(LEAST, sum(bool(visit.md5) for visit in first_visits(folder)) // 10)


def _summary(tally: Tally, changes: Changes, folder: Path, now: float) -> Iterator[str]:
    """The lines of the summary: visits by outcome, retired pages, and the next due visit, in the terms of ``changes``."""
    from crawlproject.parts.revisits.outcomes import NEW, SHOWN, STORED
    from crawlproject.reports.console import in_words, moment
    from crawlproject.storage.logs import RETIRED

    yield f"{counted(tally.visits, 'page')} visited in {folder}"
    for shown in SHOWN:
        if shown == STORED:
            yield f"{len(changes.of(NEW)):>8,}  new"
            yield from _if_any(changes.copies, "copies of other pages")
            yield from _if_any(changes.passing, "stored and retired at once")
        elif tally[shown] or shown in ("same", "changed", "gone", "moved"):
            yield f"{tally[shown]:>8,}  {shown}"
    if retired := len(changes.of(RETIRED)):
        yield f"{counted(retired, 'page')} retired to make room for new ones"
    if tally.next_due is not None:
        late = tally.next_due <= now
        yield f"next due: {'now' if late else f'{moment(tally.next_due)}, in {in_words(tally.next_due - now)}'}"


def _if_any(number: int, what: str) -> Iterator[str]:
    if number:
        yield f"{number:>8,}  {what}"
