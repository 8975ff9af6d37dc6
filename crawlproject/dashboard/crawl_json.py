"""The data about a crawl that the dashboard shows, as plain values for JSON. Texts from the web are shown as text, never as
HTML. A crawl folder is read repeatedly: manifest and refusals when they change, the history as it grows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crawlproject.dashboard.spelling import Spelling
from crawlproject.errors import BadCrawlDir
from crawlproject.orderings.registry import UNJUDGED
from crawlproject.parts.registry import part_module
from crawlproject.reports.evidence import meaning
from crawlproject.reports.html import clip, is_web
from crawlproject.reports.live_summary import AGENTS, FoundPage, LiveSummary
from crawlproject.reports.report import ending
from crawlproject.storage import logs
from crawlproject.storage.logs import PageChange
from crawlproject.storage.read import MANIFEST, REFUSED, CrawlInfo, read_info, read_refused

if TYPE_CHECKING:
    from crawlproject.adapters.seed_search import SeedsFound

KINDS = 12  # listed kinds of failures, and as many reasons for refusals
AT_ONCE = 2_000  # lines of history read at once: about 30 ms
_CAUSES = 4  # causes named if no page was stored
CHANGES = 30  # listed changes of revisited pages

_TITLE, _URL = 200, 500  # characters


def crawl_document(info: CrawlInfo, trail: LiveSummary) -> dict[str, Any]:
    """The topic, the ordering, and the statistics of the history so far."""
    return {
        "topic": clip(info.topic, _TITLE),
        "keywords": [clip(keyword, _TITLE) for keyword in info.keywords[:20]],
        "ordering": info.ordering,
        "budget": int(info.number("CRAWL_MAX_PAGES", 0)),
        "started": info.started,
        "finished": info.finished,
        "reason": info.reason,
        "ending": ending(info, trail.pages >= info.number("CRAWL_MAX_PAGES", 0) > 0) if info.reason else "",
        "pages": trail.pages,
        "fetches": trail.fetches,
        "relevant": trail.relevant,
        "harvest": trail.harvest,
        "recent": trail.recent,
        "mean_relevance": trail.relevance / trail.pages if trail.pages else None,
        "duplicates": trail.duplicates,
        "redirects": trail.redirects,
        "listings": trail.listings,
        "hosts": trail.hosts,
        "bytes": trail.size,
        "last_at": trail.last_at,
        "curve": [(pages, round(so_far, 4), round(latest, 4)) for pages, so_far, latest in trail.curve],
        "best": [_page(found) for found in trail.best()],
        "latest": [_fetch(found) for found in reversed(trail.latest)],
        "busiest": [
            {"host": clip(line.host, 100), "pages": line.pages, "fetches": line.fetches, "relevance": line.mean_relevance,
             "gap": line.smallest_gap, "too_soon": line.too_soon, "crawl_delay": line.crawl_delay, "blocks": line.blocks}
            for line in trail.busiest()
        ],
        "failures": counted(trail.failures),
        "failed": trail.failures.total(),
        "politeness": {
            "gaps": trail.gaps, "too_soon": trail.too_soon, "smallest": trail.smallest_gap,
            "min_delay": info.number("POLITENESS_MIN_DELAY", 0.0), "factor": info.number("POLITENESS_FACTOR", 0.0),
        },
        "agents": [
            {"number": agent.number, "pages": agent.pages, "relevant": agent.relevant,
             "relevance": agent.relevance / agent.pages, "best": [_page(found) for found in agent.best]}
            for agent in trail.agents()
        ],
    }  # fmt: skip


def seeds_document(found: SeedsFound) -> dict[str, Any]:
    """The seeds that were found, each with its title and source."""
    return {
        "seeds": [
            {
                "url": seed.url,
                "web": is_web(seed.url),
                "title": clip(seed.title, _TITLE),
                "source": clip(seed.source, 100),
            }
            for seed in found.seeds
        ],
        "notes": [clip(note, _URL) for note in found.notes],
    }


def changes_document(found: Iterable[PageChange]) -> list[dict[str, Any]]:
    """The changes of revisited pages, each with the first added and the first removed passage."""
    return [
        {
            "url": clip(change.url, _URL),
            "web": is_web(change.url) and len(change.url) <= _URL,
            "title": clip(change.title, _TITLE),
            "change": clip(change.change, 40),
            "at": change.at,
            "novelty": change.novelty,
            "target": clip(change.target, _URL),
            "added": clip(next(iter(change.added), ""), _TITLE),
            "removed": clip(next(iter(change.removed), ""), _TITLE),
        }
        for change in found
    ]


def counted(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    """The most frequent kinds with their counts; the rest is summed up as ``other``."""
    ranked: Iterable[tuple[str, int]] = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    ranked = [(clip(kind, 120), count) for kind, count in ranked]
    rest = sum(count for _, count in ranked[KINDS:])
    return ranked[:KINDS] + ([("other", rest)] if rest else [])


def _page(found: FoundPage) -> dict[str, Any]:
    visit = found.visit
    return {
        **_fetch(found),
        "parent": clip(visit.parent, _URL) if visit.parent else None,
        "anchor": clip(visit.anchor, _TITLE),
        "depth": visit.depth,
    }


def _fetch(found: FoundPage) -> dict[str, Any]:
    visit = found.visit
    outcome = "" if visit.md5 else visit.error or ("redirect" if visit.redirect else f"http {visit.status}")
    return {
        "number": found.number,
        "url": clip(visit.url, _URL),
        "web": is_web(visit.url) and len(visit.url) <= _URL,
        "title": clip(visit.title, _TITLE),
        "relevance": visit.relevance,
        "at": visit.at,
        "agent": found.agent,
        "outcome": clip(outcome, 120),
    }


def _why_nothing(failures: Mapping[str, int], refused: Sequence[tuple[str, int]]) -> str:
    """A sentence that says why no page was stored."""
    causes = [
        f"{count:,} × {name}{f' ({words})' if (words := meaning(name)) else ''}"
        for name, count in (*counted(failures), *refused)
    ]
    return f"No page was stored: {'; '.join(causes[:_CAUSES]) or 'nothing could be fetched'}."


class FolderWatch:
    """Follows one crawl folder; each file is read only if it has changed. Raises ``BadCrawlDir`` if it is damaged."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._read: dict[str, tuple[int, int]] = {}  # file -> modification time and size when it was last read
        self._info = CrawlInfo()
        self._refused: dict[str, Any] = {"refused": [], "refused_total": 0}
        self._judged: dict[str, bool] = {}
        self._family: list[dict[str, Any]] = []  # agents at the end of the crawl, if the ordering has agents
        self._latest_changes = logs.LatestChanges(folder, CHANGES)
        self._changes: list[dict[str, Any]] = []
        self._trail: LiveSummary | None = None
        self._spelling: Spelling | None = None

    def info(self) -> CrawlInfo:
        """The manifest; an empty one if there is none yet."""
        if self._changed(MANIFEST):
            try:
                self._info = read_info(self.folder)
            except BadCrawlDir:
                self._read.pop(MANIFEST, None)
                raise
        return self._info

    def document(self, most: int = AT_ONCE) -> dict[str, Any]:
        """The data to show. Reads at most ``most`` new lines of the history; ``reading`` is true while more remain."""
        info = self.info()
        if MANIFEST not in self._read:  # the crawl has not begun
            return {"reading": False}
        if self._trail is None:
            self._trail = LiveSummary(self.folder, info, info.threshold)
        whole = self._trail.advance(most)
        if self._changed(REFUSED):
            counts = {refused.reason: refused.count for refused in read_refused(self.folder)}
            self._refused = {"refused": counted(counts), "refused_total": sum(counts.values())}
        judgments = part_module("judgments", "judgments")
        if judgments is not None and self._changed(judgments.NAME):
            self._judged = judgments.read_judgments(self.folder)
        if self._changed(logs.AGENTS):
            self._family = logs.read_agents(self.folder)[:AGENTS]
        if self._changed(logs.CHANGES):
            self._changes = changes_document(self._latest_changes.read())
        problem = _why_nothing(self._trail.failures, self._refused["refused"])
        judged = {"judged": self._judged, "judgeable": judgments is not None and info.ordering not in UNJUDGED}
        return {
            **crawl_document(info, self._trail),
            **self._refused,
            **judged,
            "family": [dict(life) for life in self._family],
            "changes": self._changes,
            "problem": problem if whole and info.reason and not self._trail.pages else "",
            "reading": not whole,
        }

    def spell(self, family: Iterable[dict[str, Any]]) -> None:
        """Replace the new words of agents, which are stems, by their spelling on the pages."""
        if family:
            self._spelling = self._spelling or Spelling(self.folder, self.info().language)
            self._spelling.spell(family)

    def _changed(self, name: str) -> bool:
        try:
            state = (self.folder / name).stat()
        except OSError:
            return False
        mark = (state.st_mtime_ns, state.st_size)
        if self._read.get(name) == mark:
            return False
        self._read[name] = mark
        return True
