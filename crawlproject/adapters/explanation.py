"""Explains why a URL was, or was not, fetched: for ``scrapy why``, for programs and for agents."""

from __future__ import annotations

from pathlib import Path
from time import time
from typing import TYPE_CHECKING, TextIO

from crawlproject.errors import BadInput, InvalidUrl
from crawlproject.urls.canonical import with_scheme
from crawlproject.urls.post import canonical_request

if TYPE_CHECKING:
    from collections.abc import Collection

    from crawlproject.frontier.views.view import FrontierView
    from crawlproject.reports.why.lookup import Cause, FrontierStatus
    from crawlproject.urls.canonical import Canonicalizer


def explain(folder: Path, asked: str, stream: TextIO, *, agent: str) -> None:
    """Write to ``stream`` why a URL was, or was not, fetched; ``agent`` is the name for robots.txt. Raises ``BadInput``."""
    # Scrapy imports all commands at every start, so heavy imports are local.
    from crawlproject.frontier.views.open import read_frontier
    from crawlproject.reports.why.asked import Asked, causes, sentences
    from crawlproject.reports.why.lookup import url_status
    from crawlproject.reports.why.text import print_url_status
    from crawlproject.storage.read import read_info

    url = canonical_in(folder, asked)
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
    known = list(sentences(Asked(folder, info, found, frontier.find if frontier else None, time())))
    if found.visit is None and not seen and not found.refused:
        known += [f"The crawl knows {spelling}" for spelling in _other_spellings(folder, url, info.seeds)]
    print_url_status(found, stream, left_out, known)


def canonical_in(folder: Path, asked: str) -> str:
    """The canonical form of ``asked`` in this crawl. Raises ``BadInput`` for an invalid URL."""
    try:
        canonical = canonicalizer_of(folder)
        url = canonical_request(canonical, with_scheme(asked))
        plain = (
            canonical_request(canonical, f"http://{asked}") if url.startswith("https:") and "://" not in asked else url
        )
        return plain if plain != url and _knows(folder, plain) and not _knows(folder, url) else url
    except InvalidUrl as invalid:
        raise BadInput(f"URL {asked!r}", f"expected a URL that can be crawled: {invalid.why}") from None


def _knows(folder: Path, url: str) -> bool:
    """Whether the crawl has come across a URL: fetched it, or found a link to it."""
    from crawlproject.storage.read import read_links, read_visits

    visited = any(visit.url == url for visit in read_visits(folder))
    return visited or any(url in targets for _, targets in read_links(folder))


def _other_spellings(folder: Path, url: str, seeds: Collection[str]) -> list[str]:
    """Those of the URLs with another scheme than ``url``, or with or without its last slash, that the crawl has come across."""
    from crawlproject.storage.read import read_links, read_visits

    scheme, _, rest = url.partition("://")
    shorter = rest.removesuffix("/")
    ends = [rest, shorter if rest != shorter else f"{rest}/"] if "/" in shorter and "?" not in rest else [rest]
    spellings = [f"{each}://{end}" for each in (scheme, "https" if scheme == "http" else "http") for end in ends][1:]
    found = {visit.url for visit in read_visits(folder) if visit.url in spellings}
    found |= {target for _, targets in read_links(folder) for target in targets if target in spellings}
    return [spelling for spelling in spellings if spelling in found or spelling in seeds]


def canonicalizer_of(folder: Path) -> Canonicalizer:
    """The canonicalizer with the settings of the crawl in ``folder``. Raises ``BadCrawlDir``."""
    from crawlproject.configuration import read_options
    from crawlproject.storage.read import read_info
    from crawlproject.urls.canonical import make_canonicalizer

    settings = read_info(folder).settings
    return make_canonicalizer(
        read_options({name: value for name, value in settings.items() if name.startswith("CRAWL_URL_")})
    )


def _frontier_status(folder: Path, frontier: FrontierView | None, url: str) -> FrontierStatus | None:
    """The status of ``url`` in the frontier; None if the frontier never contained it, or is not on disk."""
    from crawlproject.frontier.views.view import place_of
    from crawlproject.reports.why.asked import why_waits
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
        why_waits=why_waits(folder, host.host, now) if place.state == "waiting" else "",
        held=place.held,
    )
