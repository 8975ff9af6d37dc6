"""``scrapy why CRAWL_DIR URL``: explains why a URL was, or was not, fetched."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from time import time
from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError

from crawlproject.components.subcommand import Subcommand, reporting_errors
from crawlproject.errors import BadInput, InvalidUrl
from crawlproject.urls.typed import with_scheme

if TYPE_CHECKING:
    from crawlproject.frontier.inspect.view import FrontierView
    from crawlproject.reports.why.lookup import Cause, FrontierStatus
    from crawlproject.urls.canonical import Canonicalizer


class WhyCommand(Subcommand):
    def syntax(self) -> str:
        return "CRAWL_DIR URL"

    def short_desc(self) -> str:
        return "Explain why a URL was, or was not, fetched"

    def long_desc(self) -> str:
        return (
            "Show the state of URL in a crawl: fetched (with its position, score, path from a seed and relevance), "
            "waiting, refused, dropped, linked to, or never seen; and the reason. Works on running, finished and killed "
            "crawls. Exit code 2: not a crawl folder, a damaged one, or not a URL."
        )

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        if len(args) != 2:
            raise UsageError("expected a crawl folder and a URL", print_help=False)
        with reporting_errors(self):
            _explain(Path(args[0]), args[1], self.agent)


def _explain(folder: Path, asked: str, agent: str) -> None:
    # Scrapy imports all commands at every start, so heavy imports are local.
    from crawlproject.frontier.inspect.open import read_frontier
    from crawlproject.reports.probe_findings import probe_sentences
    from crawlproject.reports.why.causes import causes
    from crawlproject.reports.why.lookup import url_status
    from crawlproject.reports.why.text import print_url_status
    from crawlproject.reports.why.visits import next_visit, visit_sentences
    from crawlproject.storage.read import read_info

    url = _canonical(folder, asked)
    frontier = read_frontier(folder / "frontier")
    status = _frontier_status(folder, frontier, url)
    found = url_status(folder, url, status)
    left_out: list[Cause] = []
    info = read_info(folder)
    seen = status is not None or found.link_count or url in info.seeds
    if found.visit is None and (status is None or status.record is None) and seen:
        evicted = frontier.counts().evicted if frontier else 0
        left_out = causes(
            folder, info, url,
            depth=found.nearest + 1 if found.link_count else 0,
            known=status is not None, evicted=evicted, copied=found.copied, agent=agent,
        )  # fmt: skip
    coming = next_visit(folder, info, url, frontier.find) if found.visit and frontier else None
    again = visit_sentences(found, coming, time())
    print_url_status(found, sys.stdout, left_out, [*again, *probe_sentences(folder, url)])


def _canonical(folder: Path, asked: str) -> str:
    """The canonical form of ``asked`` in this crawl. Raises ``BadInput`` for an invalid URL."""
    try:
        canonical = canonicalizer_of(folder)
        url = canonical(with_scheme(asked))
        plain = canonical(f"http://{asked}") if url.startswith("https:") and "://" not in asked else url
        return plain if plain != url and _knows(folder, plain) and not _knows(folder, url) else url
    except InvalidUrl as invalid:
        raise BadInput(f"URL {asked!r}", f"expected a URL that can be crawled: {invalid.why}") from None


def _knows(folder: Path, url: str) -> bool:
    """Whether the crawl has come across a URL: fetched it, or found a link to it."""
    from crawlproject.storage.read import read_links, read_visits

    visited = any(visit.url == url for visit in read_visits(folder))
    return visited or any(url in targets for _, targets in read_links(folder))


def canonicalizer_of(folder: Path) -> Canonicalizer:
    """The canonicalizer with the settings of the crawl in ``folder``. Raises ``BadCrawlDir``."""
    from crawlproject.crawl.reading import make_canonicalizer
    from crawlproject.options import read_options
    from crawlproject.storage.read import read_info

    settings = read_info(folder).settings
    return make_canonicalizer(
        read_options({name: value for name, value in settings.items() if name.startswith("CRAWL_URL_")})
    )


def _frontier_status(folder: Path, frontier: FrontierView | None, url: str) -> FrontierStatus | None:
    """The status of ``url`` in the frontier; None when the frontier never held it, or is not on disk."""
    from crawlproject.frontier.inspect.queries import place_of
    from crawlproject.reports.why.blocks import why_blocked
    from crawlproject.reports.why.lookup import FrontierStatus

    if frontier is None:
        return None
    now = time()
    place = place_of(frontier, url, now)
    if place.record is None:
        return FrontierStatus() if place.state else None
    host = place.host
    return FrontierStatus(
        place.record,
        leased=place.state == "leased",
        ahead=place.ahead,
        waiting=frontier.counts().waiting,
        rests=host.rests,
        blocked=host.blocked,
        why_blocked=why_blocked(folder, host.host, now) if host.blocked else "",
        held=place.held,
    )
