"""``scrapy why CRAWL_DIR URL``: why a URL was fetched when it was, or why it was not."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from time import time
from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError

from crawlproject.components.subcommand import Subcommand, reporting_errors
from crawlproject.errors import BadInput, InvalidUrl

if TYPE_CHECKING:
    from crawlproject.frontier.inspect.view import FrontierView
    from crawlproject.reports.why.lookup import Cause, FrontierStatus
    from crawlproject.urls.canonical import Canonicalizer


class WhyCommand(Subcommand):
    def syntax(self) -> str:
        return "CRAWL_DIR URL"

    def short_desc(self) -> str:
        return "Tell why a URL was fetched when it was, or why it was not"

    def long_desc(self) -> str:
        return (
            "Tell from a crawl folder where URL is: fetched (as what number, with what score, on which path from a "
            "seed, and what it was worth), waiting, refused, dropped, only linked to, or never seen; and why. "
            "Works on running, finished and killed crawls. Exit code 2: not a crawl folder, a damaged one, or no URL."
        )

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        if len(args) != 2:
            raise UsageError("expected a crawl folder and a URL", print_help=False)
        with reporting_errors(self):
            _tell(Path(args[0]), args[1], self.agent)


def _tell(folder: Path, asked: str, agent: str) -> None:
    # Scrapy imports every command at every start: what is heavy is imported when it is needed.
    from crawlproject.frontier.inspect.open import read_frontier
    from crawlproject.reports.probe_findings import probe_sentences
    from crawlproject.reports.why.causes import causes
    from crawlproject.reports.why.lookup import url_status
    from crawlproject.reports.why.text import print_url_status
    from crawlproject.storage.read import read_info

    url = _canonical(folder, asked)
    frontier = read_frontier(folder / "frontier")
    standing = _standing(frontier, url)
    found = url_status(folder, url, standing)
    left_out: list[Cause] = []
    info = read_info(folder)
    seen = standing is not None or found.link_count or url in info.seeds
    if found.visit is None and (standing is None or standing.record is None) and seen:
        evicted = frontier.counts().evicted if frontier else 0
        left_out = causes(
            folder, info, url,
            depth=found.nearest + 1 if found.link_count else 0,
            known=standing is not None, evicted=evicted, copied=found.copied, agent=agent,
        )  # fmt: skip
    print_url_status(found, sys.stdout, left_out, probe_sentences(folder, url))


def _canonical(folder: Path, asked: str) -> str:
    """``asked`` in the spelling of this crawl. Raises ``BadInput`` for what is no URL."""
    try:
        return canonicalizer_of(folder)(asked)
    except InvalidUrl as invalid:
        raise BadInput(f"URL {asked!r}", f"expected a URL that can be crawled: {invalid.why}") from None


def canonicalizer_of(folder: Path) -> Canonicalizer:
    """The canonical spelling of the crawl in ``folder``. Raises ``BadCrawlDir``."""
    from crawlproject.crawl.assembly import make_canonicalizer
    from crawlproject.options import read_options
    from crawlproject.storage.read import read_info

    settings = read_info(folder).settings
    return make_canonicalizer(
        read_options({name: value for name, value in settings.items() if name.startswith("CRAWL_URL_")})
    )


def _standing(frontier: FrontierView | None, url: str) -> FrontierStatus | None:
    """What the frontier says about ``url``; None when it never had it, or is not on disk."""
    from crawlproject.frontier.inspect.queries import place_of
    from crawlproject.reports.why.lookup import FrontierStatus

    if frontier is None:
        return None
    now = time()
    place = place_of(frontier, url, now)
    if place.record is None:
        return FrontierStatus() if place.state else None
    held = max(0.0, place.record.not_before - now)
    waiting = frontier.counts().waiting
    return FrontierStatus(place.record, place.state == "leased", place.ahead, waiting, place.host.rests, held)
