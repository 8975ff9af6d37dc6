"""Explains why a URL was fetched, waits, or was left out: asks the parts (``why.py`` of each), applies the rules of the crawl
again, and reads its counts.

A crawl may leave out millions of URLs, so it does not record each of them. Rules that depend on the URL alone are applied
again with the settings of the crawl. If they accept the URL and the frontier does not know it, then the frontier dropped it
or the ordering did not follow it; the refusal counts show which of these happened in this crawl.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from crawlproject.configuration import known_settings, read_options
from crawlproject.core.reading import make_traps
from crawlproject.core.robots import FORBIDDEN, RobotsRules
from crawlproject.errors import BadInput
from crawlproject.options import Options
from crawlproject.parts.registry import modules_beside
from crawlproject.records import CrawlUrl
from crawlproject.reports.why.lookup import Cause, UrlStatus
from crawlproject.storage.logs import read_robots
from crawlproject.storage.read import CrawlInfo, RefusalCounts, read_refused
from crawlproject.urls.hosts import host_of, is_within, origin_of

SCOPE = "scope/domain"
EVICTED = "frontier/evicted"
NOT_FOLLOWED = "ordering/not_followed"

_SENTENCES = {
    SCOPE: "its host is outside CRAWL_ALLOWED_DOMAINS",
    FORBIDDEN: "the last fetched robots.txt of its host forbids it",
    "frontier/full": "the frontier was full of URLs with higher scores when the link was found",
    EVICTED: "it was dropped while waiting, because the frontier was full of URLs with higher scores",
    NOT_FOLLOWED: "the ordering does not follow the links to it",
    "trap/host_full": "its host had reached the limit of URLs (TRAP_MAX_URLS_PER_HOST)",
    "host/given_up": "the crawl gave up its host, which blocks crawlers or is parked",
    "copies": "the pages that link to it are duplicates, whose links come last and are dropped first",
}


@dataclass(frozen=True, slots=True)
class Asked:
    """A question about a URL at the time ``now``, with the facts ``found`` about it.

    ``find`` returns the state and the record of a key in the frontier; it is None if the frontier is not on disk.
    """

    folder: Path
    info: CrawlInfo
    found: UrlStatus
    find: Callable[[str], tuple[str, CrawlUrl | None]] | None
    now: float


def sentences(asked: Asked) -> Iterator[str]:
    """Yield what the parts know about the URL. Raises ``BadCrawlDir``."""
    for said in _functions("sentences"):
        yield from said(asked)


def learned_causes(folder: Path, url: str) -> Iterator[Cause]:
    """Yield why parts left out a URL, by what they have learned. Raises ``BadCrawlDir``."""
    for cause in _functions("cause"):
        if (found := cause(folder, url)) is not None:
            yield found


def why_waits(folder: Path, host: str, now: float) -> str:
    """Return why a host is blocked or comes later, as the end of a sentence; empty if unknown. Raises ``BadCrawlDir``."""
    reasons = (reason(folder, host, now) for reason in _functions("why_waits"))
    return next(filter(None, reasons), "")


def _functions(name: str) -> Iterator[Callable[..., Any]]:
    for module in modules_beside("why"):
        if function := getattr(module, name, None):
            yield function


def causes(
    folder: Path, info: CrawlInfo, url: str, *, depth: int, known: bool, evicted: int, copied: bool, agent: str = ""
) -> list[Cause]:
    """Return why ``url`` was left out: the one certain cause, or all possible causes, the most frequent first.

    ``depth`` is the depth of the nearest page with a link to it, plus one. ``known``: the frontier knows the URL. ``evicted``:
    number of URLs that the frontier dropped. ``copied``: all pages with links to it are duplicates. ``agent`` is the product
    token for robots.txt; if empty, robots.txt is ignored. Raises ``BadCrawlDir``.
    """
    options = options_of(info)
    refused = {refusal.reason: refusal for refusal in read_refused(folder)}
    certain = next(_certain(folder, options, url, depth, agent), None)
    if certain is not None:
        count = refused[certain.reason].count if certain.reason in refused else 0
        return [Cause(certain.reason, certain.words, count, certain=True)]
    if known:  # it entered the frontier and left it when its turn came
        return []
    if copied:
        return [Cause("copies", _SENTENCES["copies"], certain=True)]
    found = list(_possible(refused, url, evicted))
    return sorted(found, key=lambda cause: -cause.count)


def _certain(folder: Path, options: Options, url: str, depth: int, agent: str) -> Iterator[Cause]:
    domains = options.crawl_allowed_domains
    if domains and not is_within(host_of(url), domains):
        yield Cause(SCOPE, _SENTENCES[SCOPE])
    rule = make_traps(options).refusal(url, depth)
    if rule:
        yield Cause(f"trap/{rule}", f"the trap rule {rule} refuses it")
    yield from learned_causes(folder, url)
    if agent and _is_forbidden(folder, url, agent):
        yield Cause(FORBIDDEN, _SENTENCES[FORBIDDEN])


def _possible(refused: dict[str, RefusalCounts], url: str, evicted: int) -> Iterator[Cause]:
    for reason in ("frontier/full", NOT_FOLLOWED, "trap/host_full"):
        if reason in refused:
            yield Cause(reason, _SENTENCES[reason], refused[reason].count)
    given_up = refused.get("host/given_up")
    if given_up and (given_up.count > len(given_up.samples) or host_of(url) in _hosts(u for u, _ in given_up.samples)):
        yield Cause(given_up.reason, _SENTENCES[given_up.reason], given_up.count)
    if evicted:
        yield Cause(EVICTED, _SENTENCES[EVICTED], evicted)


def _is_forbidden(folder: Path, url: str, agent: str) -> bool:
    robots_url = f"{origin_of(url)}/robots.txt"
    last = None
    for exchange in read_robots(folder):
        if exchange.url == robots_url:
            last = exchange
    return last is not None and not RobotsRules(last.status, last.body, 0.0, agent).allows(url)


def _hosts(urls: Iterator[str]) -> Collection[str]:
    return {host_of(url) for url in urls if url.count("/") >= 3}


def options_of(info: CrawlInfo) -> Options:
    """Return the settings in the manifest of a crawl, without those that this version does not know."""
    try:
        return read_options(known_settings(info.settings))
    except BadInput:  # written by another version: its rules cannot be applied again
        return read_options({})
