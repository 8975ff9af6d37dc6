"""The verdict on a run: what its disaster cost."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from itertools import pairwise

from benchmarks.chaos.crawler import DELAY, Crawler
from benchmarks.chaos.disaster import Scene
from benchmarks.chaos.web import ChaosWeb
from crawlproject.http.virtual_web_server import Access
from crawlproject.storage.page_files import PageRepository

_LATE = 0.02  # seconds by which a busy server may note the end of a response late
_OWN_STEP = 1  # fetches that a kill may repeat: the history line is written, but the frontier not yet


@dataclass
class Verdict:
    """The verdict on one run; the package's docstring explains ``lost`` and the other figures."""

    seed: int
    kind: str
    frontier: str
    lost: list[str] = field(default_factory=list)
    again: int = 0
    twice: list[str] = field(default_factory=list)
    silent: bool = False
    impolite: list[float] = field(default_factory=list)
    failure: str = ""
    notes: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def is_good(self) -> bool:
        return not (self.lost or self.twice or self.silent or self.impolite or self.failure)


def judge(verdict: Verdict, web: ChaosWeb, scene: Scene, accesses: list[Access]) -> None:
    crawler = scene.crawler
    verdict.lost = _lost(crawler, web, scene.gone)
    fetches = _fetches(accesses)
    verdict.again, verdict.twice = _repeated(scene, fetches)
    verdict.twice += _doubled(crawler)
    verdict.impolite = _impolite(accesses)
    undone = [url for url in scene.damaged if len(fetches[url]) > 1]
    verdict.silent = bool((verdict.lost or verdict.twice or undone) and not verdict.said)


def _lost(crawler: Crawler, web: ChaosWeb, gone: set[str]) -> list[str]:
    stored = {line.get("url") for line in crawler.lines("history.jsonl") if line.get("md5")}
    items = {line.get("url") for line in crawler.lines("items.jsonl")}
    links = {line.get("source") for line in crawler.lines("links.jsonl")}
    found = [f"{url} (history)" for url in web.pages - stored - gone]
    found += [f"{url} (items)" for url in (web.pages & stored) - items]
    linking = {url for url in web.pages if b"href" in web.get(url).body}
    found += [f"{url} (links)" for url in (linking & stored) - links]
    repositories = [PageRepository(folder / "pages") for folder in crawler.folders]
    for url in web.pages & stored:
        bodies = [repository.load(url) for repository in repositories if url in repository]
        if web.get(url).body not in bodies:
            found.append(f"{url} (page file)")
    return sorted(found)


def _fetches(accesses: list[Access]) -> dict[str, list[float]]:
    """The start times of the answered requests for each URL, robots.txt left out."""
    found: dict[str, list[float]] = defaultdict(list)
    for access in accesses:
        if access["status"] in (200, 302, 404) and not access["url"].endswith("/robots.txt"):
            found[access["url"]].append(access["start"])
    return found


def _repeated(scene: Scene, fetches: dict[str, list[float]]) -> tuple[int, list[str]]:
    """The number of repeated fetches that the docs permit, and the URLs of the other repetitions."""
    permitted, twice = 0, list[str]()
    own = _OWN_STEP * len(scene.moments)
    for url, starts in sorted(fetches.items()):
        more = len(starts) - 1
        excused = sum(any(at < moment for at in starts) and url not in known for moment, known in scene.moments)
        left = max(0, more - excused)
        permitted += more - left
        undone = min(own, left)  # a URL that was in flight again at the next kill may be undone several times
        own, left, permitted = own - undone, left - undone, permitted + undone
        twice += [f"{url} fetched {len(starts)} times"] * bool(left)
    return permitted, twice


def _doubled(crawler: Crawler) -> list[str]:
    """URLs with several lines in the history or the items; of several workers, each may have one line."""
    if len(crawler.folders) > 1:
        return []
    found = []
    for name in ("history.jsonl", "items.jsonl"):
        counts = Counter(line.get("url", "") for line in crawler.lines(name))
        found += [f"{url}: {count} lines in {name}" for url, count in counts.items() if count > 1]
    return found


def _impolite(accesses: list[Access]) -> list[float]:
    by_host: dict[str, list[Access]] = defaultdict(list)
    for access in sorted(accesses, key=lambda access: access["start"]):
        by_host[access["host"]].append(access)
    pauses = (later["start"] - earlier["end"] for some in by_host.values() for earlier, later in pairwise(some))
    return [round(pause, 4) for pause in pauses if pause < DELAY - _LATE]
