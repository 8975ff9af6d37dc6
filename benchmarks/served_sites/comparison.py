"""Compares the crawls of one site by its server's access log, and explains missing pages from our crawl folder."""

from __future__ import annotations

import urllib.error
import urllib.request
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import md5
from io import StringIO
from pathlib import Path
from typing import Any

from benchmarks.served_sites.crawlers import Run, bodies
from benchmarks.served_sites.front import Front
from benchmarks.served_sites.site import Place, Site
from crawlproject.adapters.explanation import explain
from crawlproject.errors import InvalidUrl
from crawlproject.frontier.views.open import read_frontier
from crawlproject.settings import USER_AGENT
from crawlproject.storage.read import read_links, read_refused, read_visits
from crawlproject.urls.canonical import canonical_url

ROBOTS = "/robots.txt"

_EXPLAINED = 2  # missing pages for each reason that are explained in full
_LOOKED_AT = 1_000  # missing pages that are fetched to see whether they are copies of others


@dataclass(frozen=True, slots=True)
class Found:
    """What a crawl found: pages by canonical URL, and for each content the first page that shows it."""

    run: Run
    pages: Mapping[str, str]
    content: Mapping[str, str]
    bodies: Sequence[str]

    @property
    def copies(self) -> float:
        """The share of its pages that have the same bytes as another page."""
        return 1 - len(set(self.bodies)) / max(1, len(self.bodies))


@dataclass(frozen=True, slots=True)
class Figures:
    """A line of the table. ``rate`` is distinct content per fetch over the first ``equal`` fetches, as many as all crawlers made.

    ``last`` is the number of the fetch that brought the last new content.
    """

    site: str
    crawler: str
    fetches: int
    pages: int
    content: int
    lacks: int
    equal: int
    last: int
    rate: float
    half_rate: float
    copies: float
    ended: bool
    seconds: float
    gap: float


def found(site: Site, run: Run) -> Found:
    """Read the results of a run."""
    pages: dict[str, str] = {}
    content: dict[str, str] = {}
    for access in run.accesses:
        if site.is_page(access) and (key := _key(access.url)):
            pages.setdefault(key, access.url)
            if shown := site.shown(access):
                content.setdefault(shown, key)
    return Found(run, pages, content, bodies(run))


def figures(site: Site, place: Place, results: Sequence[Found]) -> list[Figures]:
    """The lines of the table for a site."""
    equal = min(len(result.run.accesses) for result in results)
    expected = site.expected(place)
    return [
        Figures(
            site=site.name,
            crawler=result.run.crawler,
            fetches=len(result.run.accesses),
            pages=len(result.pages),
            content=len(result.content),
            lacks=len(expected - result.content.keys()),
            equal=equal,
            last=_last(site, result.run),
            rate=_rate(site, result.run, equal),
            half_rate=_rate(site, result.run, equal // 2),
            copies=result.copies,
            ended=result.run.ended,
            seconds=result.run.seconds,
            gap=result.run.gap,
        )
        for result in results
    ]


def _rate(site: Site, run: Run, fetches: int) -> float:
    """Distinct content per request over the first ``fetches`` requests, robots.txt included."""
    return len({site.shown(access) for access in run.accesses[:fetches]} - {""}) / max(1, fetches)


def _last(site: Site, run: Run) -> int:
    """The number of the request that brought the last new content; 0 if none did."""
    first = {shown: number for number, shown in reversed([*enumerate(map(site.shown, run.accesses), 1)]) if shown}
    return max(first.values(), default=0)


def missing(site: Site, front: Front, ours: Found, other: Found) -> dict[str, Any]:
    """The pages of another crawl that ours lacks, by reason; pages with the same bytes as one of ours count as copies.

    ``content`` lists only pages whose content ours does not have at any other URL either.
    """
    lacking = [key for key in other.pages if key not in ours.pages]
    have = set(ours.bodies)
    copies = {key for key in lacking[:_LOOKED_AT] if _digest(front, other.pages[key]) in have}
    folder = ours.run.folder / "crawl"
    by_reason = reasons(folder, [key for key in lacking if key not in copies])
    return {
        "copies": sorted(copies),
        "reasons": {reason: sorted(urls) for reason, urls in by_reason.items()},
        "content": sorted(_lost(ours, other, copies)),
        "why": {url: _why(folder, url) for urls in by_reason.values() for url in sorted(urls)[:_EXPLAINED]},
    }


def _lost(ours: Found, other: Found, copies: Collection[str]) -> list[str]:
    return [key for shown, key in other.content.items() if shown not in ours.content and key not in copies]


def reasons(folder: Path, urls: Iterable[str]) -> dict[str, list[str]]:
    """Group URLs by the reason why the crawl in ``folder`` has no page of them: their present state, in few words."""
    frontier = read_frontier(folder / "frontier")
    visits = {visit.url: visit for visit in read_visits(folder)}
    refused = {sample[0]: entry.reason for entry in read_refused(folder) for sample in entry.samples}
    linked = {target for _, targets in read_links(folder) for target in targets}
    sorted_out: dict[str, list[str]] = defaultdict(list)
    for url in urls:
        state = frontier.find(url)[0] if frontier else ""
        visit = visits.get(url)
        if visit:
            reason = f"fetched: {visit.error or visit.status}"
        elif url in refused:
            reason = f"refused: {refused[url]}"
        elif state:
            reason = {"waiting": "waits", "leased": "being fetched", "done": "refused when its turn came"}[state]
        else:
            reason = "linked, not followed" if url in linked else "no page that was read links to it"
        sorted_out[reason].append(url)
    return sorted_out


def left_out(folder: Path) -> dict[str, int]:
    """The number of links that our crawl refused, by reason, and of fetches that brought no page, by error."""
    counts = Counter({f"refused {entry.reason}": entry.count for entry in read_refused(folder)})
    for visit in read_visits(folder):
        if visit.error:
            counts[f"fetched {visit.error}"] += 1
        elif visit.duplicate_of:
            counts["fetched near-duplicate"] += 1
    return dict(counts.most_common())


def document(line: Figures) -> dict[str, Any]:
    """A line for the JSON file."""
    return asdict(line)


def _why(folder: Path, url: str) -> str:
    stream = StringIO()
    explain(folder, url, stream, agent=USER_AGENT)
    return stream.getvalue()


def _key(url: str) -> str:
    """One spelling for all spellings of a URL; empty if ``url`` is not a URL."""
    try:
        return canonical_url(url)
    except InvalidUrl:
        return ""


def _digest(front: Front, url: str) -> str:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({"http": front.proxy}))
    try:
        with opener.open(url, timeout=60) as answer:
            return md5(answer.read()).hexdigest()
    except (urllib.error.URLError, OSError, ValueError):
        return ""
